"""The state of a run is what its entries add up to, and entries that do not add up are named."""

from collections.abc import Sequence

import pytest

from wieldy.core.errors import JournalError
from wieldy.core.messages import Message
from wieldy.core.ports import Entry
from wieldy.run.journal import MemoryJournal
from wieldy.run.loop import run
from wieldy.run.request import RunRequest
from wieldy.run.state import Fold, fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Toolset, tool

pytestmark = pytest.mark.anyio


@tool(effect="read")
def echo(word: str) -> str:
    """Says the word again."""
    return word


@pytest.fixture
async def entries() -> Sequence[Entry]:
    journal = MemoryJournal(clock=lambda: 3.0)
    turns = [[call("echo", {"word": "a"}), call("echo", {"word": "b"})], [text("done")]]
    request = RunRequest(
        model=ScriptedModel(turns),
        toolset=Toolset([echo]),
        messages=(Message.system("Be brief."), Message.user("First?"), Message.assistant("Yes."), Message.user("Go")),
        journal=journal,
        run_id="r1",
    )
    await run(request)
    return journal.read("r1")


async def test_a_finished_run_is_known_in_full(entries: Sequence[Entry]) -> None:
    state = fold(entries)
    assert (state.run_id, state.status, state.model, state.prompt) == ("r1", "finished", "scripted", "Go")
    assert (state.text, state.stop_reason, state.error, state.turns) == ("done", "answered", None, 2)
    assert (state.started, state.ended) == (3.0, 3.0)
    assert [(each.call.id, each.turn, each.status, each.effect) for each in state.calls] == [
        ("c1", 1, "finished", "read"),
        ("c2", 1, "finished", "read"),
    ]
    assert [message.role for message in state.messages[4:]] == ["assistant", "tool", "tool", "assistant"]


async def test_results_join_the_messages_in_the_order_of_the_calls_whatever_order_they_came_in(
    entries: Sequence[Entry],
) -> None:
    first, second = [index for index, entry in enumerate(entries) if entry.kind == "call_finished"]
    came = {entries[index].data["result"]["tool_call_id"]: entries[index] for index in (first, second)}
    swapped = list(entries)
    swapped[first], swapped[second] = came["c2"]._replace(sequence=first), came["c1"]._replace(sequence=second)
    in_order = list(entries)
    in_order[first], in_order[second] = came["c1"]._replace(sequence=first), came["c2"]._replace(sequence=second)
    assert fold(swapped).messages == fold(in_order).messages == fold(entries).messages
    halfway = fold(swapped[: first + 1])
    assert [message.role for message in halfway.messages[4:]] == ["assistant"]
    assert [each.status for each in halfway.calls] == ["started", "finished"]


async def test_folding_entry_by_entry_gives_what_folding_at_once_gives(entries: Sequence[Entry]) -> None:
    folded = Fold()
    for index, entry in enumerate(entries):
        folded.apply(entry)
        assert folded.state() == fold(entries[: index + 1])


async def test_entries_of_unknown_kinds_add_nothing(entries: Sequence[Entry]) -> None:
    later = Entry(run_id="r1", sequence=len(entries), kind="remark", time=4.0, data={"by": "somebody"}, digest="0" * 64)
    assert fold([*entries, later]) == fold(entries)


async def test_entries_that_are_missing_mixed_up_or_damaged_are_named(entries: Sequence[Entry]) -> None:
    with pytest.raises(JournalError, match="no entries"):
        fold([])
    with pytest.raises(JournalError, match="Expected entry 0 of run 'r1', found entry 1"):
        fold(entries[1:])
    with pytest.raises(JournalError, match="Expected entry 2 of run 'r1', found entry 3"):
        fold([*entries[:2], *entries[3:]])
    with pytest.raises(JournalError, match="of run 'r2'"):
        fold([entries[0], entries[1]._replace(run_id="r2")])
    for index, entry in enumerate(entries):
        if entry.kind != "run_interrupted":
            damaged = entry._replace(data={"unexpected": 1})
            with pytest.raises(JournalError, match=rf"Entry {index} \({entry.kind}\) of run 'r1' cannot be read"):
                fold([*entries[:index], damaged])


async def test_a_second_result_for_a_call_is_named(entries: Sequence[Entry]) -> None:
    index = next(index for index, entry in enumerate(entries) if entry.kind == "call_finished")
    again = entries[index]._replace(sequence=index + 1)
    with pytest.raises(JournalError, match="a second result"):
        fold([*entries[: index + 1], again])
