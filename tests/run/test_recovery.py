"""A run that is stopped anywhere goes on as if it had not been: nothing done twice, nothing lost, nothing made up."""

import itertools
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from wieldy.core.context import Context
from wieldy.core.errors import JournalError
from wieldy.core.history import check_history
from wieldy.core.messages import Message
from wieldy.core.ports import Draft, Entry
from wieldy.run.journal import MemoryJournal, verify
from wieldy.run.loop import resume, run
from wieldy.run.request import RunRequest
from wieldy.run.state import RunState, fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool, Toolset, tool

pytestmark = pytest.mark.anyio

RUN = "a-run"


class DiedError(BaseException):
    """Stands for the death of the process."""


class MortalJournal(MemoryJournal):
    """A journal whose process dies at an append: before it takes effect, or after."""

    def __init__(self, *, dies_at: int, after: bool) -> None:
        super().__init__()
        self._left = dies_at
        self._after = after
        self.is_dead = False

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        if self.is_dead:
            raise JournalError("the process is dead")
        self._left -= 1
        if self._left > 0:
            return super().append(run_id, *drafts, length=length, is_intent=is_intent)
        self.is_dead = True
        if self._after:
            super().append(run_id, *drafts, length=length, is_intent=is_intent)
        raise DiedError

    def revive(self) -> None:
        self.is_dead, self._left = False, 10**9


class World:
    """What tools did, as somebody outside would count it."""

    def __init__(self) -> None:
        self.effects: Counter[str] = Counter()
        self.keys: set[str] = set()

    def tools(self) -> list[Tool]:
        @tool(effect="read")
        def look(place: str) -> str:
            """Looks."""
            return f"seen {place}"

        @tool(effect="idempotent", writes=["door"])
        def shut(door: str) -> str:
            """Shuts a door."""
            self.effects["shut"] = 1
            return "shut"

        @tool(effect="keyed", writes=["account"])
        def pay(amount: int, ctx: Context) -> str:
            """Pays."""
            if ctx.idempotency_key not in self.keys:
                self.keys.add(ctx.idempotency_key)
                self.effects["pay"] += 1
            return f"paid {amount}"

        def was_ordered(item: str) -> str | None:
            return f"ordered {item}" if self.effects["order"] else None

        @tool(reconcile=was_ordered, writes=["shop"])
        def order(item: str) -> str:
            """Orders."""
            self.effects["order"] += 1
            return f"ordered {item}"

        @tool(effect="unsafe", writes=["post"])
        def send(letter: str) -> str:
            """Sends a letter."""
            self.effects["send"] += 1
            return f"sent {letter}"

        return [look, shut, pay, order, send]


CALLS = [
    call("look", {"place": "here"}),
    call("shut", {"door": "front"}),
    call("pay", {"amount": 3}),
    call("order", {"item": "tea"}),
    call("send", {"letter": "a"}),
]


def request(world: World, journal: MemoryJournal) -> RunRequest:
    """The model asks for everything at once, then one by one again, and answers."""

    def model(messages: Sequence[Message]) -> list[Any]:
        asked = sum(1 for message in messages if message.role == "assistant")
        return [CALLS, [call("look", {"place": "there"})], [text("done")]][asked]

    return RunRequest(
        model=ScriptedModel(model),
        toolset=Toolset(world.tools()),
        journal=journal,
        messages=(Message.user("Go"),),
        run_id=RUN,
    )


async def whole_run() -> RunState:
    journal, world = MemoryJournal(), World()
    await run(request(world, journal))
    return fold(journal.read(RUN))


@pytest.mark.parametrize("after", [False, True])
async def test_wherever_a_run_dies_its_resumption_ends_as_it_would_have(after: bool) -> None:
    expected = await whole_run()
    for dies_at in itertools.count(1):
        journal, world = MortalJournal(dies_at=dies_at, after=after), World()
        with suppress(DiedError, JournalError):
            await run(request(world, journal))
        if not journal.is_dead:
            assert dies_at > 10
            return
        journal.revive()
        if not journal.read(RUN):
            continue  # it died before it began
        await resume(request(world, journal))

        entries = journal.read(RUN)
        verify(entries)
        state = fold(entries)
        assert (state.status, state.text, state.stop_reason) == ("finished", "done", "answered")
        check_history((*state.messages, Message.user("And then?")))
        assert all(count == 1 for count in world.effects.values())
        assert set(world.effects) >= {"shut", "pay", "order"}
        for now, then in zip(state.calls, expected.calls, strict=True):
            assert now.result is not None
            if now.is_unknown:
                assert now.call.name == "send"
                assert now.result.is_error
                assert "outcome unknown" in now.result.content
            else:
                assert now.result == then.result


async def test_a_sibling_that_had_ended_is_not_run_again() -> None:
    journal, world = MortalJournal(dies_at=8, after=False), World()
    with pytest.raises((DiedError, JournalError)):
        await run(request(world, journal))
    ended = {state.call.id: state.result for state in fold(journal.read(RUN)).calls if state.result is not None}
    assert ended
    journal.revive()
    await resume(request(world, journal))
    state = fold(journal.read(RUN))
    assert ended == {each.call.id: each.result for each in state.calls if each.call.id in ended}
    assert all(each.attempts == 1 for each in state.calls if each.call.id in ended)


async def test_a_run_that_is_over_gives_its_result_again_and_writes_nothing() -> None:
    journal, world = MemoryJournal(), World()
    first = await run(request(world, journal))
    length = len(journal.read(RUN))
    assert await resume(request(world, journal)) == first
    assert len(journal.read(RUN)) == length
