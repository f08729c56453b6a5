"""An example is run from its record: it makes no call, and what differs is told."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import sandbox
from wieldy.core.errors import SkillError
from wieldy.core.json import canonical_json
from wieldy.run.actions.code.skills.skill import Example, RecordedCall, Skill, tool_record
from wieldy.run.actions.code.skills.trial import check_skill, check_value, first_difference, tried
from wieldy.sandbox import SandboxLimits, Session
from wieldy.tools import tool

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("sandboxed")]

LIMITS = SandboxLimits(wall_s=60, cpu_s=2)


@tool(effect="unsafe")
def pay(who: str, amount: int = 1) -> dict[str, Any]:
    """Pays."""
    raise AssertionError("nothing is to be paid by a check")


SOURCE = '''
async def total(names: list[str]) -> int:
    """Pays everybody, and sums up."""
    paid = await asyncio.gather(*[pay(name) for name in names])
    try:
        await pay(who="", amount=5)
    except ToolError as error:
        assert error.kind == "tool"
    return sum(each.amount for each in paid)
'''
CALLS = (
    RecordedCall(name="pay", arguments={"who": "Ada"}, value={"amount": 3}),
    RecordedCall(name="pay", arguments={"who": "Bo"}, value={"amount": 4}),
    RecordedCall(name="pay", arguments={"who": "", "amount": 5}, failure="tool", message="Nobody."),
)


def a_skill(source: str = SOURCE, *, check: str = "result == 7", **example: Any) -> Skill:
    known: dict[str, Any] = {
        "arguments": {"names": ["Ada", "Bo"]},
        "calls": CALLS,
        "value": 7,
        "run_id": "r",
        "started": 86_400.0,
    }
    return Skill(
        name="total",
        source=source,
        tools=(tool_record(pay.definition),),
        example=Example(**(known | example)),
        check=check,
    )


@asynccontextmanager
async def session() -> AsyncGenerator[Session]:
    async with sandbox.open(limits=LIMITS) as opened:
        yield opened


async def refused(skill: Skill) -> str:
    async with session() as opened:
        with pytest.raises(SkillError) as error:
            await check_skill(skill, opened, LIMITS)
    return str(error.value)


async def test_a_skill_that_does_what_is_recorded_passes_and_passes_again() -> None:
    async with session() as opened:
        for _ in range(2):
            await check_skill(a_skill(), opened, LIMITS)
            await check_skill(a_skill(check="def f():\n    assert result > 6\nf()"), opened, LIMITS)
            await check_skill(a_skill(check="assert isinstance(result, int)\nassert result > 6"), opened, LIMITS)


@pytest.mark.parametrize(
    ("skill", "words"),
    [
        (a_skill(value=8), "brought 8, and the function returns 7"),
        (a_skill(value=7.0), "brought 7.0, and the function returns 7"),
        (a_skill(check="result > 7"), "it is false: result > 7"),
        (a_skill(check="assert result > 7, 'too little'"), "AssertionError: too little"),
        (a_skill(check="result.amount"), "AttributeError"),
        (a_skill(check="result = 5"), "does not look at `result`"),
        (a_skill(check="def f():\n    assert result > 100\n"), "does not look at `result`"),
        (a_skill(check="def f(result):\n    assert result > 1\nf(5)"), "does not look at `result`"),
        (a_skill(check="True or result"), "does not look at `result`"),
        (a_skill(SOURCE.replace("-> int", "-> str")), "What `total` returned, and the type that it says, do not fit"),
        (a_skill(SOURCE.replace("-> int", "-> list[int] | None")), "What `total` returned"),
        (a_skill(check="result == 7 and call_sync('pay', {})"), "has not recorded"),
        (a_skill(calls=CALLS[1:]), 'asks for pay({"who":"Ada"}), which the example has not recorded'),
        (a_skill(calls=(*CALLS, CALLS[0])), "does not make that call"),
        (a_skill(arguments={}), "Expected arguments for `total"),
        (a_skill(arguments={"names": ["Ada", "Bo", "Cy"]}), '"Cy"'),
        (a_skill(SOURCE.replace("total", "sum_up")), "`sum_up`"),
        (a_skill(SOURCE.replace("sum(", "sums(")), "the name `sums` is not known"),
        (a_skill(SOURCE.replace("sum(", "1 / 0 + sum(")), "ZeroDivisionError"),
        (a_skill(SOURCE.replace("return sum", "return object() or sum")), "Expected `total` to return what JSON has"),
        (a_skill(SOURCE.replace("return sum", "while True: pass\n    return sum")), "CPU time"),
    ],
)
async def test_what_differs_is_told(skill: Skill, words: str) -> None:
    assert words in await refused(skill)


async def test_chance_and_time_are_those_of_the_example() -> None:
    source = (
        'import random, time\ndef total(names: list[str]) -> list[float]:\n    """Draws."""\n'
        "    return [random.random(), time.time()]\n"
    )
    async with session() as opened:
        first = await tried(a_skill(source), opened, LIMITS, pool=())
        assert isinstance(first.value, list)
        assert first.value[1] == 86_400.0
        await check_skill(a_skill(source, value=first.value, calls=(), check="result[0] < 1"), opened, LIMITS)
        other = await tried(a_skill(source, run_id="other"), opened, LIMITS, pool=())
        assert other.value != first.value


async def test_equal_calls_are_answered_in_their_order() -> None:
    source = 'async def total() -> list[int]:\n    """Pays."""\n    return [(await pay("a")).n for _ in range(3)]\n'
    calls = tuple(RecordedCall(name="pay", arguments={"who": "a"}, value={"n": n}) for n in range(4))
    async with session() as opened:
        trial = await tried(a_skill(source, arguments={}), opened, LIMITS, pool=calls)
    assert trial.value == [0, 1, 2]
    assert (trial.used, trial.unused) == (calls[:3], calls[3:])


async def test_one_trial_leaves_nothing_to_the_next() -> None:
    source = 'def total() -> int:\n    """Counts."""\n    import builtins\n    builtins.left = 1\n    return 1\n'
    async with session() as opened:
        await tried(a_skill(source, arguments={}), opened, LIMITS, pool=())
        with pytest.raises(SkillError, match="AttributeError"):
            await check_value("total", "__import__('builtins').left or result", 1, opened, LIMITS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0]) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON)
def test_the_first_difference_is_where_two_values_differ(one: Any, other: Any) -> None:
    found = first_difference(one, other)
    assert (found is None) == (canonical_json(one) == canonical_json(other))
    if found is not None:
        for step in found[0].split("/")[1:]:
            one, other = (value[int(step)] if isinstance(value, list) else value[step] for value in (one, other))
        assert (canonical_json(one), canonical_json(other)) == found[1:]
