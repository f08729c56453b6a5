"""Code runs, its value comes back, variables stay, and what it raises is told."""

from __future__ import annotations

from typing import Any

import pytest

from wieldy import UsageError, sandbox
from wieldy.sandbox import Outcome, Session, TierName

from .conftest import Opener, interpreter_for

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("1 + 1", 2),
        ("x = [1, 2]\nx.append(3)\nx", [1, 2, 3]),
        ("total = 0\nfor i in range(4):\n    total += i", 6),
        ("d = {}\nd['a'] = 1", {"a": 1}),
        ("a, b = 1, 2", 2),
        ("import math", None),
        ("def f():\n    hidden = 3\n    return 4\nx = f()", 4),
        ("print('x')", None),
        ("", None),
        ("y = 1\nraise SystemExit", 1),
        ("import asyncio\nawait asyncio.sleep(0)\n'after'", "after"),
        ("import asyncio\nasync def main():\n    return 7\nasyncio.run(main())", 7),
        ("(1, (2,))", [1, [2]]),
        ("{1: 'a', True and 2: 'b'}", {"1": "a", "2": "b"}),
        ("if __name__ == '__main__':\n    z = 'main'", "main"),
        ("'ü€😀'", "ü€😀"),
    ],
)
async def test_the_value_is_that_of_the_last_expression_or_of_the_last_assigned_name(
    session: Session, code: str, value: object
) -> None:
    outcome = await session.run(code)
    assert (outcome.status, outcome.value, outcome.value_repr, outcome.error) == ("done", value, None, None)


@pytest.mark.parametrize(
    "code",
    [
        "object()",
        "float('nan')",
        "[1, {2, 3}]",
        "'\\ud800'",
        "10 ** 5000",
        "x = []\nx.append(x)\nx",
        "x = []\nfor _ in range(500):\n    x = [x]",
        "{(1, 2): 3}",
        "{1: 'a', '1': 'b'}",
        "'x' * 5_000_000",
        "class Bad:\n    def __repr__(self):\n        raise ValueError\nBad()",
    ],
)
async def test_a_value_that_json_does_not_have_comes_as_a_short_text(session: Session, code: str) -> None:
    outcome = await session.run(code)
    assert outcome.status == "done"
    assert outcome.value is None
    assert outcome.value_repr is not None
    assert 0 < len(outcome.value_repr) < 2200


async def test_variables_stay_until_a_fresh_start_is_asked_for(session: Session) -> None:
    await session.run("x = 41")
    assert (await session.run("x + 1")).value == 42
    fresh = await session.run("x + 1", fresh=True)
    assert fresh.error is not None
    assert fresh.error.type == "NameError"
    assert (await session.run("'x' in globals()")).value is False


async def test_an_error_tells_type_message_line_and_the_frames_of_the_code_only(session: Session) -> None:
    await session.run("def divide(a, b):\n    return a / b")
    outcome = await session.run("import json\n\ndivide(1, 0)")
    assert outcome.status == "error"
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.message, outcome.error.line) == (
        "ZeroDivisionError",
        "division by zero",
        2,
    )
    assert outcome.error.traceback == (
        "Traceback (most recent call last):\n"
        '  File "<code 2>", line 3, in <module>\n'
        "    divide(1, 0)\n"
        '  File "<code 1>", line 2, in divide\n'
        "    return a / b\n"
        "ZeroDivisionError: division by zero"
    )


async def test_after_an_error_the_session_goes_on_with_its_variables(session: Session) -> None:
    await session.run("x = 1\n1 / 0")
    assert (await session.run("x")).value == 1


async def test_code_that_is_no_python_is_an_error_with_its_line(session: Session) -> None:
    outcome = await session.run("x = 1\ny = = 2")
    assert outcome.error is not None
    assert (outcome.error.type, outcome.error.line) == ("SyntaxError", 2)


@pytest.mark.parametrize("code", ["(" * 100_000, "-" * 200_000 + "1", "[" * 500 + "]" * 500, "x\0y", "'\ud800'"])
async def test_code_beyond_the_compiler_is_an_error_or_a_crash_and_never_ours(session: Session, code: str) -> None:
    outcome = await session.run(code)
    assert outcome.status in {"error", "killed"}
    assert (await session.run("1")).value == 1


async def test_the_prelude_runs_before_and_counts_for_no_line(session: Session) -> None:
    prelude = "def double(x):\n    return 2 * x\n"
    assert (await session.run("double(4)", prelude=prelude)).value == 8
    failed = await session.run("double(None)", prelude=prelude)
    assert failed.error is not None
    assert failed.error.line == 1
    assert "prelude" not in failed.error.traceback


async def test_what_is_printed_comes_as_clean_text(session: Session) -> None:
    code = """
import sys, os
print('a\\x1b[31mred\\x1b[0m\\tb\\x07')
print('oops', file=sys.stderr)
os.write(1, b'raw\\xff')
"""
    outcome = await session.run(code)
    assert outcome.stdout == "ared\tb\nraw\ufffd"
    assert outcome.stderr == "oops\n"
    assert outcome.counts.output_bytes == len("a\x1b[31mred\x1b[0m\tb\x07\noops\nraw") + 1


async def test_what_one_run_printed_is_not_in_the_next(session: Session) -> None:
    await session.run("print('first')")
    assert (await session.run("print('second')")).stdout == "second\n"


async def test_two_runs_at_once_in_one_session_are_refused(session: Session) -> None:
    refused: list[UsageError] = []

    async def handler(_call: sandbox.GuestCall) -> None:
        try:
            await session.run("1")
        except UsageError as error:
            refused.append(error)

    outcome = await session.run("call_sync('x')", call=handler)
    assert outcome.status == "done"
    assert "under way" in str(refused[0])


async def test_code_that_is_too_long_to_be_sent_is_refused_before_anything_runs(session: Session) -> None:
    with pytest.raises(UsageError):
        await session.run("x" * 5_000_000)
    assert (await session.run("1")).value == 1


async def test_counts_tell_what_a_run_used(session: Session) -> None:
    outcome: Outcome = await session.run("sum(i * i for i in range(300_000))")
    assert outcome.counts.cpu_s > 0
    assert outcome.counts.wall_s > 0
    assert outcome.counts.peak_memory_bytes > 1 << 20
    assert outcome.counts.calls == 0


async def test_a_tier_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="jail-ns, jail, "):
        async with sandbox.open("gaol"):  # type: ignore[arg-type]
            pass


async def test_a_package_that_is_not_there_is_a_refusal_with_its_name(open_tier: Opener) -> None:
    with pytest.raises(UsageError, match="no_such_package_here"):
        async with open_tier(packages=["no_such_package_here"]):
            pass


@pytest.mark.parametrize(
    "given",
    [
        {"tier": 5},
        {"tier": b"jail"},
        {"tier": []},
        {"tier": [["jail"]]},
        {"tier": {"jail": 1}},
        {"limits": 5},
        {"limits": {"wall_s": 1}},
        {"packages": "numpy"},
        {"packages": [5]},
        {"packages": 5},
        {"readable": "/etc"},
        {"readable": [None]},
        {"python": 5},
        {"image": ["x"]},
    ],
)
async def test_a_sandbox_is_not_opened_with_what_it_does_not_take(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="expected"):
        async with sandbox.open(**given):
            pass


@pytest.mark.parametrize(
    "given",
    [
        {"files": {"a": "text"}},
        {"files": {"a": None}},
        {"files": {"\ud800": b"1"}},
        {"files": {5: b"1"}},
        {"files": {"a": memoryview(b"1")}},
        {"files": ["a"]},
        {"files": 5},
        {"seed": "x"},
        {"seed": 1.5},
        {"clock": "now"},
        {"clock": float("nan")},
        {"prelude": 5},
    ],
)
async def test_a_run_does_not_begin_with_what_it_does_not_take(session: Session, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        await session.run("1", **given)
    assert (await session.run("2")).value == 2


async def test_a_session_that_is_closed_runs_nothing_and_says_so(tier: TierName) -> None:
    async with sandbox.open(tier, python=interpreter_for(tier)) as session:
        assert (await session.run("1")).value == 1
    for again in (session.run("1"), session.run("1", fresh=True), session.answer([])):
        with pytest.raises(UsageError, match="this session is closed"):
            await again
    await session.close()
