"""A model that makes mistakes: what the harness lets it repair, and whose failure the rest is said to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy import Agent
from wieldy.evals.cases.case import Attempt
from wieldy.evals.cases.faulty import FAULTS, Fault, FaultyModel, faults_put_in
from wieldy.evals.cases.recorded import recorded
from wieldy.evals.tasks.task import ExpectedCall, Task
from wieldy.evals.tasks.task_cases import case_of
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.run.journal import MemoryJournal, kinds
from wieldy.testing import ScriptedModel, call, text

if TYPE_CHECKING:
    from wieldy.core.messages import Message
    from wieldy.core.ports import Entry
    from wieldy.testing.scripted import Turn


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def turn(messages: Sequence[Message]) -> Turn:
    """1 + 2, then 3 + 4, then the answer: from the history alone."""
    results = [message.text for message in messages if message.role == "tool"]
    assert results == ["3", "7"][: len(results)]
    turns: list[Turn] = [[call("add", {"a": 1, "b": 2})], [call("add", {"a": 3, "b": 4})], [text("3 and 7")]]
    return turns[len(results)]


def run(fault: Fault | None, *, seed: int = 0, rate: float = 1.0) -> list[Entry]:
    journal = MemoryJournal()
    chosen = FAULTS if fault is None else (fault,)
    model = FaultyModel(ScriptedModel(turn), seed=seed, faults=chosen, rate=rate)
    return [*journal.read(anyio.run(recorded, Agent(model, [add], journal=journal), "Add."))]


def answer(entries: Sequence[Entry]) -> str:
    assert entries[-1].kind == kinds.RUN_FINISHED
    message = next(entry.data["message"] for entry in reversed(entries) if entry.kind == kinds.REPLY)
    return "".join(part.get("text", "") for part in message["parts"])  # pyright: ignore


@pytest.mark.parametrize("fault", ["malformed", "unknown-tool", "wrong-types"])
def test_a_call_that_is_wrong_is_told_and_repaired(fault: Fault) -> None:
    entries = run(fault)
    assert faults_put_in(entries) == [fault] * 3
    assert answer(entries) == "3 and 7"
    found = decisive(faults(entries))
    assert found is None or found.layer == "model"


def test_a_call_that_is_repeated_runs_twice_and_the_answer_is_the_same() -> None:
    entries = run("repeated")
    assert faults_put_in(entries) == ["repeated"] * 2
    assert answer(entries) == "3 and 7"
    assert sum(entry.kind == kinds.CALL_FINISHED for entry in entries) == 4


def test_an_error_of_the_provider_ends_the_run_and_is_the_providers() -> None:
    entries = run("provider")
    assert entries[-1].kind == kinds.RUN_FAILED
    assert faults_put_in(entries) == ["provider"]
    found = decisive(faults(entries))
    assert found is not None
    assert found.layer == "provider"


def test_an_empty_reply_is_an_answer_without_words() -> None:
    assert answer(run("empty")) == ""


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(), rate=st.floats(0, 1))
def test_what_goes_wrong_is_a_function_of_the_seed(seed: int, rate: float) -> None:
    first, second = run(None, seed=seed, rate=rate), run(None, seed=seed, rate=rate)
    assert faults_put_in(first) == faults_put_in(second)
    assert [entry.kind for entry in first] == [entry.kind for entry in second]


@pytest.mark.parametrize("fault", ["malformed", "unknown-tool", "wrong-types"])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(), rate=st.floats(0, 1))
def test_whatever_is_told_is_repaired(fault: Fault, seed: int, rate: float) -> None:
    assert answer(run(fault, seed=seed, rate=rate)) == "3 and 7"


def test_every_task_with_an_oracle_has_a_faulty_model() -> None:
    task = Task(id="sum", prompt="1 + 2?", tools=[add], calls=(ExpectedCall(name="add", arguments={"a": 1, "b": 2}),))
    case = case_of(task)
    assert set(case.scripts) == {"oracle", "faulty"}
    journal = MemoryJournal()
    ids = anyio.run(case.run, Attempt(model=case.scripts["faulty"](), journal=journal, metadata={}))
    assert journal.read(ids[0])[0].data["model"] == "script:faulty"
