"""Which names code takes from earlier actions, and which interpreter it can run in for that."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Toolset, tool
from wieldy.run.actions.code.checking import ANY_NAME
from wieldy.run.actions.code.placing import moved, placed, refused
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.run.actions.code.taken import names_taken
from wieldy.sandbox.tracked import TrackedLimits


@tool(effect="read")
def look(at: str = "") -> dict[str, Any]:
    """Look."""
    return {"at": at}


STUBS = stubs_of(Toolset([look]).definitions)


@pytest.mark.parametrize(
    ("code", "taken"),
    [
        ("x = 1\nx", ""),
        ("x\nx = 1", "x"),
        ("x += 1", "x"),
        ("x = 1\nx += y", "y"),
        ("x = x + 1", "x"),
        ("x: int = y", "y int"),
        ("x: int\nx", "x int"),
        ("if a:\n    x = 1\nelse:\n    x = 2\nx", "a"),
        ("if a:\n    x = 1\nx", "a x"),
        ("for r in rows:\n    r.x", "rows"),
        ("for r in rows:\n    pass\nr", "rows r"),
        ("while a:\n    x = 1\nx", "a x"),
        ("try:\n    x = look()\nexcept ToolError as e:\n    x = e\nx", "look ToolError"),
        ("try:\n    x = look()\nexcept ToolError:\n    pass\nx", "look ToolError x"),
        ("with a as f:\n    x = f\nx", "a"),
        ("[r for r in rows if r]", "rows"),
        ("def f(n):\n    m = n\n    return m + k\nf(1)", "k"),
        ("import json as j, a.b\nj, a", ""),
        ("from json import loads\nloads", ""),
        ("x, (y, *z) = w\nx, y, z", "w"),
        ("d['k'] = 1\nd.k = 2", "d"),
        ("del x", "x"),
        ("def f():\n    global g\n    g = 1\ng", "g"),
        ("def f(i):\n    return 1 if i < 2 else i * f(i - 1)\nf(3)", ""),
        ("def f(i):\n    return i and g(i - 1)\ndef g(i):\n    return i and f(i - 1)\nf(3)", ""),
        ("def f(i):\n    return g(i)\nf(1)\ndef g(i):\n    return i", "g"),
        ("def f():\n    return rate\nrate = 2\nf()", ""),
        ("def f():\n    return rate\nf()\nrate = 2", "rate"),
        ("def f():\n    return rate\ng = f\nrate = 2\ng()", "rate"),
        ("def f():\n    return rate", "rate"),
        ("def mk():\n    def add(n):\n        return n\n    return add\nadd = mk()\nadd(1)", ""),
        ("xs = [1]\nfor k in sorted(xs, key=lambda k: k):\n    k", "sorted"),
        ("x = [y for y in [1, 2]]\ny = 3", ""),
        ("x = [y for y in z for z in y]", "z"),
        ("f = lambda n: n and f(n - 1)\nf(3)", ""),
        ("f = lambda n=m: n", "m"),
        ("n = 0\ndef f():\n    global n\n    n += 1\nf()", ""),
        ("def f():\n    global n\n    n += 1\nf()", "n"),
        ("if (m := look()):\n    m", "look"),
        ("a and (m := 1)\nm", "a m"),
        ("class A:\n    def f(self):\n        return k\nA().f()", "k"),
    ],
)
def test_a_name_is_taken_that_is_looked_up_before_it_surely_has_a_value(code: str, taken: str) -> None:
    assert names_taken(code) == frozenset(taken.split())


names = st.sampled_from("abc")
expressions = st.recursive(
    st.just("1") | names, lambda inner: st.builds("({} + {})".format, inner, inner), max_leaves=3
)


def indented(body: str) -> str:
    return textwrap.indent(body, "    ")


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    blocks = inner.map(indented)
    return st.one_of(
        st.builds("def f(a=1):\n    return {} + g()".format, expressions),
        st.builds("def g(*, c={}):\n    return [{} for {} in [1]][0]".format, expressions, expressions, names),
        st.builds("g = lambda b=1: {}".format, expressions),
        st.sampled_from(["f()", "g()", "[f() for a in [1]]", "(a := g()) and (b := f())"]),
        st.builds("if {} > 1:\n{}\nelse:\n{}".format, expressions, blocks, blocks),
        st.builds("if {} > 1:\n{}".format, expressions, blocks),
        st.builds("for {} in [{}][:{}]:\n{}".format, names, expressions, st.sampled_from("01"), blocks),
        st.builds("try:\n{}\n    1 // ({} - 1)\nexcept ZeroDivisionError:\n{}".format, blocks, expressions, blocks),
        st.builds("try:\n{}\nfinally:\n{}".format, blocks, blocks),
        st.builds("while {} > 2:\n{}\n    break".format, expressions, blocks),
        st.builds("[{} for {} in [1, 2]]".format, expressions, names),
        st.builds("{}\n{}".format, inner, inner),
    )


programs = st.recursive(
    st.builds("{} = {}".format, names, expressions)
    | st.builds("{} += {}".format, names, expressions)
    | st.builds("({}, {}) = (1, {})".format, names, names, expressions)
    | expressions,
    compound,
    max_leaves=6,
)


@given(programs)
def test_code_that_finds_what_it_takes_lacks_no_name(code: str) -> None:
    given: dict[str, object] = {"a": 1, "b": 1, "c": 1, "f": lambda: 1, "g": lambda: 1}
    exec(code, {name: value for name, value in given.items() if name in names_taken(code)})


@pytest.mark.parametrize(
    ("code", "because"),
    [
        ("page = await look()\npage.at", None),
        ("page", None),
        ("rows = [1]\nrows", None),
        ("class A: pass", "Line 1: `class` cannot be tracked. Use dicts and functions"),
        ("import os", None),
        ("getattr(1, 'real')", "`getattr` is not there in tracked code"),
        ("rows[0]", "`rows` was left by code that ran in the sandbox"),
        ("await call('look', {})", "`call` is not there in tracked code"),
        ("try:\n    await look()\nexcept ToolError:\n    json.dumps(1)", None),
    ],
)
def test_code_is_tracked_where_it_and_its_names_allow_it(code: str, because: str | None) -> None:
    placement = placed(code, STUBS, tracked={"page"}, sandboxed={"rows"}, limits=TrackedLimits())
    if "import os" in code:
        assert placement.because is not None
        return
    assert placement.because == because
    assert placement.lacking == ()
    assert placement.is_tracked is (because is None)


@pytest.mark.parametrize("code", ["x = (", "\0", "(" * 300 + ")" * 300, "if x:\n" * 101, "match x:\n  case 1: y"])
def test_code_that_cannot_be_read_or_tracked_is_placed_all_the_same(code: str) -> None:
    placement = placed(code, STUBS, tracked=set(), sandboxed=set(), limits=TrackedLimits())
    assert not placement.is_tracked
    assert placement.lacking == ()


def test_code_that_needs_names_of_both_kinds_can_run_nowhere_and_is_told_what_to_do() -> None:
    for code in ("rows[0] + page.n", "class A: pass\npage"):
        placement = placed(code, STUBS, tracked={"page"}, sandboxed={"rows"}, limits=TrackedLimits())
        assert placement.lacking == ("page",)
        assert "`page` of earlier tracked code is not there" in refused(placement)


def test_a_name_is_where_it_was_last_assigned() -> None:
    tracked, sandboxed = {"a", "b"}, {"c"}
    moved("b = 1\nd = 2\nc = 3", into=sandboxed, out_of=tracked)
    assert (tracked, sandboxed) == ({"a"}, {"b", "c", "d"})
    moved("c = 1", into=tracked, out_of=sandboxed)
    assert (tracked, sandboxed) == ({"a", "c"}, {"b", "d"})
    moved("exec('x = 1')", into=sandboxed, out_of=tracked)
    assert ANY_NAME in sandboxed
    moved("y = 1", into=tracked, out_of=sandboxed)
    assert ANY_NAME in sandboxed
