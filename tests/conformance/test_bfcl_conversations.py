"""The tools with which agreement on BFCL's conversations is shown: repeatable, and able to fail."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from wieldy.evals.bfcl.conversations import official, strict
from wieldy.evals.bfcl.conversations.data import BfclConversation

ROOT = Path(__file__).parents[2]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MUTATIONS = load(ROOT / "conformance" / "bfcl" / "conversation_mutations.py")
KINDS = load(ROOT / "conformance" / "bfcl" / "kinds_conversations.py")
EXAMPLES = load(ROOT / "tests" / "evals" / "conversation_examples.py")


@pytest.fixture
def tasks(tmp_path: Path) -> list[BfclConversation]:
    code = EXAMPLES.service_code(tmp_path)
    return [
        EXAMPLES.conversation(code, ("add('a', 2)", "tag('a', 'x')"), ("show('a')",), ("close('a')", "names()")),
        EXAMPLES.conversation(code, ("add(name='as in names(x)')", "names()"), id="multi_turn_base_2"),
        EXAMPLES.conversation(
            code, ("add(name='b')",), (), ("names()", "close(name='b')"), id="multi_turn_miss_param_1"
        ),
    ]


def trials(tasks: list[BfclConversation], seed: int) -> list[tuple[BfclConversation, Any]]:
    made = MUTATIONS.ConversationMutations(seed, tasks)
    return [(task, made.changed(task)) for task in tasks for _ in range(150)]


def test_a_seed_gives_the_same_trials_and_another_seed_others(tasks: list[BfclConversation]) -> None:
    assert trials(tasks, 1) == trials(tasks, 1)
    assert trials(tasks, 1) != trials(tasks, 2)


def test_changed_trials_meet_every_official_verdict(tasks: list[BfclConversation]) -> None:
    found = {
        None if mistake is None else mistake.reason
        for task, (turns, _) in trials(tasks, 3)
        for mistake in [official.check(task, turns)]
    }
    assert found >= {None, official.NO_CALL, official.OTHER_STATE, official.RESULT_LACKING}


@pytest.mark.parametrize("rule", ["_is_same_state", "_FUNCTION", "_FORBIDDEN"])
def test_a_rule_that_is_left_out_changes_verdicts(
    tasks: list[BfclConversation], monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    cases = [(task, turns) for task, (turns, _) in trials(tasks, 4)]
    before = [official.check(task, turns) for task, turns in cases]
    broken: dict[str, object] = {
        "_is_same_state": lambda *_: True,
        "_FUNCTION": re.compile(r"(?!)"),
        "_FORBIDDEN": frozenset({"add"}),
    }
    monkeypatch.setattr(official, rule, broken[rule])
    assert [official.check(task, turns) for task, turns in cases] != before


def test_trials_of_listed_kinds_are_told_apart(tasks: list[BfclConversation]) -> None:
    for task in tasks:  # the second has a name within a text, which only the official rules mind
        right = KINDS.right_calls(task)
        assert all(strict.check(task, turns) is None for kind in KINDS.RIGHT.values() for turns in kind(task, right))
        assert all(
            strict.check(task, turns) is not None for kind in KINDS.WRONG.values() for turns in kind(task, right)
        )
    wrong = [turns for kind in KINDS.WRONG.values() for task in tasks for turns in kind(task, KINDS.right_calls(task))]
    assert len(wrong) >= 4
