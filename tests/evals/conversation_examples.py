"""A small package of our own in the shape of BFCL's: two services, and conversations about them.

The services are named like two of the benchmark's, because only those names are known; what they do is ours.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from wieldy.evals.bfcl.categories import CONVERSATIONS
from wieldy.evals.bfcl.conversations import services
from wieldy.evals.bfcl.conversations.data import BfclConversation, Turn, conversations
from wieldy.evals.bfcl.conversations.services import ServiceCode
from wieldy.evals.bfcl.data import BfclData

TICKETS = """
import random
from copy import deepcopy

KEPT = {"tickets": {}, "desk": "front"}


class TicketAPI:
    def _load_scenario(self, scenario, long_context=False):
        kept = deepcopy(KEPT)
        self.tickets = scenario.get("tickets", kept["tickets"])
        self.pad = "." * 40_000 if long_context else ""
        self._desk = kept["desk"]
        self._random = random.Random(7)

    def add(self, name, urgency=1, tags=[]):
        self.tickets[name] = {"urgency": urgency, "tags": tags}
        return {"added": name, "count": len(self.tickets)}

    def tag(self, name, tag):
        self.tickets[name]["tags"].append(tag)
        return None

    def close(self, name):
        if name not in self.tickets:
            return {"error": "no such ticket"}
        del self.tickets[name]
        return {"closed": name}

    def show(self, name):
        return {"ticket": self.tickets[name], "pad": self.pad}

    def names(self):
        return sorted(self.tickets)

    def go(self, desk):
        self._desk = str(desk)
        return {"desk": self._desk}

    def here(self):
        return {"desk": self._desk}

    def draw(self):
        return {"drawn": self._random.random()}

    def reach(self):
        return open("/etc/hosts").read()
"""

MATH = """
from decimal import getcontext

import mpmath


class MathAPI:
    def power(self, base, exponent):
        return {"result": base**exponent}

    def round_number(self, number, decimal_places=0):
        return {"result": round(number, decimal_places)}

    def logarithm(self, value, base, precision):
        mpmath.mp.dps = precision
        return {"result": mpmath.log(value) / mpmath.log(base)}

    def square_root(self, number, precision):
        getcontext().prec = precision
        return {"result": number**0.5}
"""
CLASSES = {"TicketAPI": ("ticket_api", TICKETS), "MathAPI": ("math_api", MATH)}


def function(name: str, required: dict[str, str], optional: dict[str, str] | None = None) -> dict[str, Any]:
    """A function as the benchmark describes one; types by the names of parameters."""
    types = {**required, **(optional or {})}
    properties = {
        each: {"type": kind, "description": "", **({"items": {"type": "string"}} if kind == "array" else {})}
        for each, kind in types.items()
    }
    parameters = {"type": "dict", "properties": properties, "required": list(required)}
    return {"name": name, "description": f"Do {name}.", "parameters": parameters}


FUNCTIONS = (
    function("add", {"name": "string"}, {"urgency": "integer", "tags": "array"}),
    function("tag", {"name": "string", "tag": "string"}),
    function("close", {"name": "string"}),
    function("show", {"name": "string"}),
    function("names", {}),
    function("go", {"desk": "string"}),
    function("here", {}),
    function("draw", {}),
)


def service_code(folder: Path, sources: dict[str, str] | None = None) -> ServiceCode:
    """The services, with the checksums of what is written."""
    sources = sources or dict(CLASSES.values())
    place = folder / "bfcl_eval" / "eval_checker" / "multi_turn_eval" / "func_source_code"
    place.mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        (place / f"{name}.py").write_text(source, encoding="utf-8")
    pinned = {name: hashlib.sha256(source.encode()).hexdigest() for name, source in sources.items()}
    return ServiceCode(folder / "bfcl_eval", pinned=pinned)


def conversation(
    code: ServiceCode,
    *turns: tuple[str, ...],
    id: str = "multi_turn_base_0",
    services: tuple[str, ...] = ("TicketAPI",),
    scenario: dict[str, Any] | None = None,
    missing: dict[int, str] | None = None,
) -> BfclConversation:
    """One task.

    Args:
        turns: The right calls of each.
        missing: In which turn a function comes that is not there before.
    """
    later = {name: at for at, name in (missing or {}).items()}
    return BfclConversation(
        id=id,
        category=CONVERSATIONS[id.rpartition("_")[0]],
        turns=tuple(
            Turn(
                messages=(("user", f"Please do the work of turn {at}."),),
                functions=tuple(each for each in FUNCTIONS if later.get(each["name"], 0) <= at),
                calls=calls,
            )
            for at, calls in enumerate(turns)
        ),
        services=services,
        scenario=scenario or {"TicketAPI": {}},
        code=code,
    )


def written_package(folder: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]) -> Path:
    """The folder of data in a package of ours, whose sources are the pinned ones for this test."""
    for name, source in CLASSES.values():
        monkeypatch.setitem(services.PINNED, name, hashlib.sha256(source.encode()).hexdigest())
    service_code(folder)
    data = folder / "bfcl_eval" / "data"
    (data / "multi_turn_func_doc").mkdir(parents=True)
    (data / "possible_answer").mkdir()
    for service, module in services.SERVICES.items():
        own = FUNCTIONS if service == "TicketAPI" else ()
        _write(data / "multi_turn_func_doc" / f"{module}.json", list(own))
    _write(data / "BFCL_v4_multi_turn_base.json", rows)
    answers = [{"id": row["id"], "ground_truth": row["right"]} for row in rows]
    _write(data / "possible_answer" / "BFCL_v4_multi_turn_base.json", answers)
    return data


def row(id: str, *turns: list[str]) -> dict[str, Any]:
    """A row of the benchmark's file, with the right calls of each turn."""
    return {
        "id": id,
        "question": [[{"role": "user", "content": f"Turn {at}."}] for at in range(len(turns))],
        "initial_config": {"TicketAPI": {}},
        "involved_classes": ["TicketAPI"],
        "right": list(turns),
    }


def read(data: Path) -> tuple[BfclConversation, ...]:
    """The conversations of the base category."""
    return conversations(BfclData(data), CONVERSATIONS["multi_turn_base"])


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
