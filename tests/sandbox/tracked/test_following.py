"""Code that goes on with the names of earlier code: it makes no difference where the cut is."""

from __future__ import annotations

import ast

import pytest
from test_flows import BENIGN, IN_ARGUMENTS, IN_CONTROL, answer
from tracked_driving import TOOLS

from wieldy.sandbox.tracked import Calls, Done, Failed, Reply, Tracked, TrackedCall, TrackedLimits, UnsupportedCodeError

ALL = {f"{kind}: {name}": code for kind, flows in (("argument", IN_ARGUMENTS), ("control", IN_CONTROL),
       ("harmless", BENIGN)) for name, code in flows.items()}  # fmt: skip


def act(code: str, after: Tracked | None) -> tuple[Tracked, list[TrackedCall], Done | Failed]:
    tracked = Tracked(code, tools=TOOLS, after=after)
    calls: list[TrackedCall] = []
    step = tracked.start()
    while isinstance(step, Calls):
        calls += step.calls
        step = tracked.answer([answer(call) for call in step.calls])
    return tracked, calls, step


def labels(calls: list[TrackedCall]) -> list[object]:
    return [(call.name, call.arguments, call.sources, call.decided_by, call.survived) for call in calls]


@pytest.mark.parametrize("code", ALL.values(), ids=ALL)
def test_labels_are_the_same_wherever_the_code_is_cut(code: str) -> None:
    _, whole, _ = act(code, None)
    body = ast.parse(code).body
    for cut in range(1, len(body)):
        first, second = (ast.unparse(ast.Module(part, [])) for part in (body[:cut], body[cut:]))
        earlier, before, end = act(first, None)
        assert isinstance(end, Done)
        _, after, _ = act(second, earlier)
        assert labels([*before, *after]) == labels(whole), f"{first}\n-- then --\n{second}"


def test_every_statement_may_be_code_of_its_own() -> None:
    for code in ALL.values():
        _, whole, _ = act(code, None)
        tracked, calls = None, list[TrackedCall]()
        for statement in ast.parse(code).body:
            tracked, made, _ = act(ast.unparse(statement), tracked)
            calls += made
        assert labels(calls) == labels(whole), code


def test_what_code_that_failed_has_assigned_is_there() -> None:
    earlier, _, end = act("x = web('q')['n']\ny = 1\nz = 1 // 0", None)
    assert isinstance(end, Failed)
    _, calls, end = act("send('bob', x)\nsend('bob', y)", earlier)
    assert [call.sources["body"] for call in calls] == [frozenset({"web"}), frozenset()]
    assert isinstance(end, Done)


def test_limits_and_what_is_printed_are_of_each_code() -> None:
    earlier, _, end = act("def f():\n    print('again')\nf()", None)
    assert isinstance(end, Done)
    _, _, end = act("f()", earlier)
    assert isinstance(end, Done)
    assert end.stdout == "again\n"


def test_a_generator_expression_goes_on_and_prints_where_it_does() -> None:
    earlier, _, _ = act("g = (print(n) for n in [1, 2, 3])\nnext(g)", None)
    _, _, end = act("list(g)\nNone", earlier)
    assert isinstance(end, Done)
    assert end.stdout == "2\n3\n"


def test_names_are_not_taken_from_code_that_is_not_over_or_reached_a_limit() -> None:
    tracked = Tracked("web('q')", tools=TOOLS)
    tracked.start()
    with pytest.raises(RuntimeError, match="has ended"):
        Tracked("1", tools=TOOLS, after=tracked)
    limited = Tracked("while True:\n    pass", tools=TOOLS, limits=TrackedLimits(steps=100))
    assert isinstance(limited.start(), Failed)
    with pytest.raises(RuntimeError, match="has ended"):
        Tracked("1", tools=TOOLS, after=limited)


def test_names_are_taken_once_and_not_by_code_that_cannot_be_tracked() -> None:
    earlier, _, _ = act("x = 1", None)
    with pytest.raises(UnsupportedCodeError):
        Tracked("class A: pass", tools=TOOLS, after=earlier)
    _, _, end = act("x + 1", earlier)
    assert isinstance(end, Done)
    assert end.value == 2
    with pytest.raises(RuntimeError, match="has ended"):
        Tracked("x", tools=TOOLS, after=earlier)


def test_tools_can_be_called_without_await_and_modules_are_there() -> None:
    code = "a, b = await asyncio.gather(web('q'), web('r'))\nc = web.sync('s')\njson.dumps([a.n, b.n, c.n])"
    tracked = Tracked(code, tools=TOOLS)
    step = tracked.start()
    while isinstance(step, Calls):
        step = tracked.answer([Reply(value={"n": call.seq}) for call in step.calls])
    assert isinstance(step, Done)
    assert step.value == "[0, 1, 2]"


def test_what_earlier_code_has_left_counts_and_what_it_has_dropped_does_not() -> None:
    limits, tracked = TrackedLimits(allocated=100_000), None
    codes = ["kept = ['x' * 30_000]", *["kept.append('x' * 30_000)"] * 2, "del kept", "kept = 'x' * 90_000"]
    for code in codes:
        tracked = Tracked(code, tools={}, limits=limits, after=tracked)
        assert isinstance(tracked.start(), Done), code
    assert isinstance(Tracked("'y' * 20_000", tools={}, limits=limits, after=tracked).start(), Failed)


def test_what_one_function_keeps_from_another_counts() -> None:
    limits = TrackedLimits(allocated=100_000)
    code = "def make():\n    text = 'x' * 60_000\n    def f():\n        return text\n    return f\nf = make()"
    earlier = Tracked(code, tools={}, limits=limits)
    assert isinstance(earlier.start(), Done)
    assert isinstance(Tracked("'y' * 60_000", tools={}, limits=limits, after=earlier).start(), Failed)
