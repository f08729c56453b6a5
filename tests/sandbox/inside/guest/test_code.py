"""Which name has the value is found for every program that Python reads, and a program runs as it would anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.sandbox.inside.guest.code import RESULT, prepare

names = st.sampled_from("abcxyz")
assignments = st.one_of(
    names.map(lambda name: (f"{name} = 1", name)),
    names.map(lambda name: (f"{name}: int = 1", name)),
    names.map(lambda name: (f"{name} = 0\n{name} += 1", name)),
    names.map(lambda name: (f"q, {name} = 1, 2", name)),
    names.map(lambda name: (f"{name} = []\n{name}[0:] = [1]", name)),
    names.map(lambda name: (f"if True:\n    {name} = 3", name)),
    names.map(lambda name: (f"for i in [1]:\n    {name} = i", name)),
    names.map(lambda name: (f"try:\n    {name} = 1\nfinally:\n    pass", name)),
    st.just(("import math", None)),
    st.just(("def f():\n    hidden = 1", None)),
    st.just(("class C:\n    hidden = 1", None)),
)


@given(st.lists(assignments, max_size=5))
def test_the_value_is_that_of_the_name_which_the_text_assigns_last(parts: list[tuple[str, str | None]]) -> None:
    prepared = prepare("\n".join(text for text, _ in parts), "<code 1>")
    assigned = [name for _, name in parts if name is not None]
    assert prepared.result == (assigned[-1] if assigned else None)
    namespace: dict[str, object] = {}
    eval(prepared.compiled, namespace)
    assert prepared.result is None or prepared.result in namespace


@given(st.lists(assignments, max_size=3), st.integers())
def test_an_expression_at_the_end_is_the_value(parts: list[tuple[str, str | None]], number: int) -> None:
    source = "\n".join([*(text for text, _ in parts), f"({number})"])
    prepared = prepare(source, "<code 1>")
    namespace: dict[str, object] = {}
    eval(prepared.compiled, namespace)
    assert prepared.result == RESULT
    assert namespace[RESULT] == number


@pytest.mark.parametrize("source", ["return 1", "x = ", "yield 1", "def f(:", "\tx = 1\n  y = 2"])
def test_what_is_no_program_is_a_syntax_error(source: str) -> None:
    with pytest.raises(SyntaxError):
        prepare(source, "<code 1>")
