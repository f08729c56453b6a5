"""A handler answers what code asks: at once or one by one, and every answer, error and crash arrives as it should."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from wieldy import ToolError, ToolTimeoutError
from wieldy.sandbox import GuestCall, Session

pytestmark = pytest.mark.anyio

FAILING = """
try:
    {call}
except ToolError as error:
    found = [error.kind, str(error)]
found
"""


async def echo(call: GuestCall) -> Any:
    return [call.seq, call.name, call.arguments]


@pytest.mark.parametrize("form", ["await call('f', {'a': 1})", "call_sync('f', {'a': 1})"])
async def test_a_call_is_answered_in_both_forms(session: Session, form: str) -> None:
    outcome = await session.run(form, call=echo)
    assert outcome.value == [1, "f", {"a": 1}]
    assert outcome.counts.calls == 1


async def test_calls_are_numbered_when_they_are_issued_and_anew_in_every_run(session: Session) -> None:
    code = "first = call('a')\nsecond = call_sync('b')\n[second[0], (await first)[0]]"
    assert (await session.run(code, call=echo)).value == [2, 1]
    assert (await session.run("call_sync('c')[0]", call=echo)).value == 1


async def test_gathered_calls_are_handled_at_once_and_answers_come_in_the_order_of_the_calls(session: Session) -> None:
    started: list[str] = []
    gates = {name: anyio.Event() for name in "abc"}
    following = {"c": "a", "a": "b", "b": None}

    async def handler(call: GuestCall) -> str:
        started.append(call.name)
        if len(started) == 3:
            gates["c"].set()
        await gates[call.name].wait()
        after = following[call.name]
        if after is not None:
            gates[after].set()
        return call.name

    code = """
import asyncio
order = []
async def ask(name):
    order.append(await call(name))
await asyncio.gather(*(ask(name) for name in "abc"))
order
"""
    outcome = await session.run(code, call=handler)
    assert outcome.value == ["a", "b", "c"]
    assert started == ["a", "b", "c"]


async def test_a_failure_of_one_handler_leaves_the_others(session: Session) -> None:
    async def handler(call: GuestCall) -> str:
        await anyio.lowlevel.checkpoint()
        if call.name == "b":
            raise RuntimeError(call.name)
        return call.name

    code = """
import asyncio
found = await asyncio.gather(*map(call, "abc"), return_exceptions=True)
[found[0], found[1].kind, found[2]]
"""
    assert (await session.run(code, call=handler)).value == ["a", "internal_error", "c"]


@pytest.mark.parametrize("form", ["await call('f')", "call_sync('f')"])
@pytest.mark.parametrize(
    ("error", "found"),
    [
        (ToolError("no such city"), ["tool", "no such city"]),
        (ToolTimeoutError("too slow"), ["tool_timeout", "too slow"]),
        (RuntimeError("password: hunter2"), ["internal_error", "internal error"]),
    ],
)
async def test_what_a_handler_raises_is_a_tool_error_in_the_code_without_anything_internal(
    session: Session, form: str, error: Exception, found: list[str]
) -> None:
    async def handler(_call: GuestCall) -> None:
        raise error

    outcome = await session.run(FAILING.format(call=form), call=handler)
    assert outcome.value == found
    crashes = outcome.handler_crashes
    assert ("hunter2" in "".join(crashes)) is isinstance(error, RuntimeError)


@pytest.mark.parametrize("answer", [object(), float("nan"), "x" * 5_000_000])
async def test_an_answer_that_cannot_be_sent_is_an_error_in_the_code(session: Session, answer: object) -> None:
    async def handler(_call: GuestCall) -> Any:
        return answer

    outcome = await session.run(FAILING.format(call="call_sync('f')"), call=handler)
    assert isinstance(outcome.value, list)
    assert outcome.value[0] == "result_not_sendable"


async def test_answers_that_are_too_large_together_are_failures_of_the_last(session: Session) -> None:
    async def handler(_call: GuestCall) -> str:
        return "x" * 3_000_000

    code = """
import asyncio
found = await asyncio.gather(*(call("f") for _ in range(7)), return_exceptions=True)
[each.kind if isinstance(each, ToolError) else len(each) for each in found]
"""
    assert (await session.run(code, call=handler)).value == [3_000_000] * 5 + ["too_large"] * 2


@pytest.mark.parametrize("text", ["é" * 1_900_000, "\ud800", "\U0001f600", 'quo"te\n\0'])
async def test_text_crosses_both_ways_as_it_is(session: Session, text: str) -> None:
    async def handler(call: GuestCall) -> Any:
        return call.arguments.get("text", text)

    assert (await session.run("len(call_sync('give'))", call=handler)).value == len(text)
    if text != "\ud800":
        assert (await session.run("call_sync('echo', {'text': call_sync('give')})", call=handler)).value == text


async def test_a_name_with_half_a_character_is_an_error_before_the_call(session: Session) -> None:
    outcome = await session.run("call_sync('\\ud800')", call=echo)
    assert outcome.error is not None
    assert (outcome.error.type, outcome.counts.calls) == ("TypeError", 0)


async def test_arguments_that_are_no_json_are_an_error_before_the_call(session: Session) -> None:
    outcome = await session.run("call_sync('f', {'a': object()})", call=echo)
    assert outcome.error is not None
    assert (outcome.error.type, outcome.counts.calls) == ("TypeError", 0)


async def test_a_call_that_nobody_awaits_is_made_and_answered_before_the_run_ends(session: Session) -> None:
    names: list[str] = []

    async def handler(call: GuestCall) -> None:
        await anyio.lowlevel.checkpoint()
        names.append(call.name)

    outcome = await session.run("call('left')\n'end'", call=handler)
    assert (outcome.value, names) == ("end", ["left"])


async def test_a_cancelled_run_ends_its_code_and_the_session_goes_on(session: Session) -> None:
    await session.run("x = 1")
    asked = anyio.Event()

    async def handler(_call: GuestCall) -> None:
        asked.set()
        await anyio.sleep_forever()

    async with anyio.create_task_group() as group:

        async def run() -> None:
            await session.run("call_sync('f')", call=handler)

        group.start_soon(run)
        await asked.wait()
        group.cancel_scope.cancel()
    assert (await session.run("'x' in globals()")).value is False
