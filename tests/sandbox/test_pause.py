"""A handler that has no answer yet pauses the run: the code stands still, and goes on when the answer comes."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from wieldy import ToolError, UsageError
from wieldy.sandbox import GuestCall, Outcome, Pause, Session

pytestmark = pytest.mark.anyio


async def pausing(call: GuestCall) -> Any:
    return Pause() if call.name.startswith("ask") else call.name


async def test_a_paused_run_tells_what_it_waits_for_and_goes_on_with_the_answer(session: Session) -> None:
    code = "print('before')\nfound = call_sync('ask', {'n': 1})\nprint('after')\n[found, call_sync('free')]"
    paused = await session.run(code, call=pausing)
    assert paused.status == "paused"
    assert paused.waiting == (GuestCall(seq=1, name="ask", arguments={"n": 1}),)
    assert paused.stdout == "before\n"
    outcome = await session.resume("yes")
    assert (outcome.status, outcome.value) == ("done", ["yes", "free"])
    assert outcome.stdout == "before\nafter\n"
    assert outcome.counts.calls == 2
    assert (await session.run("found")).value == "yes"


async def test_the_answer_may_be_an_error(session: Session) -> None:
    code = "try:\n    call_sync('ask')\nexcept ToolError as error:\n    found = [error.kind, error.message]"
    await session.run(code, call=pausing)
    assert (await session.resume(ToolError("denied"))).value == ["tool", "denied"]


async def test_gathered_calls_are_paused_together_and_answered_by_their_numbers(session: Session) -> None:
    code = "import asyncio\nawait asyncio.gather(call('ask one'), call('free'), call('ask two'))"
    paused = await session.run(code, call=pausing)
    assert [call.seq for call in paused.waiting] == [1, 3]
    with pytest.raises(UsageError, match="1, 3"):
        await session.resume("which?")
    again = await session.resume("second", seq=3)
    assert [call.seq for call in again.waiting] == [1]
    outcome = await session.resume("first")
    assert outcome.value == ["first", "free", "second"]


async def test_paused_code_uses_no_time_and_does_nothing(session: Session) -> None:
    code = """
import asyncio
async def busy():
    while True:
        await asyncio.sleep(0)
asyncio.create_task(busy())
await call("ask")
"""
    paused = await session.run(code, call=pausing)
    assert paused.status == "paused"
    state = state_of_worker(session)
    with anyio.fail_after(30):  # the signal was sent, and takes effect in its own time
        while state() != "T":
            await anyio.lowlevel.checkpoint()
    outcome = await session.resume("on")
    assert (outcome.status, outcome.value) == ("done", "on")


def state_of_worker(session: Session) -> Any:
    from pathlib import Path

    worker: Any = vars(session)["_worker"]
    path = Path(f"/proc/{vars(worker)['_pid']}/stat")

    def state() -> str:
        return path.read_text().rpartition(")")[2].split()[0]

    return state


async def test_while_a_run_is_paused_no_other_begins_and_without_one_none_is_resumed(session: Session) -> None:
    with pytest.raises(UsageError, match="no run is paused"):
        await session.resume("x")
    await session.run("call_sync('ask')", call=pausing)
    with pytest.raises(UsageError, match="paused"):
        await session.run("1")
    with pytest.raises(UsageError):
        await session.resume(object())  # type: ignore[arg-type]
    assert (await session.resume("x")).value == "x"


async def test_a_fresh_run_gives_a_paused_one_up(session: Session) -> None:
    await session.run("x = 1\ncall_sync('ask')", call=pausing)
    assert (await session.run("'x' in globals()", fresh=True)).value is False
    with pytest.raises(UsageError, match="no run is paused"):
        await session.resume("x")


async def test_a_session_with_a_paused_run_closes(session: Session) -> None:
    await session.run("call_sync('ask')", call=pausing)
    await session.close()


async def test_a_resumed_run_is_held_to_its_limits(session: Session) -> None:
    await session.run("call_sync('ask')\nimport os\nos._exit(0)", call=pausing)
    outcome: Outcome = await session.resume("x")
    assert outcome.killed_because == "exit"
    assert (await session.run("1")).value == 1


async def test_a_resumed_run_may_have_another_handler(session: Session) -> None:
    await session.run("call_sync('ask')\ncall_sync('ask again')", call=pausing)

    async def other(call: GuestCall) -> str:
        await anyio.lowlevel.checkpoint()
        return f"other {call.name}"

    assert (await session.resume("x", call=other)).value == "other ask again"
