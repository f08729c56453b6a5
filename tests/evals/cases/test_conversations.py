"""Conversations: one run for each message of the user, and nothing carried from one to the next but the history."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Agent, Message, RunError, Usage, UsageError
from wieldy.core.errors import ProviderError
from wieldy.core.ports import Model, ModelEvent, ModelReply, ModelRequest
from wieldy.evals.cases.conversations import Said, converse
from wieldy.run.journal import MemoryJournal
from wieldy.run.state import RunState, fold
from wieldy.testing import ScriptedModel, call, text


def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


def triple(number: int) -> int:
    """Three times the number."""
    return 3 * number


def echo_and_double() -> ScriptedModel:
    """Doubles the number that the user names, and then says what came of it."""

    def turn(messages: object) -> list[object]:
        last = messages[-1]  # type: ignore[index]
        return [call("double", {"number": int(last.text)})] if last.role == "user" else [text(f"It is {last.text}.")]

    return ScriptedModel(turn)  # type: ignore[arg-type]


class Broken:
    """A model whose provider fails."""

    name = "broken"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        raise ProviderError("HTTP 500")
        yield ModelReply(message=request.messages[0], usage=Usage())


def user_says(model: Model, journal: MemoryJournal, words: list[str], told: list[RunState | None]) -> object:
    agent = Agent(model, [double], journal=journal, instructions="Be exact.")
    left = iter(words)

    async def user(before: RunState | None) -> Said | None:
        told.append(before)
        word = next(left, None)
        return None if word is None else Said(messages=[Message.user(word)], agent=agent)

    return user


@pytest.mark.anyio
@given(numbers=st.lists(st.integers(min_value=0, max_value=10**6), max_size=4))
async def test_each_run_begins_with_what_the_one_before_left_and_then_what_the_user_says(numbers: list[int]) -> None:
    journal, told = MemoryJournal(), list[RunState | None]()
    ids = await converse(user_says(echo_and_double(), journal, list(map(str, numbers)), told))  # type: ignore[arg-type]
    states = [fold(journal.read(run_id)) for run_id in ids]
    assert [state.text for state in states] == [f"It is {2 * number}." for number in numbers]
    assert told == [None, *states]
    history: tuple[Message, ...] = (Message.system("Be exact."),) if numbers else ()
    for number, state in zip(numbers, states, strict=True):
        begun = (*history, Message.user(str(number)))
        assert state.messages[: len(begun)] == begun
        assert len(state.messages) == len(begun) + 3  # the call, its result, the answer
        history = state.messages


@pytest.mark.anyio
async def test_tools_are_those_of_the_agent_that_answers() -> None:
    journal = MemoryJournal()

    def turn(messages: object) -> list[object]:
        last = messages[-1]  # type: ignore[index]
        return [call("triple", {"number": 7})] if last.role == "user" else [text(last.text)]

    model = ScriptedModel(turn)  # type: ignore[arg-type]
    agents = [Agent(model, [double], journal=journal), Agent(model, [double, triple], journal=journal)]
    left = iter(agents)

    async def user(before: RunState | None) -> Said | None:
        agent = next(left, None)
        return None if agent is None else Said(messages=[{"role": "user", "content": "Now?"}], agent=agent)

    first, second = [fold(journal.read(run_id)) for run_id in await converse(user)]
    assert "triple" in first.text
    assert "21" not in first.text
    assert second.text == "21"


@pytest.mark.anyio
async def test_nobody_speaks_after_a_run_that_failed_and_its_end_is_in_the_journal() -> None:
    journal, told = MemoryJournal(), list[RunState | None]()
    ids = await converse(user_says(Broken(), journal, ["1", "2"], told))  # type: ignore[arg-type]
    assert [fold(journal.read(run_id)).status for run_id in ids] == ["failed"]
    assert told == [None]


@pytest.mark.anyio
async def test_a_conversation_has_an_end() -> None:
    journal = MemoryJournal()
    agent = Agent(ScriptedModel(lambda _: [text("Yes?")]), journal=journal)

    async def insatiable(before: RunState | None) -> Said | None:
        del before
        return Said(messages=[Message.user("More.")], agent=agent)

    assert len(await converse(insatiable, most_turns=5)) == 5


@pytest.mark.anyio
async def test_what_cannot_begin_and_what_the_user_raises_is_told() -> None:
    agent = Agent(ScriptedModel([]))

    async def silent(before: RunState | None) -> Said | None:
        del before
        return Said(messages=[], agent=agent)

    async def broken(before: RunState | None) -> Said | None:
        raise RunError("no model for the user")

    with pytest.raises(UsageError):
        await converse(silent)
    with pytest.raises(RunError, match="no model for the user"):
        await converse(broken)
