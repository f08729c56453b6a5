"""With a seed and a clock the same code gives the same, in every worker; without, chance and time are real."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from wieldy.sandbox import GuestCall, Reply, Session

pytestmark = pytest.mark.anyio

DRAW = """
import os, random, secrets, uuid, tempfile
[random.random(), random.SystemRandom().random(), secrets.token_hex(8), os.urandom(4).hex(), str(uuid.uuid4()),
 str(uuid.uuid1()), random.Random().random(), hash("text"), list({"a", "b", "c", "d"}), id(None) != 0]
"""

TIMES = """
import time, datetime
[time.time(), time.time_ns(), time.monotonic(), time.perf_counter(), time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
 datetime.datetime.now().isoformat(), datetime.datetime.now(datetime.UTC).isoformat(),
 datetime.date.today().isoformat(), isinstance(datetime.datetime.now(), datetime.datetime),
 (datetime.datetime.now() - datetime.datetime(2020, 1, 1)).days]
"""

STANDING = datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)


async def test_the_same_seed_draws_the_same_in_every_worker(session: Session) -> None:
    first = await session.run(DRAW, seed=7, clock=STANDING)
    second = await session.run(DRAW, seed=7, clock=STANDING, fresh=True)
    again = await session.run(DRAW, seed=7, clock=STANDING)
    other = await session.run(DRAW, seed=8, clock=STANDING)
    assert first.status == "done"
    assert first.value == second.value == again.value
    assert isinstance(first.value, list)
    assert isinstance(other.value, list)
    same = [one == two for one, two in zip(first.value, other.value, strict=True)]
    assert same == [False] * 7 + [True] * 3


async def test_without_a_seed_chance_is_real_even_after_a_run_with_one(session: Session) -> None:
    await session.run(DRAW, seed=7)
    one = await session.run(DRAW)
    two = await session.run(DRAW, fresh=True)
    three = await session.run(DRAW, fresh=True)
    assert isinstance(one.value, list)
    assert isinstance(two.value, list)
    assert isinstance(three.value, list)
    for found, other in ((one, two), (two, three)):
        assert not [
            index
            for index in range(7)
            if found.value[index] == other.value[index]  # type: ignore[index,call-overload]
        ]


async def test_a_standing_clock_is_what_every_clock_of_the_code_says(session: Session) -> None:
    seconds = STANDING.timestamp()
    outcome = await session.run(TIMES, clock=STANDING)
    assert outcome.value == [
        seconds,
        int(seconds * 1e9),
        seconds,
        seconds,
        "2024-02-29 12:30:15",
        "2024-02-29T12:30:15",
        "2024-02-29T12:30:15+00:00",
        "2024-02-29",
        True,
        1520,
    ]


async def test_a_standing_clock_moves_with_replies_and_never_back(session: Session) -> None:
    times = {"later": 1_000_060.0, "earlier": 5.0, "none": None}

    async def handler(call: GuestCall) -> Reply:
        return Reply(value=call.name, time=times[call.name])

    code = """
import time
found = [time.time()]
for name in ("later", "earlier", "none"):
    call_sync(name)
    found.append(time.time())
found
"""
    outcome = await session.run(code, clock=1_000_000, call=handler)
    assert outcome.value == [1_000_000, 1_000_060, 1_000_060, 1_000_060]


async def test_without_a_clock_time_is_real_even_after_a_run_with_one(session: Session) -> None:
    await session.run(TIMES, clock=STANDING)
    before = time.time()
    outcome = await session.run("import time, datetime\n[time.time(), datetime.datetime.now().timestamp()]")
    assert isinstance(outcome.value, list)
    for found in outcome.value:
        assert isinstance(found, float)
        assert before <= found <= time.time()


async def test_without_a_clock_waiting_is_waiting(session: Session) -> None:
    code = """
import asyncio, time
before = time.monotonic()
await asyncio.sleep(0.01)
time.sleep(0.01)
await asyncio.gather(asyncio.sleep(0.01), asyncio.sleep(0.005))
time.monotonic() - before
"""
    for clock in (STANDING, None):
        outcome = await session.run(code, clock=clock)
        assert isinstance(outcome.value, float)
        assert outcome.value >= 0.03 - 1e-6


async def test_without_a_clock_a_timeout_ends_what_never_comes(session: Session) -> None:
    code = "import asyncio\nasync with asyncio.timeout(0.01):\n    await asyncio.Event().wait()"
    outcome = await session.run(code)
    assert outcome.error is not None
    assert outcome.error.type == "TimeoutError"
