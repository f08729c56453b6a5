"""Without a handler a run is paused where the code needs answers: it stands still, and goes on when they come."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from wieldy import ToolError, UsageError
from wieldy.sandbox import Failure, GuestCall, Outcome, Reply, Session

pytestmark = pytest.mark.anyio


async def test_a_paused_run_tells_what_it_waits_for_and_goes_on_with_the_answer(session: Session) -> None:
    code = "print('before')\nfound = call_sync('ask', {'n': 1})\nprint('after')\n[found, call_sync('more')]"
    paused = await session.run(code)
    assert paused.status == "paused"
    assert paused.waiting == (GuestCall(seq=1, name="ask", arguments={"n": 1}),)
    assert paused.stdout == "before\n"
    paused = await session.answer(["yes"])
    assert paused.waiting == (GuestCall(seq=2, name="more", arguments={}),)
    outcome = await session.answer(["again"])
    assert (outcome.status, outcome.value, outcome.waiting) == ("done", ["yes", "again"], ())
    assert outcome.stdout == "before\nafter\n"
    assert outcome.counts.calls == 2
    assert (await session.run("found")).value == "yes"


@pytest.mark.parametrize(
    ("answer", "found"),
    [(ToolError("no"), ["tool", "no"]), (Failure(kind="denied", message="not you"), ["denied", "not you"])],
)
async def test_the_answer_may_be_a_failure(session: Session, answer: Any, found: list[str]) -> None:
    code = "try:\n    call_sync('ask')\nexcept ToolError as error:\n    found = [error.kind, error.message]"
    await session.run(code)
    assert (await session.answer([answer])).value == found


async def test_calls_that_were_issued_together_wait_together_and_answers_come_in_their_order(session: Session) -> None:
    code = "import asyncio\nawait asyncio.gather(call('one'), call('two'), call('three'))"
    paused = await session.run(code)
    assert [(call.seq, call.name) for call in paused.waiting] == [(1, "one"), (2, "two"), (3, "three")]
    outcome = await session.answer(["first", Reply(value="second"), "third"])
    assert outcome.value == ["first", "second", "third"]


@pytest.mark.parametrize("answers", [[], ["a"], ["a", "b", "c"], ["a", object()], ["a", "x" * 5_000_000]])
async def test_answers_that_do_not_fit_are_refused_and_the_run_is_still_paused(
    session: Session, answers: list[Any]
) -> None:
    await session.run("import asyncio\nawait asyncio.gather(call('one'), call('two'))")
    with pytest.raises(UsageError, match=r"2 calls that wait, found|cannot be sent"):
        await session.answer(answers)
    assert (await session.answer(["a", "b"])).value == ["a", "b"]


async def test_paused_code_uses_no_time_and_does_nothing(session: Session) -> None:
    paused = await session.run("call_sync('ask')")
    assert paused.status == "paused"
    state = state_of_worker(session)
    with anyio.fail_after(30):  # the signal was sent, and takes effect in its own time
        while state() != "T":
            await anyio.lowlevel.checkpoint()
    outcome = await session.answer(["on"])
    assert (outcome.status, outcome.value) == ("done", "on")


async def test_while_calls_are_answered_code_stands_still(session: Session) -> None:
    async def handler(_call: GuestCall) -> str:
        state = state_of_worker(session)
        with anyio.fail_after(30):
            while state() != "T":
                await anyio.lowlevel.checkpoint()
        return "on"

    assert (await session.run("call_sync('ask')", call=handler)).value == "on"


def state_of_worker(session: Session) -> Any:
    from pathlib import Path

    worker: Any = vars(session)["_worker"]
    path = Path(f"/proc/{vars(worker)['_pid']}/stat")

    def state() -> str:
        return path.read_text().rpartition(")")[2].split()[0]

    return state


async def test_while_a_run_is_paused_no_other_begins_and_without_one_none_is_answered(session: Session) -> None:
    with pytest.raises(UsageError, match="no run is paused"):
        await session.answer(["x"])
    await session.run("call_sync('ask')")
    with pytest.raises(UsageError, match="paused"):
        await session.run("1")
    assert (await session.answer(["x"])).value == "x"


async def test_a_fresh_run_gives_a_paused_one_up(session: Session) -> None:
    await session.run("x = 1\ncall_sync('ask')")
    assert (await session.run("'x' in globals()", fresh=True)).value is False
    with pytest.raises(UsageError, match="no run is paused"):
        await session.answer(["x"])


async def test_a_session_with_a_paused_run_closes(session: Session) -> None:
    await session.run("call_sync('ask')")
    await session.close()


async def test_a_run_that_goes_on_is_held_to_its_limits(session: Session) -> None:
    await session.run("call_sync('ask')\nimport os\nos._exit(0)")
    outcome: Outcome = await session.answer(["x"])
    assert outcome.killed_because == "exit"
    assert (await session.run("1")).value == 1
