"""A client's call is a run: what is written of it when, and what is known where its process has died."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from wieldy.connect.serving.calls import CallRules, answer, go_on
from wieldy.core.errors import JournalError, ToolError
from wieldy.core.events import CallFinished, CallRunning, CallStarted, RunEvent, RunFinished, RunStarted, TurnStarted
from wieldy.core.ports import Draft, Entry
from wieldy.core.principals import Principal
from wieldy.run.consent import Consent
from wieldy.run.journal import MemoryJournal, SqliteJournal, kinds, verify
from wieldy.run.policy import Allow, Ask, Deny
from wieldy.run.state import fold
from wieldy.tools import Tool, tool

pytestmark = pytest.mark.anyio
BOUND_S = 60
ASKED = (kinds.RUN_STARTED, kinds.TURN_STARTED, kinds.REPLY)
STARTED = (kinds.CALL_STARTED,)
ENDED = (kinds.CALL_FINISHED, kinds.RUN_FINISHED)


class Watched(MemoryJournal):
    """Knows what was written at once, and what had been done by then."""

    def __init__(self, done: list[str]) -> None:
        super().__init__()
        self.done = done
        self.steps: list[tuple[tuple[str, ...], int]] = []

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        self.steps.append((tuple(draft.kind for draft in drafts), len(self.done)))
        return super().append(run_id, *drafts, length=length, is_intent=is_intent)


def paying(done: list[str], effect: str = "unsafe") -> dict[str, Tool]:
    @tool(effect=effect)  # type: ignore[arg-type]
    async def pay(amount: int) -> str:
        """Pay."""
        done.append("paid")
        if amount < 0:
            raise ToolError("Nothing to pay.")
        return f"paid {amount}"

    return {"pay": pay}


class Full(MemoryJournal):
    """As a disk: there is room, or there is none."""

    has_room = True

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        if not self.has_room:
            raise JournalError("the disk is full")
        return super().append(run_id, *drafts, length=length, is_intent=is_intent)


@pytest.mark.parametrize("asks", [False, True])
async def test_what_has_begun_and_cannot_be_recorded_is_told_apart_from_what_was_not_done(asks: bool) -> None:
    done: list[str] = []
    journal = Full()

    @tool(effect="unsafe")
    async def pay(amount: int) -> str:
        """Pay."""
        done.append("paid")
        journal.has_room = False
        return f"paid {amount}"

    rules = CallRules(journal=journal, policy=lambda _: Ask("it is dear") if asks else Allow())
    waiting = await answer("pay", {"amount": 1}, {"pay": pay}, rules) if asks else None
    if waiting is None:
        answered = await answer("pay", {"amount": 1}, {"pay": pay}, rules)
    else:
        Consent(journal).answer(waiting.run_id, waiting.waiting[0].call_id, is_granted=True, by="a person")
        answered = await go_on(waiting.run_id, "pay", {"amount": 1}, {"pay": pay}, rules)
    assert done == ["paid"]
    assert answered.result is not None
    assert answered.result.failure == "unknown"
    assert "outcome unknown" in answered.result.content
    with pytest.raises(JournalError, match="the disk is full"):
        await answer("pay", {"amount": 1}, {"pay": pay}, rules)
    assert done == ["paid"]


@pytest.mark.parametrize(
    ("count", "name", "said"),
    [
        (0, "x", "there are no tools here"),
        (1, "x", "The tools are `tool_a`."),
        (10, "x", "The tools are `tool_a`, "),
        (11, "x", "None of the 11 tools has a similar name"),
        (26, "x", "None of the 26 tools has a similar name"),
        (26, "tool_1", "Did you mean `tool_"),
    ],
)
async def test_of_an_unknown_tool_it_is_said_what_there_is(count: int, name: str, said: str) -> None:
    def made(letter: str) -> Tool:
        @tool(effect="read", name=f"tool_{letter}")
        def act() -> str:
            """Act."""
            return ""

        return act

    tools = {each.name: each for each in map(made, "abcdefghijklmnopqrstuvwxyz"[:count])}
    answered = await answer(name, {}, tools, CallRules())
    assert answered.result is not None
    assert f"There is no tool `{name}`" in answered.result.content
    assert said in answered.result.content


async def test_a_call_is_written_in_three_steps_before_its_effect_and_with_its_end() -> None:
    done: list[str] = []
    journal = Watched(done)
    answered = await answer("pay", {"amount": 3}, paying(done), CallRules(journal=journal))
    assert answered.result is not None
    assert answered.result.content == "paid 3"
    assert journal.steps == [(ASKED, 0), (STARTED, 0), (ENDED, 1)]
    entries = journal.read(answered.run_id)
    verify(entries)
    state = fold(entries)
    assert (state.status, state.stop_reason, state.model, state.turns) == ("finished", "answered", "client", 1)
    assert (state.usage.calls, state.usage.requests) == (1, 0)
    assert state.prompt == "A client calls `pay`."


@pytest.mark.parametrize(
    ("name", "arguments", "rules"),
    [
        ("pay", {"amount": "much"}, {}),
        ("pey", {"amount": 3}, {}),
        ("pay", {"amount": 3}, {"policy": lambda proposal: Deny("not today")}),
    ],
)
async def test_a_call_that_is_refused_is_written_in_two_and_starts_nothing(
    name: str, arguments: dict[str, object], rules: dict[str, object]
) -> None:
    done: list[str] = []
    journal = Watched(done)
    answered = await answer(name, arguments, paying(done), CallRules(journal=journal, **rules))  # type: ignore[arg-type]
    assert answered.result is not None
    assert answered.result.is_error
    assert journal.steps == [(ASKED, 0), (ENDED, 0)]
    assert fold(journal.read(answered.run_id)).status == "finished"


async def test_who_watches_hears_of_it_in_order() -> None:
    heard: list[RunEvent] = []
    rules = CallRules(journal=MemoryJournal())
    await answer("pay", {"amount": -1}, paying([]), rules, principal=Principal(name="anna"), emit=heard.append)
    expected = [RunStarted, TurnStarted, CallStarted, CallRunning, CallFinished, RunFinished]
    assert [type(event) for event in heard] == expected


async def test_a_call_that_waited_is_over_with_its_end_as_well() -> None:
    from wieldy.run.consent import Consent

    done: list[str] = []
    journal = Watched(done)
    rules = CallRules(journal=journal, policy=lambda proposal: Ask(reason="money"))
    waiting = await answer("pay", {"amount": 3}, paying(done), rules)
    assert waiting.result is None
    assert fold(journal.read(waiting.run_id)).status == "waiting"
    Consent(journal).answer(waiting.run_id, "c1", is_granted=True, by="carl")
    answered = await go_on(waiting.run_id, "pay", {"amount": 3}, paying(done), rules)
    assert answered.result is not None
    assert answered.result.content == "paid 3"
    assert done == ["paid"]
    assert journal.steps[-1] == (ENDED, 1)
    assert await go_on(waiting.run_id, "pay", {"amount": 3}, paying(done), rules) == answered  # it is over
    assert done == ["paid"]


@pytest.mark.parametrize("effect", ["unsafe", "idempotent", "read"])
async def test_wherever_its_process_dies_no_effect_is_repeated_blindly(effect: str) -> None:
    done: list[str] = []
    journal = Watched(done)
    run_id = (await answer("pay", {"amount": 3}, paying(done, effect), CallRules(journal=journal))).run_id
    entries = journal.read(run_id)
    length = 0
    for kinds_written, _ in journal.steps:  # whatever is written at once is there as a whole or not at all
        length += len(kinds_written)
        left = MemoryJournal()
        left.append(run_id, *(Draft(entry.kind, entry.data) for entry in entries[:length]))
        again: list[str] = []
        answered = await go_on(run_id, "pay", {"amount": 3}, paying(again, effect), CallRules(journal=left))
        assert answered.result is not None
        is_in_doubt = kinds_written == STARTED
        if is_in_doubt and effect == "unsafe":
            assert answered.result.is_error
            assert "outcome unknown" in answered.result.content
            assert again == []
        else:
            assert answered.result.content == "paid 3"
            assert again == ([] if kinds_written == ENDED else ["paid"])
        assert fold(left.read(run_id)).status == "finished"


DYING = """
import asyncio, os, signal, sys
from wieldy import tool
from wieldy.connect.serving.calls import CallRules, answer
from wieldy.run.journal import SqliteJournal

@tool(effect="unsafe")
async def pay(amount: int) -> str:
    "Pay."
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(answer("pay", {"amount": 3}, {"pay": pay}, CallRules(journal=SqliteJournal(sys.argv[1]))))
"""


async def test_of_a_call_during_which_its_process_was_killed_the_outcome_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "calls.db"
    with anyio.fail_after(BOUND_S):
        died = await anyio.run_process([sys.executable, "-c", DYING, str(file)], check=False)
    assert died.returncode < 0
    done: list[str] = []
    with SqliteJournal(file) as journal:
        (run_id,) = journal.run_ids()
        assert [entry.kind for entry in journal.read(run_id)] == [*ASKED, *STARTED]
        answered = await go_on(run_id, "pay", {"amount": 3}, paying(done), CallRules(journal=journal))
        assert fold(journal.read(run_id)).status == "finished"
    assert answered.result is not None
    assert "outcome unknown" in answered.result.content
    assert done == []
