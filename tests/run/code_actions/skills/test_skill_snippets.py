"""Code of an action as a function: it does what the code did, with what was named as its parameters."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from wieldy.core.errors import SkillError
from wieldy.run.actions.code.skills.functions import function_in
from wieldy.run.actions.code.skills.snippets import function_from

VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, -2.5]), st.text("ab'\n", max_size=3)
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=6,
)


def made(code: str, parameters: dict[str, Any] | None = None, value: Any = None, tools: tuple[str, ...] = ()) -> str:
    return function_from(
        code, name="it", description="Does it.", parameters=parameters or {}, value=value, tools=frozenset(tools)
    )


def run_snippet(code: str, names: dict[str, Any]) -> Any:
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(tree, "<code>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<code>", "eval"), names)


def run_function(source: str, arguments: dict[str, Any]) -> Any:
    # Nothing in these sources waits, so the first step of the coroutine is its last.
    names: dict[str, Any] = {}
    exec(source, names)
    with pytest.raises(StopIteration) as ended:
        names["it"](**arguments).send(None)
    return ended.value.value


@given(VALUES, VALUES)
def test_a_parameter_stands_for_a_literal_wherever_it_was(value: Any, other: Any) -> None:
    literal = f"x = [{value!r}, {other!r}]\ny = {{'k': {value!r}}}\n[x, y, {value!r}, f'{{1}}ab']"
    expected = run_snippet(literal, {})
    source = made(literal, {"given": value}, expected)
    assert run_function(source, {"given": value}) == expected
    assert function_in(source).signature.parameters["given"].name == "given"


@given(VALUES, VALUES)
def test_a_parameter_stands_for_a_name_that_is_given_a_literal(value: Any, other: Any) -> None:
    code = f"other = {other!r}\ngiven = {value!r}\nmore = [given, other]\n(given, more)[1]"
    source = made(code, {"given": value})
    assert run_function(source, {"given": other}) == [other, other]
    assert repr(value) not in source or f"given = {value!r}" not in source


@given(VALUES)
def test_a_parameter_stands_for_a_name_of_an_earlier_action(value: Any) -> None:
    code = "def twice(x):\n    return [x, given]\n[twice(n) for n in range(2)]"
    source = made(code, {"given": value})
    assert run_function(source, {"given": value}) == run_snippet(code, {"given": value})


@given(VALUES)
def test_the_types_are_those_of_the_values(value: Any) -> None:
    source = made("given", {"given": value}, value)
    annotation = function_in(source).signature.parameters["given"].annotation
    TypeAdapter(annotation).validate_python(value, strict=True)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1\ny = x + 1", 2),
        ("x = [1]\nx[0] = 3", [3]),
        ("x = 0\nfor n in range(4):\n    x += n", 6),
        ("a, b = 1, 2", 2),
        ("x: int = 5\nprint", print),
        ("if True:\n    x = 1\nelse:\n    z = x = 2", 1),
        ("pass", None),
        ("", None),
        ("x = 1\nx", 1),
    ],
)
def test_it_returns_what_the_action_brought(code: str, expected: Any) -> None:
    assert run_function(made(code), {}) == expected


def test_numbers_that_python_finds_equal_are_told_apart() -> None:
    assert "[flag, 1, 1.0]" in made("[True, 1, 1.0]", {"flag": True})
    assert "[True, count, 1.0]" in made("[True, 1, 1.0]", {"count": 1})


def test_a_name_of_an_earlier_action_must_be_a_parameter() -> None:
    with pytest.raises(SkillError, match="uses `rates` of earlier actions"):
        made("await rows()\nrates['NO']", tools=("rows",))
    assert "rates: dict[str, float]" in made("rates['NO']", {"rates": {"NO": 1.5}})


@pytest.mark.parametrize(
    ("code", "parameters", "words"),
    [
        ("1 + 2", {"n": 3}, "to stand in the code"),
        ("n = f()\nn", {"n": 3}, "does not give `n`"),
        ("1", {"print me": 1}, "Expected a name"),
        ("1", {"rows": 1}, "Expected a name"),
    ],
)
def test_a_parameter_that_stands_for_nothing_is_refused(code: str, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(SkillError, match=words):
        made(code, parameters, tools=("rows", "f"))


def test_what_a_pattern_compares_with_stays() -> None:
    source = made("match 1:\n    case 1:\n        x = 2", {"n": 1})
    assert "match n:" in source
    assert "case 1:" in source


@given(st.text(min_size=1, max_size=20) | st.text("\"\\\n 'a\t{}\r", min_size=1, max_size=12))
def test_the_description_is_read_back_whatever_stands_in_it(words: str) -> None:
    if words.strip():
        source = function_from("1", name="it", description=words, parameters={}, value=1, tools=frozenset())
        assert function_in(source).documentation == inspect.cleandoc(words.strip())


def test_a_description_is_needed() -> None:
    with pytest.raises(SkillError, match="description"):
        function_from("1", name="it", description=" ", parameters={}, value=1, tools=frozenset())
