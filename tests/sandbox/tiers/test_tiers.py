"""What holds in every tier holds in those that speak over standard input and output: containers and Monty."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy import ToolError, UsageError
from wieldy.sandbox import Failure, Reply, TierName

from .conftest import Opened

SCALARS = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_the_value_is_that_of_the_last_expression_or_of_the_name_that_was_assigned_last(opened: Opened) -> None:
    outcome = opened.run("print('said')\n1 + 1")
    assert (outcome.status, outcome.value, outcome.stdout) == ("done", 2, "said\n")
    assert opened.run("a = 3\nb = a + 1").value == 4
    assert opened.run("if a == 4:\n    never = 1").value is None


def test_names_stay_from_run_to_run_until_one_is_fresh(opened: Opened) -> None:
    opened.run("kept = [1]")
    assert opened.run("kept").value == [1]
    lost = opened.run("kept", fresh=True)
    assert lost.error is not None
    assert lost.error.type == "NameError"


def test_an_error_is_told_with_its_type_text_and_line(opened: Opened) -> None:
    error = opened.run("x = 1\nx / 0").error
    assert error is not None
    assert (error.type, error.message, error.line) == ("ZeroDivisionError", "division by zero", 2)
    assert "x / 0" in error.traceback
    wrong = opened.run("def f(:").error
    assert wrong is not None
    assert (wrong.type, wrong.line) == ("SyntaxError", 1)


def test_what_is_written_to_standard_error_is_kept_apart(opened: Opened) -> None:
    outcome = opened.run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert (outcome.stdout, outcome.stderr) == ("out\n", "err\n")


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_what_is_answered_comes_back_unchanged(opened: Opened, value: Any) -> None:
    async def answer(_: object) -> Any:
        return value

    outcome = opened.run("call_sync('it')", call=answer)
    assert outcome.status == "done", outcome
    assert json.dumps(outcome.value) == json.dumps(value)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES, max_size=3))
def test_what_is_passed_comes_out_unchanged(opened: Opened, arguments: dict[str, Any]) -> None:
    outcome = opened.run(f"call_sync('it', {arguments!r})", fresh=False)
    assert outcome.status == "paused", outcome
    assert json.dumps(outcome.waiting[0].arguments) == json.dumps(arguments)
    assert opened.answer(None).status == "done"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_all_calls_that_can_be_made_are_one_batch_in_the_order_in_which_they_were_made(
    opened: Opened, numbers: list[int]
) -> None:
    calls = ", ".join(f"call('n', {{'is': {number}}})" for number in numbers)
    outcome = opened.run(f"import asyncio\nawait asyncio.gather({calls})")
    assert [call.arguments["is"] for call in outcome.waiting] == numbers
    assert [call.seq for call in outcome.waiting] == list(range(1, len(numbers) + 1))
    ended = opened.answer(*(Reply(value=10 * number) for number in numbers))
    assert ended.value == [10 * number for number in numbers]


def test_calls_that_are_never_awaited_are_made_once(opened: Opened) -> None:
    outcome = opened.run("first = call('a')\nsecond = call('b')\nprint('here')\n7")
    assert [call.name for call in outcome.waiting] == ["a", "b"]
    ended = opened.answer(1, 2)
    assert (ended.status, ended.value, ended.stdout, ended.counts.calls) == ("done", 7, "here\n", 2)


def test_a_call_that_waits_and_one_that_does_not_go_out_together(opened: Opened) -> None:
    outcome = opened.run("first = call('a')\nsecond = call_sync('b')\n[await first, second]")
    assert [call.name for call in outcome.waiting] == ["a", "b"]
    assert opened.answer(1, 2).value == [1, 2]


def test_a_call_that_fails_raises_what_code_can_catch(opened: Opened) -> None:
    code = "try:\n    r = call_sync('x')\nexcept ToolError as error:\n    r = 'caught ' + str(error)\nr"
    assert opened.run(code).status == "paused"
    assert opened.answer(Failure(kind="denied", message="not today")).value == "caught not today"

    async def refuse(_: object) -> Any:
        raise ToolError("nor now")

    assert opened.run(code, call=refuse).value == "caught nor now"


def test_a_crash_of_a_handler_is_told_to_the_program_only(opened: Opened) -> None:
    async def crash(_: object) -> Any:
        raise RuntimeError("the password is swordfish")

    outcome = opened.run("call_sync('x')", call=crash)
    assert outcome.error is not None
    assert outcome.error.message == "internal error"
    assert "swordfish" in outcome.handler_crashes[0]
    assert "swordfish" not in outcome.error.traceback


def test_arguments_that_are_no_json_are_the_codes_own_error(opened: Opened) -> None:
    error = opened.run("call_sync('x', {'a': {1, 2}})").error
    assert error is not None
    assert (error.type, "must be JSON" in error.message) == ("TypeError", True)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), clock=st.integers(0, 4 * 10**9))
def test_chance_and_time_follow_from_what_is_given(opened: Opened, seed: int, clock: int) -> None:
    code = "import random, time\n[random.random(), random.randint(0, 10**9), time.time()]"
    first, second = (opened.run(code, seed=seed, clock=clock) for _ in range(2))
    assert first.value == second.value
    assert isinstance(first.value, list)
    assert first.value[2] == clock


def test_time_that_stands_moves_by_waiting_and_by_replies(opened: Opened) -> None:
    code = "import asyncio, time\ntime.sleep(3600)\nawait asyncio.sleep(60)\ncall_sync('x')\ntime.time()"
    assert opened.run(code, clock=1000).status == "paused"
    assert opened.answer(Reply(value=None, time=9000.0)).value == 9000
    waited = opened.run("import time\nbefore = time.time()\ntime.sleep(50)\ntime.time() - before", clock=1000)
    assert waited.value == 50


ENDLESS = "while True:\n    pass"
UNDYING = f"try:\n    while True:\n        pass\nexcept BaseException:\n    pass\n{ENDLESS}"


@pytest.mark.parametrize(
    ("code", "reasons"),
    [
        (ENDLESS, {"cpu_time", "wall_time"}),
        (UNDYING, {"cpu_time", "wall_time"}),
        ("grown = 'x'\nwhile True:\n    grown += grown", {"memory"}),
        ("for _ in range(3000):\n    print('y' * 1000)", {"output"}),
        ("for each in range(100):\n    call_sync('n')", {"calls"}),
    ],
)  # fmt: skip
def test_each_limit_is_a_reason_and_the_next_run_works(opened: Opened, code: str, reasons: set[str]) -> None:
    async def answer(_: object) -> Any:
        return None

    outcome = opened.run(code, call=answer)
    assert (outcome.status, outcome.killed_because in reasons) == ("killed", True), outcome
    assert opened.run("20 + 1").value == 21


def test_a_value_that_json_does_not_have_is_described(opened: Opened) -> None:
    outcome = opened.run("{1, 2}")
    assert (outcome.status, outcome.value, outcome.value_repr) == ("done", None, "{1, 2}")


def test_a_paused_run_is_over_when_another_begins_afresh(opened: Opened) -> None:
    assert opened.run("call_sync('x')").status == "paused"
    with pytest.raises(UsageError, match="paused"):
        opened.run("1")
    assert opened.run("2", fresh=True).value == 2


def test_the_session_says_which_tier_it_is(opened: Opened, tier: TierName) -> None:
    assert opened.session.tier.name == tier
    assert opened.session.tier.works
