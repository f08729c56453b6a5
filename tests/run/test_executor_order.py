"""Laws of calls that run at once: what comes out is what a serial run gives, and nobody waits in vain.

Real calls of real tools, whose code gives way at points where a turnstile, seeded by Hypothesis, lets one of them on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from random import Random
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from wieldy.core.calls import ToolCall
from wieldy.core.context import Context
from wieldy.core.errors import ModelVisibleError
from wieldy.core.messages import Message
from wieldy.run.executor import execute
from wieldy.run.journal import MemoryJournal
from wieldy.run.loop import run
from wieldy.run.outcomes import Outcome, Rest, Step
from wieldy.run.request import RunRequest
from wieldy.run.results import Shaper
from wieldy.run.scheduler import access_of, schedule
from wieldy.run.state import fold
from wieldy.testing import FakeClock, ScriptedModel, call, text
from wieldy.tools import Tool, Toolset, tool

LEAVES = ("a/b/c", "a/d", "b/c", "elsewhere")
KEYS = ("a", "a/b", "a/b/c", "a//d/", "b", "b/c", "b/./c")
PATIENCE = 200
"""How many rounds of the loop may pass without anybody at the turnstile."""

Asked = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A call: the tool's name, what it reads, what it writes."""

keys = st.lists(st.sampled_from(KEYS), max_size=2, unique=True).map(tuple)
calls: st.SearchStrategy[Asked] = st.one_of(
    st.tuples(st.just("look"), keys, st.just(())), st.tuples(st.sampled_from(["change", "anything"]), keys, keys)
)


class Turnstile:
    """Lets on whom chance chooses, one at a time."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._waiting: list[asyncio.Future[None]] = []
        self.most_at_once = 0

    async def give_way(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self.most_at_once = max(self.most_at_once, len(self._waiting))
        await place

    async def turn_until(self, task: asyncio.Task[None]) -> None:
        """Everybody is let on until the task has ended."""
        patience = PATIENCE
        while not task.done():
            for _ in range(3):  # so that those who can come have come
                await asyncio.sleep(0)
            if self._waiting:
                self._waiting.pop(self.random.randrange(len(self._waiting))).set_result(None)
                patience = PATIENCE
            patience -= 1
            assert patience > 0, "a deadlock"


class World:
    """Leaves that calls look at and change; where their code may be interrupted, it gives way."""

    def __init__(self, turnstile: Turnstile | None = None) -> None:
        self.leaves: dict[str, int] = dict.fromkeys(LEAVES, 0)
        self.turnstile = turnstile

    async def act(self, reads: Sequence[str], writes: Sequence[str]) -> int:
        """The stamp of all that was seen; every leaf that is written gets it, on top of what it had."""
        seen = 0
        for leaf in _below((*reads, *writes)):
            seen = hash((seen, leaf, self.leaves[leaf]))
            await self._give_way()
        for leaf in _below(writes):
            before = self.leaves[leaf]
            await self._give_way()
            self.leaves[leaf] = hash((seen, before))
        return seen

    async def _give_way(self) -> None:
        if self.turnstile is not None:
            await self.turnstile.give_way()

    def tools(self) -> dict[str, Tool]:
        async def look(reads: list[str]) -> int:
            """Looks at what is below some keys."""
            return await self.act(reads, ())

        async def change(reads: list[str], writes: list[str]) -> int:
            """Looks, and changes what is below some keys."""
            if not writes:
                return await self.act(LEAVES, LEAVES)  # who does not say what is changed may change anything
            return await self.act(reads, writes)

        async def anything(reads: list[str], writes: list[str]) -> int:
            """Says nothing of what it touches."""
            return await self.act((*reads, *LEAVES), (*writes, *LEAVES))

        made = (
            tool(look, effect="read", reads=["{reads}"]),  # type: ignore[call-overload]
            tool(change, effect="keyed", reads=["{reads}"], writes=["{writes}"]),  # type: ignore[call-overload]
            tool(anything),
        )
        return {each.name: each for each in made}


def _below(names: Sequence[str]) -> list[str]:
    plain = ["/".join(part for part in name.split("/") if part not in {"", "."}) for name in names]
    return [leaf for leaf in LEAVES if any(f"{leaf}/".startswith(f"{name}/") for name in plain)]


class Ends:
    """A recorder that keeps results, and what runs at the same time."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.contents: dict[str, str] = {}

    def may_start(self, step: Step) -> bool:
        return True

    def start(self, steps: Sequence[Step]) -> None:
        self.started += [step.call.id for step in steps]

    def end(self, ended: Sequence[tuple[Step, Outcome]]) -> None:
        for step, outcome in ended:
            assert step.call.id in self.started, "ended before it started"
            assert step.call.id not in self.contents, "ended twice"
            self.contents[step.call.id] = outcome.result.content

    def retry(self, step: Step, error: ModelVisibleError, *, wait_s: float, nothing_done: bool) -> None:
        raise AssertionError("there is nothing to try again")

    def progress(self, step: Step, message: str, fraction: float | None) -> None:
        raise AssertionError("nobody says how far it is")

    def rest(self, step: Step, rest: Rest) -> None:
        raise AssertionError("nobody rests")

    def late(self, step: Step, outcome: Outcome) -> None:
        raise AssertionError("nobody is late")


def steps_of(turn: Sequence[Asked], tools: dict[str, Tool]) -> list[Step]:
    return [
        _step(f"c{index}", tools[name], _arguments(name, reads, writes))
        for index, (name, reads, writes) in enumerate(turn)
    ]


def _arguments(name: str, reads: Sequence[str], writes: Sequence[str]) -> dict[str, Any]:
    return {"reads": list(reads)} | ({} if name == "look" else {"writes": list(writes)})


def _step(call_id: str, subject: Tool, arguments: dict[str, Any]) -> Step:
    return Step(
        call=ToolCall(id=call_id, name=subject.name, arguments=arguments),
        tool=subject,
        arguments=subject.validate(arguments),
        context=Context(run_id="r", call_id=call_id, tool_name=subject.name, idempotency_key=call_id),
    )


async def executed(steps: Sequence[Step], turnstile: Turnstile | None = None) -> Ends:
    ends = Ends()
    waits = schedule([access_of(step.tool, step.arguments.json) for step in steps])
    work = execute(steps, waits, recorder=ends, shaper=Shaper(), clock=FakeClock())
    if turnstile is None:
        await work
    else:
        task = asyncio.create_task(_none(work))
        await turnstile.turn_until(task)
        await task
    return ends


async def _none(work: Any) -> None:
    await work


async def serially(turn: Sequence[Asked], world: World) -> dict[str, str]:
    contents: dict[str, str] = {}
    for index, step in enumerate(steps_of(turn, world.tools())):
        ends = Ends()
        await execute([step], [()], recorder=ends, shaper=Shaper(), clock=FakeClock())
        contents |= {f"c{index}": ends.contents[f"c{index}"]}
    return contents


@given(st.lists(calls, max_size=8), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_whatever_runs_at_once_comes_out_as_the_serial_run(turn: list[Asked], random: Random) -> None:
    async def compare() -> None:
        turnstile, alone = Turnstile(random), World()
        together = World(turnstile)
        ends = await executed(steps_of(turn, together.tools()), turnstile)
        assert ends.contents == await serially(turn, alone)
        assert together.leaves == alone.leaves
        assert sorted(ends.contents) == sorted(ends.started) == sorted(f"c{index}" for index in range(len(turn)))

    asyncio.run(compare())


@given(st.lists(keys, min_size=1, max_size=30), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_readers_run_all_at_once_whatever_they_read(turn: list[tuple[str, ...]], random: Random) -> None:
    async def look() -> None:
        turnstile = Turnstile(random)
        world = World(turnstile)
        readers: list[Asked] = [("look", reads or ("a/d",), ()) for reads in turn]
        await executed(steps_of(readers, world.tools()), turnstile)
        assert turnstile.most_at_once == len(turn)

    asyncio.run(look())


@given(st.lists(calls, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_results_stand_in_the_order_of_calls_however_they_end(turn: list[Asked], random: Random) -> None:
    async def go() -> None:
        turnstile = Turnstile(random)
        tools = World(turnstile).tools()
        script = [[call(name, _arguments(name, reads, writes)) for name, reads, writes in turn], [text("done")]]
        if not turn:
            script = script[1:]
        journal = MemoryJournal()
        request = RunRequest(
            model=ScriptedModel(script),
            toolset=Toolset(tools.values()),
            messages=(Message.user("Go"),),
            journal=journal,
        )
        task = asyncio.create_task(_none(run(request)))
        await turnstile.turn_until(task)
        await task
        state = fold(journal.read(request.run_id))
        answered = [message.result.tool_call_id for message in state.messages if message.result is not None]
        assert answered == [f"c{index}" for index in range(1, len(turn) + 1)]

    asyncio.run(go())


class Turns(RuleBasedStateMachine):
    """Turn after turn over one world that lasts: calls are asked for, and run at once or one by one."""

    def __init__(self) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._turnstile = Turnstile(Random(0))
        self._together, self._alone = World(self._turnstile), World()
        self._turn: list[Asked] = []

    @rule(asked=calls)
    def ask(self, asked: Asked) -> None:
        self._turn.append(asked)

    @rule(leaf=st.sampled_from(LEAVES), count=st.integers(2, 6))
    def ask_for_the_same_again_and_again(self, leaf: str, count: int) -> None:
        self._turn += [("change", (leaf,), (leaf,))] * count

    @rule(seed=st.integers(0, 2**16))
    @precondition(lambda self: bool(self._turn))
    def end_turn(self, seed: int) -> None:
        self._turnstile.random = Random(seed)
        self._runner.run(self._compare())
        self._turn = []

    async def _compare(self) -> None:
        ends = await executed(steps_of(self._turn, self._together.tools()), self._turnstile)
        assert ends.contents == await serially(self._turn, self._alone)
        assert len(ends.contents) == len(self._turn)

    @invariant()
    def the_world_is_that_of_the_serial_run(self) -> None:
        assert self._together.leaves == self._alone.leaves

    def teardown(self) -> None:
        self._runner.close()


Turns.TestCase.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
TestTurns = Turns.TestCase


class Counter:
    """Reads, gives way, writes: what is lost when two do so at once."""

    def __init__(self) -> None:
        self.value = 0
        self._is_busy = threading.Lock()

    def increment(self) -> int:
        assert self._is_busy.acquire(blocking=False), "two at once"
        before = self.value
        for _ in range(1000):
            pass
        self.value = before + 1
        self._is_busy.release()
        return self.value

    async def increment_later(self) -> int:
        before = self.value
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        self.value = before + 1
        return self.value


@pytest.mark.anyio
@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("declared", [{}, {"effect": "unsafe", "writes": ["counter"]}, {"effect": "idempotent"}])
async def test_twenty_increments_give_twenty(is_async: bool, declared: dict[str, Any]) -> None:
    counter = Counter()
    increment = tool(**declared, name="increment")(counter.increment_later if is_async else counter.increment)
    ends = await executed([_step(f"c{number}", increment, {}) for number in range(20)])
    assert counter.value == 20
    assert [ends.contents[f"c{number}"] for number in range(20)] == [str(number + 1) for number in range(20)]


@pytest.mark.anyio
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_read_after_a_write_of_the_same_key_sees_the_new_value(is_async: bool) -> None:
    store: dict[str, str] = {"k": "old"}

    async def write_later(key: str, value: str) -> None:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        store[key] = value

    def write_now(key: str, value: str) -> None:
        store[key] = value

    @tool(effect="read", reads=["{key}"])
    def read(key: str) -> str:
        """Reads."""
        return store[key]

    write = tool(name="write", effect="idempotent", writes=["{key}"])(write_later if is_async else write_now)
    ends = await executed([_step("c1", write, {"key": "k", "value": "new"}), _step("c2", read, {"key": "k"})])
    assert ends.contents["c2"] == "new"
