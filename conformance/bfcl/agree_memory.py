"""Compares our `official` rule for answers from memory, and our memories, with the leaderboard's own.

    python conformance/bfcl/agree_memory.py WHEEL [COUNT] [SEED]

What is said in all questions and all conversations before, to the letter; all listed answers in four forms, and COUNT
changed replies (20,000), right and wrong. Then COUNT / 4 calls of both
kinds of memory, made of ours and of the originals with snapshots in files between them; where `rank_bm25` is installed
that is what the originals search with, else what is compared says so. Prints the differences; exit 1 if there is any.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from real_prompting import RealPrompting

from wieldy.evals.bfcl.categories import MEMORIES
from wieldy.evals.bfcl.conversations import ranking
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.memory import official, strict
from wieldy.evals.bfcl.memory.data import MemoryTask, Scenario, memory_tasks

MOST_SHOWN = 20
FORMS = ("{}", "It is {}.", "{{'answer': '{}', 'context': 'You said so.'}}", "{{'answer': 'No', 'context': '{}'}}")
ODD = ("", " ", "'", '"', "\n", "-", ".", "/", "_", "(", ")", "*", "^", "$", "\\", "ß", "İ", "é", "1", "not ", " or ")


class Changes:
    """Endless changed replies; the same seed gives the same ones."""

    def __init__(self, seed: int, tasks: tuple[MemoryTask, ...]) -> None:
        self.chance = random.Random(seed)
        self._tasks = tasks

    def case(self) -> tuple[MemoryTask, list[str], str]:
        """A task, answers that are listed, and a reply."""
        chance = self.chance
        task = chance.choice(self._tasks)
        listed = list(task.answers) if chance.random() < 0.8 else [self._changed(each) for each in task.answers]
        said = chance.choice((*task.answers, *chance.choice(self._tasks).answers))
        reply = chance.choice(FORMS).format(said)
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            reply = self._changed(reply)
        return task, listed, reply

    def _changed(self, text: str) -> str:
        chance = self.chance
        at, end = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        match chance.randrange(6):
            case 0:
                return text[:at] + chance.choice(ODD) + text[at:]
            case 1:
                return text[:at] + chance.choice(ODD) + text[at + 1 :]
            case 2:
                return text[:at] + text[at:end].swapcase() + text[end:]
            case 3:
                return text.replace(" ", chance.choice(ODD))
            case 4:
                return text + chance.choice(ODD) + text[at:end]
            case _:
                return text.replace("'", chance.choice(ODD))


def main(wheel: Path, count: int = 20_000, seed: int = 20_261_130) -> int:
    """Prints the tables and the differences."""
    data = BfclData(wheel)
    tasks = memory_tasks(data, MEMORIES["memory_kv"])
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        sys.path.insert(0, folder)
        differences = _compare_words(data, RealPrompting(Path(folder)))
        differences += _compare_answers(tasks, count, seed)
        for category in MEMORIES.values():
            scenario = memory_tasks(data, category)[0].scenario
            differences += _compare_memories(scenario, Path(folder), count // 8, seed)
    for difference in differences[:MOST_SHOWN]:
        print(difference)
    return 1 if differences else 0


def _compare_words(data: BfclData, real: RealPrompting) -> list[str]:
    differences, counts = list[str](), Counter[str]()
    for name, category in MEMORIES.items():
        shown = f"A memory {{of}} {name}."
        theirs = real.remembered(name, shown)
        tasks = memory_tasks(data, category)
        ours = {task.id: [[("system", _told(task, shown, is_asked=True)), ("user", task.question)]] for task in tasks}
        for task in {task.scenario.name: task for task in tasks}.values():
            for earlier in task.scenario.earlier:
                said = [[("user", text)] for text in earlier.said]
                ours[earlier.id] = [[("system", _told(task, shown, is_asked=False)), *said[0]], *said[1:]]
        counts[name] = len(ours)
        differences += [f"{each}: other words" for each in ours.keys() | theirs if ours.get(each) != theirs.get(each)]
    print(f"Words of questions and conversations: {dict(counts)}, {len(differences)} differences.\n")
    return differences


def _told(task: MemoryTask, shown: str, *, is_asked: bool) -> str:
    memory = SimpleNamespace(services={task.scenario.service: SimpleNamespace()})
    memory.services[task.scenario.service]._dump_core_memory_to_context = lambda: shown
    return task.scenario.told(memory, is_asked=is_asked)  # type: ignore[arg-type]


def _compare_answers(tasks: tuple[MemoryTask, ...], count: int, seed: int) -> list[str]:
    from bfcl_eval.eval_checker.agentic_eval.agentic_checker import agentic_checker  # type: ignore[import-not-found]

    counts, differences = Counter[str](), list[str]()

    def compare(kind: str, listed: list[str], reply: str) -> None:
        if not reply:
            return  # the original does not ask its checker about nothing
        theirs = None if agentic_checker(reply, listed)["valid"] else official.NOT_FOUND
        ours = official.check(reply, listed)
        counts[kind] += 1
        counts["right" if theirs is None else theirs] += 1
        counts[f"official {theirs is None}, strict {strict.check(reply, listed) is None}"] += 1
        if ours != theirs:
            differences.append(f"ours {ours}, the checker {theirs}: {listed!r} in {reply!r:.300}")

    for task in tasks:
        for answer in task.answers:
            for form in FORMS:
                compare("listed answers, each in four forms", list(task.answers), form.format(answer))
    changes = Changes(seed, tasks)
    for _ in range(count):
        _, listed, reply = changes.case()
        compare("changed replies", listed, reply)
    print("| answers | number |\n|---|---|")
    for kind, number in counts.items():
        print(f"| {kind} | {number:,} |")
    print(f"\n{len(differences)} differences.\n")
    return differences


def _compare_memories(scenario: Scenario, folder: Path, count: int, seed: int) -> list[str]:
    is_real = importlib.util.find_spec("rank_bm25") is not None
    _stand_in(is_real)
    module = importlib.import_module(f"bfcl_eval.eval_checker.multi_turn_eval.func_source_code.{_module_of(scenario)}")
    chance, differences, counts = random.Random(seed), list[str](), Counter[str]()
    place = folder / "results"
    kept: dict[str, Any] = {}
    for conversation in range(max(1, count // 40)):
        if conversation % 10 == 0:
            kept = {}
        original = getattr(module, scenario.service)()
        name = f"{_module_of(scenario)}_prereq_0-home-{conversation % 10}"
        original._load_scenario({"model_result_dir": place, "test_id": name, "scenario": "home"})
        world = scenario.world(kept)
        if world.services[scenario.service]._dump_core_memory_to_context() != original._dump_core_memory_to_context():
            differences.append(f"{name}: what the memory shows of itself")
        for _ in range(40):
            call, arguments = _call(scenario, chance, original)
            theirs = _result(original, call, arguments)
            ours = world.call(call, (), arguments).text
            counts[call] += 1
            if ours != theirs:
                differences.append(f"{call}({arguments!r:.200}): ours {ours:.200}, the original {theirs:.200}")
        original._flush_memory_to_local_file()
        kept = scenario.kept(world)
    searched = "rank_bm25 itself" if is_real else "our own BM25+, for rank_bm25 is not installed"
    print(
        f"{scenario.service}: {sum(counts.values()):,} calls, {len(differences)} differences; searched with {searched}."
    )
    print(f"{dict(sorted(counts.items()))}\n")
    return differences


def _module_of(scenario: Scenario) -> str:
    return scenario.service.replace("MemoryAPI", "memory")


def _call(scenario: Scenario, chance: random.Random, original: Any) -> tuple[str, dict[str, Any]]:
    known = [*vars(original).get("core_memory", {}), *vars(original).get("archival_memory", {})]
    weights = [1 if each["name"].endswith("clear") else 12 for each in scenario.functions]
    function = chance.choices(scenario.functions, weights)[0]
    words = ("name", "age", "city", "dog", "of", "my", "x1", "2", "Upper", "a" * 310)
    arguments = dict[str, Any]()
    for name in function["parameters"]["properties"]:
        text = "_".join(chance.choice(words) for _ in range(chance.randint(1, 4)))
        if name == "k":
            if chance.random() < 0.5:
                arguments[name] = chance.choice((0, 1, 2, 5, -1))
        elif name == "key" and known and chance.random() < 0.5:
            arguments[name] = chance.choice(known)
        elif name == "query":
            arguments[name] = text.replace("_", chance.choice((" ", "_")))
        elif name == "old_text":
            arguments[name] = chance.choice((text, text[:3], "name", "o"))
        else:
            arguments[name] = text
    return function["name"], arguments


def _result(original: Any, call: str, arguments: dict[str, Any]) -> str:
    """As the benchmark shows it."""
    import json

    try:
        value = getattr(original, call)(**arguments)
    except Exception as error:
        return f"Error during execution: {error}"
    return json.dumps(value)


def _stand_in(is_real: bool) -> None:
    """For what the originals import and do not need here."""
    overrides = ModuleType("overrides")
    overrides.final = lambda function: function  # type: ignore[attr-defined]
    sys.modules.setdefault("overrides", overrides)
    for name in ("filelock", "tenacity", "dotenv"):
        module = ModuleType(name)
        module.FileLock = module.load_dotenv = None  # type: ignore[attr-defined]
        sys.modules.setdefault(name, module)
    if not is_real:
        module = ModuleType("rank_bm25")
        module.BM25Plus = ranking.BM25Plus  # type: ignore[attr-defined]
        sys.modules.setdefault("rank_bm25", module)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
