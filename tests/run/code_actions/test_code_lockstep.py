"""Code in lockstep: batches depend on the code and the answers, and what comes from the guest may be anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wieldy import sandbox
from wieldy.run.actions.code.lockstep import Calls, Reply, Session, ToolFailure
from wieldy.run.actions.code.prelude import prelude_of
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.sandbox import Outcome, SandboxLimits
from wieldy.tools import tool

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sandboxed")]


@tool(effect="read")
def echo(x: Any = None) -> Any:
    """Says it again."""
    return x


PRELUDE = prelude_of(stubs_of([echo.definition]))


async def batches_of(
    code: str, answer: Callable[[Any], Any] = lambda x: x, **limits: int
) -> tuple[list[list[Any]], Outcome]:
    """What the code asks for, batch by batch, where every call brings its argument or what `answer` makes of it."""
    found: list[list[Any]] = []
    chosen = SandboxLimits(wall_s=60, **limits)
    async with sandbox.open(limits=chosen) as opened:
        session = Session(opened, limits=chosen)
        step = await session.start(code, prelude=PRELUDE, seed=1, clock=1e9, fresh=True)
        while isinstance(step, Calls):
            asked = [call.arguments.get("x") for call in step.calls]
            found.append(asked)
            replies = [answer(x) for x in asked]
            step = await session.answer(
                [reply if isinstance(reply, ToolFailure) else Reply(value=reply) for reply in replies]
            )
    return found, step


@pytest.mark.parametrize(
    ("code", "batches", "value"),
    [
        ("[await echo(1), await echo(2)]", [[1], [2]], [1, 2]),
        ("await asyncio.gather(echo(1), echo(2), echo(3))", [[1, 2, 3]], [1, 2, 3]),
        (
            "async def twice(n):\n    return await echo(await echo(n) + 10)\n"
            "await asyncio.gather(*map(twice, range(3)))",
            [[0, 1, 2], [10, 11, 12]],
            [10, 11, 12],
        ),
        (
            "async def late():\n    await asyncio.sleep(0)\n    return await echo(2)\n"
            "await asyncio.gather(echo(1), late())",
            [[1, 2]],
            [1, 2],
        ),
        ("def now():\n    return echo.sync(2)\n[echo.sync(1), now()]", [[1], [2]], [1, 2]),
        (
            "async def now():\n    return echo.sync(2)\nawait asyncio.gather(echo(1), now(), echo(3))",
            [[1, 2], [3]],
            [1, 2, 3],
        ),
        ("await asyncio.wait_for(echo(1), 0.001)", [[1]], 1),
        ("[await each for each in asyncio.as_completed([echo(1), echo(2)])]", [[1, 2]], None),
        (
            "first = asyncio.create_task(echo(1))\nawait asyncio.sleep(0)\nfirst.cancel()\nawait echo(2)",
            [[2]],
            2,
        ),
        (
            "async def late(n):\n    await asyncio.sleep(n)\n    return await echo(n)\n"
            "await asyncio.gather(late(3600), late(5), late(5))",
            [[5, 5], [3600]],
            [3600, 5, 5],
        ),
        (
            "import time\nbegun = [time.time(), time.monotonic()]\nawait asyncio.sleep(100)\ntime.sleep(20)\n"
            "[time.time() - begun[0], time.monotonic() - begun[1]]",
            [],
            [120.0, 120.0],
        ),
        (
            "try:\n    await asyncio.wait_for(asyncio.sleep(60), 5)\nexcept TimeoutError:\n    found = 'late'\nfound",
            [],
            "late",
        ),
        ("task = asyncio.create_task(echo(1))\nawait asyncio.sleep(0)\n5", [], 5),
    ],
)
async def test_a_batch_is_all_that_can_be_asked_for(code: str, batches: list[list[Any]], value: Any) -> None:
    found, outcome = await batches_of(code)
    assert found == batches
    assert outcome.status == "done", outcome
    assert value is None or outcome.value == value


async def test_a_failure_is_raised_where_it_is_awaited_and_the_others_come() -> None:
    code = "found = await asyncio.gather(echo(1), echo(2), return_exceptions=True)\n[found[0], found[1].kind]"
    _, outcome = await batches_of(code, lambda x: ToolFailure(kind="denied", message="no") if x == 2 else x)
    assert outcome.value == [1, "denied"]


async def test_answers_that_are_too_large_for_one_frame_come_in_several() -> None:
    found, outcome = await batches_of(
        "sum(map(len, await asyncio.gather(*map(echo, range(5)))))", lambda _: "é" * 800_000
    )
    assert found == [[0, 1, 2, 3, 4]]
    assert outcome.value == 4_000_000


@pytest.mark.parametrize(
    "asked",
    [
        "'hello', {}",
        "'*batch*', {}",
        "'*batch*', {'calls': []}",
        "'*batch*', {'calls': [1]}",
        "'*batch*', {'calls': [{'name': 1, 'arguments': {}}]}",
        "'*batch*', {'calls': [{'name': 'echo', 'arguments': []}]}",
        "'*more*', {}",
    ],
)
async def test_what_the_guests_half_never_sends_ends_the_code(asked: str) -> None:
    found, outcome = await batches_of(f"_wieldy_ask({asked})")
    assert (found, outcome.status, outcome.killed_because) == ([], "killed", "protocol")


async def test_more_calls_than_allowed_end_the_code() -> None:
    found, outcome = await batches_of(
        "for n in range(3):\n    await echo(n)\nawait asyncio.gather(echo(3), echo(4))", calls=4
    )
    assert found == [[0], [1], [2]]
    assert outcome.killed_because == "calls"


async def test_after_code_that_was_given_up_a_fresh_start_finds_nothing_of_it() -> None:
    limits = SandboxLimits(wall_s=60)
    async with sandbox.open(limits=limits) as opened:
        session = Session(opened, limits=limits)
        step = await session.start("left = 1\nawait echo(1)", prelude=PRELUDE, seed=1, clock=1e9, fresh=True)
        assert isinstance(step, Calls)
        step = await session.start("'left' in globals()", prelude=PRELUDE, seed=1, clock=1e9, fresh=True)
        assert isinstance(step, Outcome)
        assert step.value is False


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("float('nan')", "not JSON compliant"),
        ("'\\ud800'", "surrogates"),
        ("10 ** 4100", "digits"),
        ("{1, 2}", "the type set"),
        ("[echo]", "the type function"),
    ],
)
async def test_arguments_that_are_no_json_fail_in_their_line(value: str, words: str) -> None:
    found, outcome = await batches_of(f"x = 1\nawait echo({value})")
    assert found == []
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.line) == ("TypeError", 2)
    assert words in outcome.error.message


async def test_code_that_waits_for_nothing_ends_at_once() -> None:
    found, outcome = await batches_of("await echo(1)\nawait asyncio.Event().wait()")
    assert found == [[1]]
    assert outcome.error is not None
    assert "will never come" in outcome.error.message
    assert outcome.counts.wall_s < 4
