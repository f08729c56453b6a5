"""What a program wants, said in every way that it can be, and answers read as that."""

from __future__ import annotations

import dataclasses
import json
import re
import typing
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass

from wieldy import ChoiceOutput, Incomplete, JsonOutput, PatternOutput, UsageError
from wieldy.core.outputs import in_words
from wieldy.run.outputs import correction, reader_of


class Line(BaseModel):
    """One line.

    Attributes:
        what: What was bought.
    """

    what: str
    price: Decimal = Field(gt=0)


class Invoice(BaseModel):
    number: str = Field(pattern=r"^R-\d+$")
    due: date
    lines: list[Line] = []

    @field_validator("due")
    @classmethod
    def this_century(cls, due: date) -> date:
        if due.year < 2000:
            raise ValueError("a date in this century is expected")
        return due


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Person(TypedDict):
    name: str
    age: NotRequired[int]


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Coded(Enum):
    A = b"a"
    B = "b"


class Nobody(Enum):
    pass


class Deep(BaseModel):
    first: int = Field(validation_alias=AliasPath("numbers", 0))


class Deeper(BaseModel):
    deep: list[Deep] = []


@pydantic_dataclass
class DeepToo:
    first: int = Field(default=0, validation_alias=AliasChoices(AliasPath("numbers", 0), AliasPath("more", 1)))


class Named(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    first: int = Field(validation_alias=AliasPath("numbers", 0))


class Called(BaseModel):
    first: int = Field(validation_alias=AliasChoices("one", AliasPath("numbers", 0)))


class Mixed(Enum):
    ONE = 1
    ALSO_ONE = "1"


GOOD: list[tuple[Any, str, object]] = [
    (
        Invoice,
        '{"number": "R-7", "due": "2026-03-01", "lines": [{"what": "tea", "price": "2.50"}]}',
        Invoice(number="R-7", due=date(2026, 3, 1), lines=[Line(what="tea", price=Decimal("2.50"))]),
    ),
    (Point, '{"x": 1.5}', Point(1.5)),
    (Person, '{"name": "Ada"}', {"name": "Ada"}),
    (Tree, '{"name": "a", "children": [{"name": "b"}]}', Tree(name="a", children=[Tree(name="b")])),
    (list[Point], '[{"x": 1, "y": 2}]', [Point(1, 2)]),
    (int, "17", 17),
    (bool, "true", True),
    (int | None, "null", None),
    (dict[str, int], '{"a": 1}', {"a": 1}),
    (Annotated[int, Field(ge=3)], "3", 3),
    ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, '{"a": 1}', {"a": 1}),
    ({}, "[1, null]", [1, None]),
    (Literal["yes", "no"], "yes", "yes"),
    (Literal[1, "one"], "1", 1),
    (Colour, "green", Colour.GREEN),
    (Level, "2", Level.HIGH),
    (Mixed, "1", Mixed.ONE),
    (Named, '{"first": 1}', Named(first=1)),
    (Called, '{"one": 1}', Called(one=1)),  # type: ignore[call-arg]
    (["a b", "c"], " c\n", "c"),
    (Literal["a", "ab"], "a", "a"),
    (Literal["a", "ab"], "ab\n", "ab"),
    (Literal[" a", "b"], " a", " a"),
    (Literal[" a", "b"], "a", " a"),
    (Literal[b"a", "b"], "a", b"a"),
    (Literal[Colour.RED, "blue"], "red", Colour.RED),
    (Literal["two\nlines", "one"], "two\nlines", "two\nlines"),
    (Coded, "a", Coded.A),
    # What only JSON tells apart
    (Literal["", "a"], '""', ""),
    (Literal["a", "a "], '"a "', "a "),
    (Literal[1, "1"], '"1"', "1"),
    ((1, 2.5, None, False), "null", None),
    (re.compile(r"\d{4}-\d{2}"), "2026-03\n", "2026-03"),
    (JsonOutput(schema={"type": "integer"}), "1", 1),
    (ChoiceOutput(options=("x",)), "x", "x"),
    (PatternOutput(pattern="a+"), "aa", "aa"),
]


@pytest.mark.parametrize(("spec", "text", "value"), GOOD, ids=[str(spec)[:40] for spec, *_ in GOOD])
def test_an_answer_that_fits_is_the_value_that_was_wanted(spec: object, text: str, value: object) -> None:
    found = reader_of(spec).read(text)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("spec", "text", "value"), GOOD, ids=[str(spec)[:40] for spec, *_ in GOOD])
def test_a_model_is_told_in_words_what_its_answer_must_be(spec: object, text: str, value: object) -> None:
    del text, value
    output = reader_of(spec).output
    words = in_words(output)
    match output:
        case JsonOutput(schema=schema, name=name):
            assert json.dumps(schema, ensure_ascii=False) in words
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        case ChoiceOutput(options=options):
            lines = words.splitlines()[-len(options) :]
            assert (lines if "JSON" not in words else list(map(json.loads, lines))) == list(options)
        case PatternOutput(pattern=pattern):
            assert words.endswith(f"\n{pattern}")


def test_json_may_stand_in_a_fence_with_words_before_and_behind_it() -> None:
    reader = reader_of(Point)

    for text in (
        '```json\n{"x": 1}\n```',
        'Here it is:\n\n```\n{"x": 1}\n```\nAnything else?',
        '```json{"x": 1}',
        ' \n{"x": 1}\n ',
    ):
        assert reader.read(text) == Point(1), text


BAD: list[tuple[Any, str, tuple[str, ...]]] = [
    (Point, "", ("is empty", '{"x": ')),
    (Point, "I do not know.", ("is not JSON", '{"x": ')),
    (Point, '{"x": 1', ("is not JSON",)),
    (Point, '{"x": 1} is the point', ("has something behind its JSON", "is the point")),
    (Point, 'It is {"x": 1}', ("is not JSON",)),
    (Point, 'It is {"x": 1}.', ("is not JSON",)),
    (Point, '{"x": 1}\n```json\n{"x": 2}\n```', ("has something behind its JSON",)),
    (Point, '```json\n{"x": 1}\n```\nor\n```json\n{"x": 2}\n```', ("has a second code fence",)),
    (Point, '```json\n{"x": 1}\n```\n```', ("has a second code fence",)),
    (Point, '```json\n{"x": 1}\n{"x": 2}\n```', ("has something behind its JSON",)),
    (Point, '```python\nx = 1\n```\n```json\n{"x": 2}\n```', ("is not JSON",)),
    (Point, '{"x": 1, "x": 2}', ("'x' stands twice",)),
    (Point, '{"x": NaN}', ("NaN is no JSON value",)),
    (Point, '{"x": 1, "z": 2}', ("`z` is not known",)),
    (Point, '{"y": 1}', ("`x` is missing",)),
    (Point, '{"x": "one"}', ("`x`", "a number", '"one"')),
    (Invoice, '{"number": "R-1", "due": "1926-03-01"}', ("`due`", "a date in this century is expected")),
    (Invoice, '{"number": "7", "due": "2026-03-01", "lines": [{"what": 1}]}', ("`number`", "`lines[0].price`")),
    (Person, '["\\ud800"]', ("surrogates",)),
    (dict[str, Any], "[" * 100 + "]" * 100, ("levels of nesting",)),
    (dict[str, Any], "[" * 100_000, ("nested too deeply",)),
    (int, "1" * 5000, ("is not JSON that can be read",)),
    (["red", "green"], "Red", ('"red", "green"', '"Red"')),
    ([str(number) for number in range(99)], "x", ("and 79 more",)),
    (re.compile(r"R-\d{3}"), "R-12", (r"`R-\d{3}`", '"R-12"', "such as")),
]


@pytest.mark.parametrize(("spec", "text", "told"), BAD, ids=[text[:60] for _, text, _ in BAD])
def test_an_answer_that_does_not_fit_is_kept_with_what_was_expected_and_found(
    spec: object, text: str, told: tuple[str, ...]
) -> None:
    found = reader_of(spec).read(text)

    assert isinstance(found, Incomplete)
    assert found.text == text
    for words in told:
        assert words in found.error
    assert found.error in correction(found).text


def test_an_incomplete_answer_says_what_of_it_is_there() -> None:
    found = reader_of(Invoice).read('```json\n{"number": "R-7", "lines": [{"what": "te')

    assert isinstance(found, Incomplete)
    assert found.partial == {"number": "R-7", "lines": [{"what": "te"}]}


def test_the_example_of_an_error_is_one_that_fits() -> None:
    for spec in (Point, list[Point], Tree, {"type": "integer", "minimum": 7}):
        reader = reader_of(spec)
        found = reader.read("?")
        assert isinstance(found, Incomplete)
        shown = found.error.rpartition("An answer that would fit: ")[2]
        assert not isinstance(reader.read(shown), Incomplete)


def test_an_example_that_a_type_would_refuse_is_not_shown() -> None:
    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def never(cls, number: int) -> int:
            raise ValueError("no number is good enough")

    found = reader_of(Even).read("?")

    assert isinstance(found, Incomplete)
    assert "would fit" not in found.error


class Unreadable(ValueError):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def refusing(error: BaseException) -> type[BaseModel]:
    class Total(BaseModel):
        total: int

        @field_validator("total")
        @classmethod
        def checked(cls, total: int) -> int:
            del total
            raise error

    return Total


@pytest.mark.parametrize(
    ("error", "words"),
    [
        *(
            (error, "The check of `Total` failed on your answer with an internal error")
            for error in (
                KeyError("secret"),
                RuntimeError("secret"),
                RecursionError("secret"),
                ValueError("secret \ud800"),
                AssertionError("secret \ud800"),
                Unreadable("secret"),
                KeyboardInterrupt("secret"),
            )
        ),
        (AssertionError(), "`total`: expected a value that the check of `Total` takes, found 1."),
        (ValueError(" "), "`total`: expected a value that the check of `Total` takes, found 1."),
        (ValueError("too small"), "`total`: too small; found 1."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_check_of_the_program_s_own_that_fails_is_told_whatever_it_raises(error: BaseException, words: str) -> None:
    found = reader_of(refusing(error)).read('{"total": 1}')

    assert isinstance(found, Incomplete)
    assert words in found.error
    assert "secret" not in found.error
    assert found.error.encode()
    assert found.partial == {"total": 1}
    # What a crash says is for the operator.
    assert (found.detail is not None) == ("internal error" in words)
    assert "Traceback" in (found.detail or "Traceback")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("yes", "'yes'"),
        (None, "None"),
        (7, "7"),
        ([], "at least one option"),
        (["a", ""], "none of them empty"),
        (["a", "a"], "no two written alike"),
        ([1, "1"], "no two written alike"),
        ([["a"]], "text, numbers"),
        (re.compile(b"a"), "over bytes"),
        (re.compile("a", re.IGNORECASE), "without flags"),
        (PatternOutput(pattern="("), "regular expression"),
        ({"type": "nonsense"}, "JSON Schema"),
        (["a", " a"], "no two written alike"),
        (["\ud800"], "half a character"),
        (Literal["\ud800", "a"], "half a character"),
        (Enum("Half", {"A": "\ud800"}), "half a character"),
        (re.compile("\ud800"), "half a character"),
        ({"enum": ["\ud800"]}, "JSON Schema"),
        (Literal[b"\xff"], "a type that JSON can carry"),
        (Nobody, "which has no members"),
        (Annotated[Nobody, Field()], "some answer fits"),
        (Deep, "found by the path"),
        (Deeper, "found by the path"),
        (DeepToo, "found by the path"),
        ({"not": {}}, "`not` at # leaves nothing"),
        (JsonOutput(schema={"not": {}}), "`not` at # leaves nothing"),
        ({"enum": []}, "`enum` at # leaves nothing"),
        ({"type": "integer", "minimum": 3, "maximum": 1}, "some answer fits"),
        ({"type": "object", "properties": {"a": False}, "required": ["a"]}, "some answer fits"),
        ({"$ref": "http://localhost/schema"}, "outside references"),
        ({1: 2}, "JSON Schema"),
        ({"type": object()}, "JSON Schema"),
        (object(), "a type that JSON can carry"),
        (type(re), "a type that JSON can carry"),
        (typing.Callable[[], int], "a type that JSON can carry"),
    ],
)
def test_what_no_answer_can_be_is_refused_at_once(spec: object, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        reader_of(spec)


def test_a_pydantic_dataclass_and_a_model_that_takes_more_are_read_as_they_say() -> None:
    @pydantic_dataclass
    class Pair:
        left: int

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        left: int

    assert reader_of(Pair).read('{"left": 1}') == Pair(1)
    assert isinstance(reader_of(Pair).read('{"left": 1, "right": 2}'), Incomplete)
    assert reader_of(Open).read('{"left": 1, "right": 2}') == Open(left=1, right=2)  # type: ignore[call-arg]


@given(st.text())
def test_whatever_a_model_writes_is_read_as_a_value_or_as_incomplete(text: str) -> None:
    for spec in (Invoice, Point, ["a", "b"], re.compile("a+"), int):
        found = reader_of(spec).read(text)
        assert not isinstance(found, Incomplete) or (found.text == text and found.error)
