"""The function that a source is about: its types mean what Python's mean, and nothing of it is run."""

from __future__ import annotations

import inspect
import typing
from contextlib import suppress
from typing import Annotated, Any, Literal, NotRequired, Optional, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from wieldy.core.errors import SkillError
from wieldy.run.actions.code.skills.declaring import nothing, tool_of
from wieldy.run.actions.code.skills.functions import check_code, check_source, function_in, tools_named_in
from wieldy.run.actions.code.skills.skill import Example, Skill
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.tools import tool

PLAIN = st.sampled_from(["str", "int", "float", "bool", "None", "Any", "Point", "list", "dict"])
CHOICES = st.lists(
    st.one_of(st.integers(-9, 9), st.booleans(), st.text("abc'\" ", max_size=4), st.none()), min_size=1, max_size=3
).map(lambda choices: f"Literal[{', '.join(map(repr, choices))}]")
ANNOTATIONS = st.recursive(
    PLAIN | CHOICES,
    lambda inner: st.one_of(
        inner.map("list[{}]".format),
        inner.map("dict[str, {}]".format),
        inner.map("Optional[{}]".format),
        inner.map("typing.Optional[{}]".format),
        st.tuples(inner, inner).map(lambda two: f"Union[{two[0]}, {two[1]}]"),
        inner.map(lambda one: f"Annotated[{one}, SAID]"),
    ),
    max_leaves=5,
)


class Point(TypedDict):
    """A place."""

    x: int
    y: NotRequired[list[float]]


NAMES = {
    "Point": Point,
    "Any": Any,
    "Literal": Literal,
    "Optional": Optional,
    "Union": Union,
    "Annotated": Annotated,
    "typing": typing,
    "SAID": object(),
}
POINT = 'class Point(TypedDict):\n    """A place."""\n\n    x: int\n    y: NotRequired[list[float]]\n\n'


def schema_of(annotation: Any) -> Any:
    return normal(TypeAdapter(annotation).json_schema())


def normal(schema: Any) -> Any:
    """Choices flat, each once and in one order.

    Python keeps unions that it has seen and gives them again for those of another order, and it does not look into an
    `Annotated` for members that it has already.
    """
    if isinstance(schema, list):
        return sorted(map(normal, schema), key=repr)
    if not isinstance(schema, dict):
        return schema
    schema = {key: normal(part) for key, part in schema.items()}
    if "anyOf" not in schema:
        return schema
    members = [part["anyOf"] if set(part) == {"anyOf"} else [part] for part in schema.pop("anyOf")]
    choices = sorted({repr(each): each for member in members for each in member}.values(), key=repr)
    return {**schema, **choices[0]} if len(choices) == 1 else {**schema, "anyOf": choices}


@given(ANNOTATIONS)
def test_a_type_is_read_as_python_would_evaluate_it(text: str) -> None:
    evaluated = eval(text, dict(NAMES))
    source = f'{POINT}def f(given: {text}) -> "int":\n    """Does it."""\n    return 1\n'
    function = function_in(source)
    assert schema_of(function.signature.parameters["given"].annotation) == schema_of(evaluated)
    assert function.signature.return_annotation is int


def test_what_is_said_about_a_type_describes_it() -> None:
    source = 'def f(x: Annotated[int, "How many."]) -> int:\n    """."""\n    return x\n'
    annotation = function_in(source).signature.parameters["x"].annotation
    assert schema_of(annotation) == {"type": "integer", "description": "How many."}


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(x: int) -> int:\n    return x", "expected a docstring"),
        ('def f(x) -> int:\n    """."""\n    return x', "expected a type for the parameter `x`"),
        ('def f(x: int):\n    """."""\n    return x', "`-> TYPE`"),
        ('def f(x: Path) -> int:\n    """."""\n    return x', "found `Path`"),
        ('def f(x: print(1)) -> int:\n    """."""\n    return x', "found `print(1)`"),
        ('def f(x: dict[int, str]) -> int:\n    """."""\n    return x', "found `dict[int, str]`"),
        ('def f(x: int = len("a")) -> int:\n    """."""\n    return x', "as a literal that JSON has"),
        ('def f(x: float = 1e999) -> int:\n    """."""\n    return x', "as a literal that JSON has"),
        ('def f(a: int, a: int) -> int:\n    """."""\n    return a', "different names"),
        ('def f(wieldy_context: int) -> int:\n    """."""\n    return 1', "wieldy_context"),
        ('def f(*x: int) -> int:\n    """."""\n    return x', "plain parameters"),
        ('def f(x: int, /) -> int:\n    """."""\n    return x', "plain parameters"),
        ('def f() -> int:\n    """."""\n    yield 1', "found a generator"),
        ('@cache\ndef f() -> int:\n    """."""\n    return 1', "without decorators"),
        ('def f() -> int:\n    """."""\n    return 1\ndef g() -> int:\n    """."""\n    return 1', "found `f`, `g`"),
        ("def _f(): pass", "found none"),
        ('print(1)\ndef f() -> int:\n    """."""\n    return 1', "Put it into the function"),
        ('def F() -> int:\n    """."""\n    return 1', "a-z"),
        ("def f(:", "line 1"),
        ("x = '\0'", "null bytes"),
        ("(" * 5000, ""),
        ('def f(x: "' + "list[" * 3000 + '") -> int:\n    """."""\n    return x', "found"),
    ],
)
def test_what_cannot_be_a_skill_is_refused_in_words(source: str, words: str) -> None:
    with pytest.raises(SkillError) as refused:
        function_in(source)
    assert words in str(refused.value)


def test_helpers_imports_and_defaults_belong_to_a_source() -> None:
    source = (
        "import math\nRATE = 2\n\ndef _half(x):\n    return x / RATE\n\n"
        "async def f(x: int, *, most: float = 1.5) -> float:\n"
        '    """Halves.\n\n    Args:\n        x: What.\n    """\n    return min(_half(x), most)\n'
    )
    function = function_in(source)
    assert function.is_async
    assert function.documentation.startswith("Halves.")
    assert function.signature.parameters["most"].default == 1.5
    assert function.signature.parameters["x"].default is inspect.Parameter.empty
    assert function.called(source, {"x": 1}).endswith("\n\nawait f(x=_wieldy_result(1))\n")
    with pytest.raises(SkillError, match="Expected arguments for `f"):
        function.check_arguments({"y": 1})


@tool(effect="read")
def rows(city: str) -> list[int]:
    """Rows."""
    return [len(city)]


@tool(effect="read", name="get-rate")
def rate() -> float:
    """The rate."""
    return 1.0


STUBS = stubs_of([rows.definition, rate.definition])


def test_the_tools_that_it_names_are_known_however_they_are_called() -> None:
    head = 'async def f() -> int:\n    """."""\n'
    assert tools_named_in(f"{head}    return sum(await rows('a'))", STUBS) == ("rows",)
    assert tools_named_in(f"{head}    return await call('get-rate', {{}})", STUBS) == ("get-rate",)
    assert tools_named_in(f"{head}    get = get_rate\n    return rows.sync('a')", STUBS) == ("rows", "get-rate")
    assert tools_named_in(f"{head}    return 1", STUBS) == ()


def test_a_source_that_could_not_work_is_refused_with_each_line() -> None:
    with pytest.raises(SkillError) as refused:
        check_source('async def f() -> int:\n    """."""\n    return await rows()\n', STUBS)
    assert "line 3: `rows` lacks `city`" in str(refused.value)


@pytest.mark.parametrize("check", ["result > 0", "len(result) == 2 and\\\n result[0]", "result  # good", "\nresult\n"])
def test_an_expression_is_a_check(check: str) -> None:
    assert check_code(check).startswith("bool(\n")
    compile(check_code(check), "<check>", "exec")


def test_statements_are_a_check() -> None:
    code = check_code("total = sum(result)\nassert total > 3")
    names: dict[str, Any] = {"result": [1, 3]}
    exec(code, names)
    with pytest.raises(AssertionError):
        exec(code, {"result": [1]})


@pytest.mark.parametrize("check", ["", "   ", "True", "1 +", "results > 0", "# result"])
def test_a_check_that_does_not_look_at_the_value_is_none(check: str) -> None:
    with pytest.raises(SkillError, match="Expected a check of the value"):
        check_code(check)


WORDS = (
    "def f ( ) : -> int list[ ] return 1 * / = , @ async class TypedDict Literal[ a é lambda yield __debug__ | 'list['"
)
PIECES = st.sampled_from([*WORDS.split(), '"""d"""', "\n", "    ", "\0", "a: int"])


@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map(" ".join) | st.text(max_size=50))
def test_whatever_a_source_is_it_is_read_or_refused(text: str) -> None:
    for source in (text, f'def f({text}) -> int:\n    """d"""\n    return 1', f'def f(a: {text}) -> int:\n    """d"""'):
        try:
            function = function_in(source)
        except SkillError:
            continue
        example = Example(arguments={}, calls=(), value=1, run_id="r", started=0.0)
        skill = Skill(name=function.name, source=source, tools=(), example=example, check="result")
        with suppress(SkillError):
            assert tool_of(skill, function, nothing).name == function.name
