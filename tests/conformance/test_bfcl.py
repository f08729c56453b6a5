"""The tools with which agreement on BFCL is shown: repeatable, and able to fail."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from wieldy.evals.bfcl import official, strict
from wieldy.evals.bfcl.categories import CATEGORIES
from wieldy.evals.bfcl.data import BfclData, BfclTask

ROOT = Path(__file__).parents[2]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bfcl_conformance_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MUTATIONS = load(ROOT / "conformance" / "bfcl" / "mutations.py")
KINDS = load(ROOT / "conformance" / "bfcl" / "kinds.py")
EXAMPLES = load(ROOT / "tests" / "evals" / "bfcl_examples.py")


@pytest.fixture
def tasks() -> list[BfclTask]:
    java = EXAMPLES.function("f", {"names": {"type": "Array", "items": {"type": "String"}, "description": ""}})
    return [
        EXAMPLES.task(),
        EXAMPLES.task("parallel", answers=(EXAMPLES.BOOK_ANSWER, {"trips.book": {"city": ["Nice"], "nights": [1]}})),
        EXAMPLES.task("simple_java", functions=(java,), answers=({"f": {"names": [["a", "b"]]}},)),
    ]


def replies(tasks: list[BfclTask], seed: int) -> list[object]:
    made = MUTATIONS.Mutations(seed)
    values = [made.changed(task) for task in tasks for _ in range(100)]
    return [*values, *(made.text(made.changed(tasks[0])) for _ in range(100))]


def test_a_seed_gives_the_same_replies_and_another_seed_others(tasks: list[BfclTask]) -> None:
    assert replies(tasks, 1) == replies(tasks, 1)
    assert replies(tasks, 1) != replies(tasks, 2)


def test_changed_replies_meet_both_right_and_wrong(tasks: list[BfclTask]) -> None:
    made = MUTATIONS.Mutations(3)
    for task in tasks:
        assert official.check(task, made.answers(task)) is None or task.category.language == "java"
        errors = {official.check(task, made.changed(task)) for _ in range(200)}
        assert len(errors) >= 3
        assert None in errors or task.category.language == "java"


def test_replies_of_listed_kinds_are_told_apart(tasks: list[BfclTask], tmp_path: Path) -> None:
    place = EXAMPLES.write_data(tmp_path / "data", tasks)
    assert KINDS.main(place) == 0


def test_a_comparator_that_takes_everything_is_found_out(
    tasks: list[BfclTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = EXAMPLES.write_data(tmp_path / "data", tasks)
    assert len(BfclData(place).tasks(CATEGORIES["parallel"])) == 1
    monkeypatch.setattr(strict, "check", lambda *_: None)
    assert KINDS.main(place) == 1
