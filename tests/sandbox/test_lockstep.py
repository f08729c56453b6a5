"""Code and host take turns: what is asked depends on the code and the answers, and never on timing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wieldy.sandbox import Failure, Outcome, Session

pytestmark = pytest.mark.anyio

STANDING = datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)

PRELUDE = """
import asyncio
async def echo(x=None):
    return await call("echo", {"x": x})
echo.sync = lambda x=None: call_sync("echo", {"x": x})
"""


async def batches_of(
    session: Session, code: str, answer: Callable[[Any], Any] = lambda x: x, **options: Any
) -> tuple[list[list[Any]], Outcome]:
    """What the code asks for, batch by batch, where every call brings its argument or what `answer` makes of it."""
    found: list[list[Any]] = []
    outcome = await session.run(code, **{"prelude": PRELUDE, "seed": 1, "clock": STANDING, **options})
    while outcome.status == "paused":
        asked = [call.arguments.get("x") for call in outcome.waiting]
        found.append(asked)
        outcome = await session.answer([answer(x) for x in asked])
    return found, outcome


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
    ],
)
async def test_a_batch_is_all_that_can_be_asked_for(
    session: Session, code: str, batches: list[list[Any]], value: Any
) -> None:
    found, outcome = await batches_of(session, code)
    assert (found, outcome.status, outcome.value) == (batches, "done", value)


@pytest.mark.parametrize(
    ("code", "batches", "value"),
    [
        ("found = await asyncio.gather(*map(echo, range(40)))\nlen(found)", [list(range(40))], 40),
        (
            "found = [await each for each in asyncio.as_completed(list(map(echo, range(40))))]\nfound",
            [list(range(40))],
            list(range(40)),
        ),
        (
            "done, _ = await asyncio.wait([asyncio.create_task(echo(n)) for n in range(40)])\n"
            "[await echo(each.result() + 100) for each in done]",
            [list(range(40)), *([n + 100] for n in range(40))],
            [n + 100 for n in range(40)],
        ),
        (
            "async with asyncio.TaskGroup() as group:\n    for n in range(40):\n        group.create_task(echo(n))\n1",
            [list(range(40))],
            1,
        ),
    ],
)
async def test_the_order_of_calls_is_that_of_the_code_whatever_sets_it_goes_through(
    session: Session, code: str, batches: list[list[Any]], value: Any
) -> None:
    found, outcome = await batches_of(session, code)
    assert (found, outcome.status, outcome.value) == (batches, "done", value)


@pytest.mark.parametrize(
    ("code", "batches", "value"),
    [
        ("asyncio.create_task(echo(1))\n5", [[1]], 5),
        ("task = asyncio.create_task(echo(1))\nawait asyncio.sleep(0)\n5", [[1]], 5),
        ("call('echo', {'x': 1})\ncall('echo', {'x': 2})\n5", [[1, 2]], 5),
        ("call('echo', {'x': 1})\nawait echo(2)", [[1, 2]], 2),
        (
            "async def twice():\n    await asyncio.sleep(60)\n    await echo(await echo(1) + 1)\n"
            "asyncio.create_task(twice())\n5",
            [[1], [2]],
            5,
        ),
        (
            "async def starts():\n    asyncio.create_task(echo(await echo(1) + 1))\nasyncio.create_task(starts())\n5",
            [[1], [2]],
            5,
        ),
        ("async def waits():\n    await asyncio.Event().wait()\nasyncio.create_task(waits())\n5", [], 5),
        (
            "async def waits():\n    try:\n        await asyncio.Event().wait()\n"
            "    finally:\n        await echo('end')\nasyncio.create_task(waits())\n5",
            [["end"]],
            5,
        ),
        ("asyncio.get_running_loop().call_later(5, echo.sync, 1)\n5", [], 5),
        ("exit(echo.sync(1) - 1)", [[1]], None),
    ],
)
async def test_what_code_has_begun_goes_on_after_its_last_line_until_it_ends_or_is_stuck(
    session: Session, code: str, batches: list[list[Any]], value: Any
) -> None:
    found, outcome = await batches_of(session, code)
    assert (found, outcome.status, outcome.value) == (batches, "done", value)
    assert (await batches_of(session, "len(asyncio.all_tasks())"))[1].value == 1


async def test_what_a_task_raises_that_was_left_is_how_the_run_ends(session: Session) -> None:
    code = "async def fails():\n    await echo(1)\n    1 / 0\nasyncio.create_task(fails())\n5"
    found, outcome = await batches_of(session, code)
    assert (found, outcome.status) == ([[1]], "error")
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.line) == ("ZeroDivisionError", 3)


async def test_after_an_error_what_was_issued_is_made_and_nothing_further(session: Session) -> None:
    code = (
        "async def later():\n    await asyncio.sleep(1)\n    await echo('never')\n"
        "asyncio.create_task(later())\ncall('echo', {'x': 1})\n1 / 0"
    )
    found, outcome = await batches_of(session, code)
    assert (found, outcome.status) == ([[1]], "error")
    assert (await batches_of(session, "len(asyncio.all_tasks())"))[1].value == 1


@pytest.mark.parametrize(
    "code",
    [
        "async def main():\n    return await asyncio.gather(echo(1), echo(2))\nasyncio.run(main())",
        "async def main():\n    return await asyncio.gather(echo(1), echo(2))\nawait asyncio.sleep(0)\n"
        "asyncio.run(main())",
        "async def main():\n    return await asyncio.gather(echo(1), echo(2))\n"
        "with asyncio.Runner() as runner:\n    found = runner.run(main())\nfound",
        "async def main():\n    return await asyncio.gather(echo(1), echo(2))\n"
        "asyncio.get_event_loop().run_until_complete(main())",
        "async def main():\n    return await asyncio.gather(echo(1), echo(2))\n"
        "loop = asyncio.new_event_loop()\nfound = loop.run_until_complete(main())\nloop.close()\nfound",
        "async def main():\n    return await asyncio.gather(echo(1), echo(2))\n"
        "def inner():\n    return asyncio.run(main())\nasync def outer():\n    return inner()\nawait outer()",
    ],
)
async def test_loops_may_run_within_loops(session: Session, code: str) -> None:
    found, outcome = await batches_of(session, code)
    assert (found, outcome.status, outcome.value) == ([[1, 2]], "done", [1, 2])


async def test_calls_of_a_suspended_loop_go_out_with_those_of_the_loop_within(session: Session) -> None:
    code = "first = asyncio.create_task(echo(1))\nawait asyncio.sleep(0)\n[asyncio.run(echo(2)), await first]"
    assert await batches_of(session, code) == ([[1, 2]], Anything(value=[2, 1]))


async def test_tasks_of_the_loop_itself_go_on_in_a_run_within_it(session: Session) -> None:
    code = (
        "async def inner():\n    await asyncio.sleep(1)\n    return await first\n"
        "first = asyncio.create_task(echo(1))\n"
        "[asyncio.get_event_loop().run_until_complete(inner()), await echo(2)]"
    )
    assert await batches_of(session, code) == ([[1], [2]], Anything(value=[1, 2]))


class Anything:
    """Equal to an outcome with that value."""

    def __init__(self, *, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and (other.status, other.value) == ("done", self.value)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("lock = asyncio.Lock()\nasync with lock:\n    pass", "async with lock:\n    found = 'locked'\nfound"),
        ("import decimal\ndecimal.getcontext().prec = 3", "import decimal\nstr(decimal.Decimal(1) / 3)"),
        ("queue = asyncio.Queue()\nawait queue.put(1)\nawait queue.get()", "await queue.put(2)\nawait queue.get()"),
    ],
)
async def test_what_belongs_to_a_loop_or_a_context_is_there_in_the_next_run(
    session: Session, code: str, value: str
) -> None:
    assert (await batches_of(session, code))[1].status == "done"
    outcome = (await batches_of(session, value))[1]
    assert outcome.value in ("locked", "0.333", 2), outcome


@pytest.mark.parametrize(
    ("code", "value"),
    [
        (
            "import time\nbegun = [time.time(), time.monotonic()]\nawait asyncio.sleep(100)\ntime.sleep(20)\n"
            "[time.time() - begun[0], time.monotonic() - begun[1]]",
            [120.0, 120.0],
        ),
        (
            "try:\n    await asyncio.wait_for(asyncio.sleep(60), 5)\nexcept TimeoutError:\n    found = 'late'\nfound",
            "late",
        ),
        (
            "found = []\nasync def after(n):\n    await asyncio.sleep(n)\n    found.append(n)\n"
            "await asyncio.gather(*map(after, [3, 1e9, 2, 0.5]))\nfound",
            [0.5, 2, 3, 1e9],
        ),
        ("import time\ntry:\n    time.sleep(-1)\nexcept ValueError:\n    found = 'never'\nfound", "never"),
    ],
)
async def test_where_time_stands_waiting_takes_none_and_moves_it(session: Session, code: str, value: Any) -> None:
    found, outcome = await batches_of(session, code)
    assert (found, outcome.status, outcome.value) == ([], "done", value)
    assert outcome.counts.wall_s < 9


@pytest.mark.parametrize("waits", ["asyncio.Event().wait()", "asyncio.sleep(float('inf'))", "asyncio.Future()"])
async def test_code_that_waits_for_nothing_ends_at_once(session: Session, waits: str) -> None:
    for clock in (None, STANDING):
        found, outcome = await batches_of(session, f"await echo(1)\nawait {waits}", clock=clock)
        assert found == [[1]]
        assert outcome.error is not None
        assert "will never come" in outcome.error.message


async def test_a_failure_is_raised_where_it_is_awaited_and_the_others_come(session: Session) -> None:
    code = "found = await asyncio.gather(echo(1), echo(2), return_exceptions=True)\n[found[0], found[1].kind]"
    _, outcome = await batches_of(session, code, lambda x: Failure(kind="denied", message="no") if x == 2 else x)
    assert outcome.value == [1, "denied"]


async def test_batches_and_answers_that_are_too_large_for_one_frame_come_in_several(session: Session) -> None:
    code = "sum(map(len, await asyncio.gather(*(echo(str(n) * 1_000_000) for n in range(9)))))"
    found, outcome = await batches_of(session, code, lambda x: "é" * 800_000 + x[0])
    assert [[each[0] for each in batch] for batch in found] == [list("012345678")]
    assert outcome.value == 9 * 800_001


async def test_arguments_that_are_too_large_fail_in_their_line_and_can_be_caught(session: Session) -> None:
    code = "try:\n    await echo('x' * 5_000_000)\nexcept ToolError as error:\n    found = error.kind\nfound"
    found, outcome = await batches_of(session, code)
    assert (found, outcome.value) == ([], "too_large")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("float('nan')", "the number nan"),
        ("'\\ud800'", "half a character"),
        ("10 ** 4100", "digits"),
        ("{1, 2}", "the type set"),
        ("[echo]", "the type function"),
    ],
)
async def test_arguments_that_are_no_json_fail_in_their_line(session: Session, value: str, words: str) -> None:
    found, outcome = await batches_of(session, f"x = 1\nawait echo({value})")
    assert found == []
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.line) == ("TypeError", 2)
    assert words in outcome.error.message


async def test_a_handler_of_a_signal_may_break_off_a_call_and_the_answer_is_not_taken_for_that_of_another(
    session: Session,
) -> None:
    code = """
import signal
def alarm(*_):
    raise InterruptedError
signal.signal(signal.SIGALRM, alarm)
found = []
for n in range(3):
    signal.setitimer(signal.ITIMER_REAL, 0.0001)
    try:
        found.append(echo.sync(n))
    except InterruptedError:
        found.append("broken off")
    signal.setitimer(signal.ITIMER_REAL, 0)
found + [echo.sync("last")]
"""
    _, outcome = await batches_of(session, code)
    assert isinstance(outcome.value, list)
    assert all(each in (n, "broken off") for n, each in enumerate(outcome.value[:3]))
    assert outcome.value[3:] == ["last"]


# Programs of tasks that wait for one another, for time and for calls, written down as data.

STEPS = st.one_of(
    st.tuples(st.just("ask"), st.integers(0, 9)),
    st.tuples(st.just("sync"), st.integers(0, 9)),
    st.tuples(st.just("sleep"), st.integers(0, 3)),
    st.tuples(st.just("yield"), st.just(0)),
    st.tuples(st.just("start"), st.integers(0, 3)),
    st.tuples(st.just("gather"), st.integers(2, 4)),
)
PROGRAMS = st.lists(st.lists(STEPS, max_size=4), min_size=1, max_size=4)

RUNNING = """
import random, time
log, started = [], set()
async def program(name):
    for kind, value in PROGRAMS[name]:
        if kind == "ask":
            log.append([name, await echo(value), time.time(), random.random()])
        elif kind == "sync":
            log.append([name, echo.sync(value)])
        elif kind == "sleep":
            await asyncio.sleep(value)
        elif kind == "yield":
            await asyncio.sleep(0)
        elif kind == "start" and value % len(PROGRAMS) not in started:
            started.add(value % len(PROGRAMS))
            asyncio.create_task(program(value % len(PROGRAMS)))
        elif kind == "gather":
            log.append([name, await asyncio.gather(*(echo([name, value, n]) for n in range(value)))])
await program(0)
log
"""


@given(PROGRAMS, st.booleans())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_running_again_with_the_same_answers_is_the_same(
    session: Session, programs: list[Any], is_in_one_worker: bool
) -> None:
    code = f"PROGRAMS = {programs!r}\n{RUNNING}"
    first = await batches_of(session, code, fresh=True)
    again = await batches_of(session, code, fresh=not is_in_one_worker)
    assert first[1].status == "done", first[1]
    assert (first[0], first[1].value) == (again[0], again[1].value)
