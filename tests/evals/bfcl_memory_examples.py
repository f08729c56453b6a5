"""Two memories of our own in the shape of BFCL's, and questions about what was said to them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from wieldy.evals.bfcl import prompts
from wieldy.evals.bfcl.categories import MEMORIES
from wieldy.evals.bfcl.conversations import services
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.memory.data import MemoryTask, memory_tasks

_BEGINNING = """
import json
import re
from copy import deepcopy
from typing import Dict

from bfcl_eval.eval_checker.multi_turn_eval.func_source_code.memory_api_metaclass import MemoryAPI
"""

KEYS = (
    _BEGINNING
    + """
from rank_bm25 import BM25Plus


class MemoryAPI_kv(MemoryAPI):
    def __init__(self):
        self.core_memory = {}
        self.archival_memory = {}
        self._described = "pairs"
        self.snapshot_folder = None

    def _load_scenario(self, initial_config, long_context=False):
        before = self._prepare_snapshot(initial_config)
        if before:
            self.core_memory = deepcopy(before["core_memory"])
            self.archival_memory = deepcopy(before["archival_memory"])

    def _dump_core_memory_to_context(self):
        return json.dumps(self.core_memory) if self.core_memory else "Nothing."

    def _flush_memory_to_local_file(self):
        open("/tmp/never", "w")

    @staticmethod
    def _is_key(key):
        return bool(re.match(r"^[a-z]+(_[a-z0-9]+)*$", key))

    def core_memory_add(self, key: str, value: str) -> Dict[str, str]:
        if not self._is_key(key):
            return {"error": "no key"}
        self.core_memory[key] = value
        return {"status": "added"}

    def archival_memory_add(self, key, value):
        self.archival_memory[key] = value
        return {"status": "added"}

    def archival_memory_retrieve(self, key):
        return {"value": self.archival_memory[key]} if key in self.archival_memory else {"error": "no such key"}

    def archival_memory_clear(self):
        self.archival_memory = {}
        return {"status": "cleared"}

    def archival_memory_key_search(self, query, k=5):
        keys = list(self.archival_memory)
        scores = BM25Plus([key.split("_") for key in keys]).get_scores(query.split())
        return {"ranked": sorted(zip(scores, keys), reverse=True)[:k]}
"""
)

TEXT = (
    _BEGINNING
    + """

class MemoryAPI_rec_sum(MemoryAPI):
    def __init__(self):
        self.memory = ""
        self.snapshot_folder = None

    def _load_scenario(self, initial_config, long_context=False):
        before = self._prepare_snapshot(initial_config)
        if before:
            self.memory = deepcopy(before["memory"])

    def _dump_core_memory_to_context(self):
        return self.memory or "Nothing."

    def memory_append(self, text):
        self.memory += str(text)
        return {"status": "appended"}

    def memory_retrieve(self):
        return {"memory_content": self.memory}

    def memory_replace(self, old_text, new_text):
        self.memory = self.memory.replace(str(old_text), str(new_text))
        return {"status": "replaced"}
"""
)
SOURCES = {"memory_kv": KEYS, "memory_rec_sum": TEXT}

PROMPTS = """
MEMORY_AGENT_SETTINGS = {"home": "You help at home.", "work": "You help at work."}
MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL = "{scenario_setting} Two memories. In the first: {memory_content}"
MEMORY_BACKEND_INSTRUCTION_UNIFIED = "{scenario_setting} One memory: {memory_content}"
ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT = "Answer in parts."
MADE_OF_OTHERS = "a" + MEMORY_BACKEND_INSTRUCTION_UNIFIED
"""

_FUNCTIONS = {
    "memory_kv": {
        "core_memory_add": ("key", "value"),
        "archival_memory_add": ("key", "value"),
        "archival_memory_retrieve": ("key",),
        "archival_memory_clear": (),
        "archival_memory_key_search": ("query",),
    },
    "memory_rec_sum": {"memory_append": ("text",), "memory_retrieve": (), "memory_replace": ("old_text", "new_text")},
}

_ROWS = (
    ("memory_0-home-0", "home", "Who am I?", ["Ann"]),
    ("memory_1-home-1", "home", "How old am I?", ["35", "thirty five"]),
    ("memory_2-work-0", "work", "Where do I work?", ["Oslo"]),
)
_EARLIER = {
    "home": [["I am Ann.", "I live alone."], ["I am 35."]],
    "work": [["I work in Oslo."]],
}


def memory_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of ours whose sources and prompts are the pinned ones for this test."""
    package = folder / "bfcl_eval"
    code = package / "eval_checker" / "multi_turn_eval" / "func_source_code"
    data = package / "data"
    for place in (code, package / "constants", data / "possible_answer", data / "multi_turn_func_doc"):
        place.mkdir(parents=True)
    (data / "memory_prereq_conversation").mkdir()
    for name, source in SOURCES.items():
        (code / f"{name}.py").write_text(source, encoding="utf-8")
        monkeypatch.setitem(services.PINNED, name, hashlib.sha256(source.encode()).hexdigest())
        _write(data / "multi_turn_func_doc" / f"{name}.json", [_function(*each) for each in _FUNCTIONS[name].items()])
    (package / "constants" / "default_prompts.py").write_text(PROMPTS, encoding="utf-8")
    monkeypatch.setitem(prompts.PINNED, prompts.PROMPTS, hashlib.sha256(PROMPTS.encode()).hexdigest())
    _write(data / "BFCL_v4_memory.json", [_row(id, scenario, question) for id, scenario, question, _ in _ROWS])
    answers = [{"id": id, "ground_truth": right, "source": "..."} for id, _, _, right in _ROWS]
    _write(data / "possible_answer" / "BFCL_v4_memory.json", answers)
    for scenario, every in _EARLIER.items():
        rows = [
            {"id": f"memory_prereq_{at}-{scenario}-{at}", "question": [[_said(text)] for text in texts]}
            for at, texts in enumerate(every)
        ]
        _write(data / "memory_prereq_conversation" / f"memory_{scenario}.json", rows)
    return package


def tasks_of(package: Path, category: str) -> tuple[MemoryTask, ...]:
    """The questions of a kind of memory."""
    return memory_tasks(BfclData(package / "data"), MEMORIES[category])


def _function(name: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    properties = {each: {"type": "string", "description": ""} for each in parameters}
    described = {"type": "dict", "properties": properties, "required": list(parameters)}
    return {"name": name, "description": f"Do {name}.", "parameters": described}


def _row(id: str, scenario: str, question: str) -> dict[str, Any]:
    return {"id": id, "question": [[_said(question)]], "scenario": scenario, "involved_classes": ["MemoryAPI"]}


def _said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
