"""What a signature says is what the model is shown, and what the model writes is what the function gets.

Each case is a function, the input schema that it must give, arguments that it must accept with the values that the
function then gets, and arguments that it must refuse. `docs/reference/schema-fidelity.md` shows the same table; write
it anew with `python tests/tools/test_fidelity.py`.
"""

# The table holds what people write, not what a linter would have them write.
# ruff: noqa: B006, B008, RUF013, UP007, UP037, UP045

from __future__ import annotations

import ast
import datetime as dt
import functools
import inspect
import ipaddress
import json
import math
import textwrap
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypeAlias, TypedDict, Union

import jsonschema
import pytest
from pydantic import AfterValidator, AnyUrl, BaseModel, ConfigDict, Field, model_validator

from wieldy.core.context import Context
from wieldy.core.errors import ArgumentsError
from wieldy.tools import Tool, tool

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "schema-fidelity.md"
CONTEXT = Context(run_id="run", call_id="call", tool_name="tool", idempotency_key="key")


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    function: Callable[..., Any]
    schema: dict[str, Any]
    accept: list[tuple[dict[str, Any], dict[str, Any]]]
    refuse: list[Any] = field(default_factory=list)


CASES: dict[str, Case] = {}


def case(schema: dict[str, Any], *, accept: list[Any], refuse: list[Any]) -> Callable[..., Any]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = getattr(function, "__name__", type(function).__name__)
        assert name not in CASES
        CASES[name] = Case(function, schema, accept, refuse)
        return function

    return register


def shape(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    """A closed object."""
    known: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        known["required"] = list(required)
    return known | {"additionalProperties": False} | more


STRING, INTEGER, NUMBER, BOOLEAN, NULL = ({"type": name} for name in ("string", "integer", "number", "boolean", "null"))


# ── plain types ──────────────────────────────────────────────────────────────────────────────────────────────────────


@case(
    shape({"x": STRING}, "x"),
    accept=[
        ({"x": "a"}, {"x": "a"}),
        ({"x": ""}, {"x": ""}),
        ({"x": "17"}, {"x": "17"}),
        ({"x": "日本"}, {"x": "日本"}),
    ],
    refuse=[{}, {"x": 17}, {"x": None}, {"x": ["a"]}, {"y": "a"}, {"x": "a", "y": "b"}],
)
def text(x: str): ...


@case(
    shape({"x": INTEGER}, "x"),
    accept=[({"x": 3}, {"x": 3}), ({"x": "17"}, {"x": 17}), ({"x": 3.0}, {"x": 3}), ({"x": 10**30}, {"x": 10**30})],
    refuse=[{"x": 3.5}, {"x": "three"}, {"x": "3.5"}, {"x": True}, {"x": None}, {"x": ""}, {"x": [3]}, {"x": "0x10"}],
)
def whole_number(x: int): ...


@case(
    shape({"x": NUMBER}, "x"),
    accept=[
        ({"x": 3}, {"x": 3.0}),
        ({"x": 2.5}, {"x": 2.5}),
        ({"x": "2.5"}, {"x": 2.5}),
        ({"x": "-1e3"}, {"x": -1000.0}),
    ],
    refuse=[{"x": "a"}, {"x": True}, {"x": "1,5"}, {"x": math.nan}, {"x": math.inf}, {"x": "NaN"}],
)
def number(x: float): ...


@case(
    shape({"x": BOOLEAN}, "x"),
    accept=[({"x": True}, {"x": True}), ({"x": "false"}, {"x": False}), ({"x": "True"}, {"x": True})],
    refuse=[{"x": 1}, {"x": 0}, {"x": "yes"}, {"x": "1"}, {"x": None}],
)
def truth(x: bool): ...


@case(shape({}), accept=[({}, {})], refuse=[{"x": 1}, [], None, "text"])
def nothing(): ...


@case(
    shape({"x": {}}, "x"),
    accept=[
        ({"x": 1}, {"x": 1}),
        ({"x": None}, {"x": None}),
        ({"x": "17"}, {"x": "17"}),
        ({"x": {"a": [1]}}, {"x": {"a": [1]}}),
    ],
    refuse=[{}, {"x": math.nan}],
)
def anything(x: Any): ...


@case(shape({"x": {}}, "x"), accept=[({"x": [1, "a"]}, {"x": [1, "a"]})], refuse=[{}])
def unannotated(x): ...


@case(shape({"x": NULL}, "x"), accept=[({"x": None}, {"x": None})], refuse=[{}, {"x": 0}, {"x": ""}])
def only_null(x: None): ...


@case(
    shape({"x": {"type": "string", "format": "binary"}}, "x"),
    accept=[({"x": "hé"}, {"x": "hé".encode()})],
    refuse=[{"x": 1}],
)
def raw_bytes(x: bytes): ...


# ── optional and defaults ────────────────────────────────────────────────────────────────────────────────────────────


@case(
    shape({"x": {"anyOf": [STRING, NULL]}}, "x"),
    accept=[({"x": "a"}, {"x": "a"}), ({"x": None}, {"x": None}), ({"x": "null"}, {"x": "null"})],
    refuse=[{}, {"x": 1}],
)
def nullable(x: Optional[str]): ...


@case(
    shape({"x": {"default": None, "anyOf": [INTEGER, NULL]}}),
    accept=[
        ({}, {}),
        ({"x": 1}, {"x": 1}),
        ({"x": None}, {"x": None}),
        ({"x": "null"}, {"x": None}),
        ({"x": "3"}, {"x": 3}),
    ],
    refuse=[{"x": "a"}, {"x": 1.5}],
)
def optional(x: int | None = None): ...


@case(
    shape({"x": {"type": "integer", "default": 5}}),
    accept=[({}, {}), ({"x": 6}, {"x": 6}), ({"x": None}, {})],
    refuse=[{"x": "five"}],
)
def with_default(x: int = 5): ...


@case(
    shape({"x": INTEGER}),
    accept=[({}, {}), ({"x": 6}, {"x": 6}), ({"x": None}, {})],
    refuse=[{"x": "six"}],
)
def none_as_default_of_an_integer(x: int = None): ...


@case(
    shape({"limit": NUMBER, "marker": {}}),
    accept=[({}, {}), ({"limit": 1}, {"limit": 1.0})],
    refuse=[{"limit": "inf"}],
)
def defaults_that_are_no_json(limit: float = math.inf, marker: Any = object()): ...


@case(
    shape({"x": {"type": "array", "items": STRING, "default": []}}),
    accept=[({}, {}), ({"x": ["a"]}, {"x": ["a"]}), ({"x": '["a"]'}, {"x": ["a"]})],
    refuse=[{"x": "a"}, {"x": [1]}, {"x": {}}],
)
def mutable_default(x: list[str] = []): ...


@case(
    shape({"day": {"type": "string", "format": "date", "default": "2026-01-31"}}),
    accept=[({}, {}), ({"day": "2026-02-28"}, {"day": dt.date(2026, 2, 28)})],
    refuse=[{"day": "soon"}],
)
def date_as_default(day: dt.date = dt.date(2026, 1, 31)): ...


# ── unions and choices ───────────────────────────────────────────────────────────────────────────────────────────────


@case(
    shape({"x": {"anyOf": [INTEGER, STRING]}}, "x"),
    accept=[({"x": 1}, {"x": 1}), ({"x": "17"}, {"x": "17"})],
    refuse=[{"x": 1.5}, {"x": None}, {"x": []}],
)
def number_or_text(x: Union[int, str]): ...


@case(
    shape({"x": {"anyOf": [INTEGER, BOOLEAN]}}, "x"),
    accept=[({"x": "true"}, {"x": True}), ({"x": "1"}, {"x": 1}), ({"x": False}, {"x": False})],
    refuse=[{"x": "a"}, {"x": None}],
)
def number_or_truth(x: int | bool): ...


@case(
    shape({"x": {"anyOf": [INTEGER, {"type": "array", "items": INTEGER}]}}, "x"),
    accept=[({"x": 1}, {"x": 1}), ({"x": "[1, 2.0]"}, {"x": [1, 2]}), ({"x": ["1"]}, {"x": [1]})],
    refuse=[{"x": "a"}, {"x": [1, "a"]}],
)
def one_or_many(x: int | list[int]): ...


@case(
    shape({"unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}}, "unit"),
    accept=[({"unit": "celsius"}, {"unit": "celsius"})],
    refuse=[{"unit": "kelvin"}, {"unit": "Celsius"}, {"unit": None}, {}],
)
def choice(unit: Literal["celsius", "fahrenheit"]): ...


@case(
    shape({"level": {"type": "integer", "enum": [1, 2, 3], "default": 1}}),
    accept=[({"level": 2}, {"level": 2}), ({"level": "2"}, {"level": 2}), ({}, {})],
    refuse=[{"level": 4}, {"level": "4"}, {"level": True}],
)
def choice_of_numbers(level: Literal[1, 2, 3] = 1): ...


@case(
    shape({"x": {"enum": ["auto", 0, None]}}, "x"),
    accept=[({"x": "auto"}, {"x": "auto"}), ({"x": 0}, {"x": 0}), ({"x": None}, {"x": None})],
    refuse=[{"x": "0"}, {"x": 1}, {"x": False}],
)
def mixed_choice(x: Literal["auto", 0, None]): ...


@case(
    shape({"x": {"type": "string", "const": "only"}}, "x"),
    accept=[({"x": "only"}, {"x": "only"})],
    refuse=[{"x": "other"}],
)
def single_choice(x: Literal["only"]): ...


class Color(Enum):
    RED = "red"
    GREEN = "green"


class Priority(IntEnum):
    LOW = 1
    HIGH = 2


class Size(StrEnum):
    S = "s"
    L = "l"


@case(
    shape({"color": {"type": "string", "enum": ["red", "green"]}}, "color"),
    accept=[({"color": "red"}, {"color": Color.RED})],
    refuse=[{"color": "RED"}, {"color": "blue"}],
)
def enumeration(color: Color): ...


@case(
    shape(
        {"priority": {"type": "integer", "enum": [1, 2], "default": 1}, "size": {"type": "string", "enum": ["s", "l"]}},
        "size",
    ),
    accept=[
        ({"size": "l"}, {"size": Size.L}),
        ({"size": "s", "priority": "2"}, {"size": Size.S, "priority": Priority.HIGH}),
    ],
    refuse=[{"size": "s", "priority": 3}, {"size": "m"}],
)
def enumerations_of_kinds(size: Size, priority: Priority = Priority.LOW): ...


# ── containers ───────────────────────────────────────────────────────────────────────────────────────────────────────


@case(
    shape({"x": {"type": "array", "items": INTEGER}}, "x"),
    accept=[({"x": []}, {"x": []}), ({"x": [1, "2", 3.0]}, {"x": [1, 2, 3]}), ({"x": "[1]"}, {"x": [1]})],
    refuse=[{"x": 1}, {"x": [1.5]}, {"x": "1, 2"}, {"x": None}, {"x": {"0": 1}}],
)
def list_of_numbers(x: list[int]): ...


@case(
    shape({"x": {"type": "array"}}, "x"),
    accept=[({"x": [1, "a", None]}, {"x": [1, "a", None]})],
    refuse=[{"x": "a"}, {"x": {}}],
)
def bare_list(x: list): ...


@case(
    shape({"x": {"type": "array", "items": {"type": "array", "items": NUMBER}}}, "x"),
    accept=[({"x": [[1], []]}, {"x": [[1.0], []]})],
    refuse=[{"x": [1]}, {"x": [["a"]]}],
)
def nested_list(x: list[list[float]]): ...


@case(
    shape({"x": {"type": "object", "additionalProperties": INTEGER}}, "x"),
    accept=[({"x": {"a": 1}}, {"x": {"a": 1}}), ({"x": '{"a": "1"}'}, {"x": {"a": 1}}), ({"x": {}}, {"x": {}})],
    refuse=[{"x": {"a": "b"}}, {"x": []}, {"x": "a"}],
)
def mapping_of_numbers(x: dict[str, int]): ...


@case(
    shape({"x": {"type": "object"}}, "x"),
    accept=[({"x": {"a": [1]}}, {"x": {"a": [1]}})],
    refuse=[{"x": []}],
)
def bare_mapping(x: dict): ...


@case(
    shape(
        {"x": {"type": "object", "propertyNames": {"pattern": "^(0|-?[1-9][0-9]*)$"}, "additionalProperties": STRING}},
        "x",
    ),
    accept=[({"x": {"1": "a"}}, {"x": {1: "a"}})],
    refuse=[{"x": {"one": "a"}}, {"x": {"1": 1}}],
)
def mapping_with_number_keys(x: dict[int, str]): ...


@case(
    shape({"x": {"type": "array", "maxItems": 2, "minItems": 2, "prefixItems": [NUMBER, STRING]}}, "x"),
    accept=[({"x": [1, "a"]}, {"x": (1.0, "a")}), ({"x": ["1", "a"]}, {"x": (1.0, "a")})],
    refuse=[{"x": [1]}, {"x": [1, "a", 2]}, {"x": ["a", 1]}],
)
def pair(x: tuple[float, str]): ...


@case(
    shape({"x": {"type": "array", "items": INTEGER}}, "x"),
    accept=[({"x": [1, 2, 3]}, {"x": (1, 2, 3)}), ({"x": []}, {"x": ()})],
    refuse=[{"x": ["a"]}],
)
def tuple_of_any_length(x: tuple[int, ...]): ...


@case(
    shape(
        {
            "x": {"type": "array", "uniqueItems": True, "items": STRING},
            "y": {"type": "array", "uniqueItems": True, "items": INTEGER, "default": []},
        },
        "x",
    ),
    accept=[({"x": ["a", "b"]}, {"x": {"a", "b"}}), ({"x": [], "y": [1]}, {"x": set(), "y": frozenset({1})})],
    refuse=[{"x": ["a", "a"]}, {"x": "a"}],
)
def sets(x: set[str], y: frozenset[int] = frozenset()): ...


@case(
    shape(
        {"x": {"type": "array", "items": INTEGER}, "y": {"type": "object", "additionalProperties": BOOLEAN}}, "x", "y"
    ),
    accept=[({"x": [1], "y": {"a": True}}, {"x": [1], "y": {"a": True}})],
    refuse=[{"x": [1], "y": {"a": 1}}],
)
def abstract_containers(x: Sequence[int], y: Mapping[str, bool]): ...


# ── types with a text form ───────────────────────────────────────────────────────────────────────────────────────────


@case(
    shape({"at": {"type": "string", "format": "date-time"}}, "at"),
    accept=[
        ({"at": "2026-01-31T09:30:00Z"}, {"at": dt.datetime(2026, 1, 31, 9, 30, tzinfo=dt.UTC)}),
        ({"at": "2026-01-31T09:30:00"}, {"at": dt.datetime(2026, 1, 31, 9, 30)}),
        ({"at": "2026-01-31"}, {"at": dt.datetime(2026, 1, 31)}),
    ],
    refuse=[{"at": "tomorrow"}, {"at": "17"}, {"at": 1700000000}, {"at": "2026-02-30T00:00:00Z"}, {"at": ""}],
)
def date_and_time(at: dt.datetime): ...


@case(
    shape({"day": {"type": "string", "format": "date"}}, "day"),
    accept=[({"day": "2026-02-28"}, {"day": dt.date(2026, 2, 28)})],
    refuse=[{"day": "2026-02-30"}, {"day": "28.02.2026"}, {"day": "20260228"}, {"day": 86400}],
)
def date(day: dt.date): ...


@case(
    shape({"at": {"type": "string", "format": "time"}}, "at"),
    accept=[({"at": "09:30"}, {"at": dt.time(9, 30)}), ({"at": "09:30:15"}, {"at": dt.time(9, 30, 15)})],
    refuse=[{"at": "25:00"}, {"at": "noon"}, {"at": "930"}],
)
def time_of_day(at: dt.time): ...


@case(
    shape({"wait": {"type": "string", "format": "duration"}}, "wait"),
    accept=[
        ({"wait": "PT1H30M"}, {"wait": dt.timedelta(hours=1, minutes=30)}),
        ({"wait": "P2D"}, {"wait": dt.timedelta(days=2)}),
    ],
    refuse=[{"wait": "an hour"}, {"wait": "90"}, {"wait": 90}],
)
def duration(wait: dt.timedelta): ...


@case(
    shape({"id": {"type": "string", "format": "uuid"}}, "id"),
    accept=[
        ({"id": "123e4567-e89b-42d3-a456-426614174000"}, {"id": uuid.UUID("123e4567-e89b-42d3-a456-426614174000")})
    ],
    refuse=[{"id": "123"}, {"id": 123}],
)
def unique_id(id: uuid.UUID): ...


@case(
    shape(
        {"price": {"anyOf": [NUMBER, STRING | {"pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?$"}]}},
        "price",
    ),
    accept=[({"price": "19.99"}, {"price": Decimal("19.99")}), ({"price": 0.1}, {"price": Decimal("0.1")})],
    refuse=[{"price": "cheap"}, {"price": None}, {"price": "NaN"}],
)
def decimal_number(price: Decimal): ...


@case(
    shape({"file": {"type": "string", "format": "path"}}, "file"),
    accept=[({"file": "a/b.txt"}, {"file": Path("a/b.txt")})],
    refuse=[{"file": 1}, {"file": ["a"]}],
)
def file_path(file: Path): ...


@case(
    shape({"link": {"type": "string", "format": "uri", "minLength": 1}}, "link"),
    accept=[({"link": "https://example.com/a"}, {"link": AnyUrl("https://example.com/a")})],
    refuse=[{"link": "no link"}, {"link": ""}],
)
def link(link: AnyUrl): ...


@case(
    shape({"host": {"type": "string", "format": "ipv4"}}, "host"),
    accept=[({"host": "192.0.2.1"}, {"host": ipaddress.IPv4Address("192.0.2.1")})],
    refuse=[{"host": "192.0.2.999"}, {"host": "localhost"}],
)
def address(host: ipaddress.IPv4Address): ...


# ── constraints ──────────────────────────────────────────────────────────────────────────────────────────────────────


@case(
    shape({"x": {"type": "integer", "maximum": 10, "minimum": 1}}, "x"),
    accept=[({"x": 1}, {"x": 1}), ({"x": "10"}, {"x": 10})],
    refuse=[{"x": 0}, {"x": 11}, {"x": "11"}],
)
def bounded(x: Annotated[int, Field(ge=1, le=10)]): ...


@case(
    shape({"x": {"type": "number", "exclusiveMaximum": 1.0, "exclusiveMinimum": 0.0}}, "x"),
    accept=[({"x": 0.5}, {"x": 0.5})],
    refuse=[{"x": 0}, {"x": 1}],
)
def strictly_between(x: Annotated[float, Field(gt=0.0, lt=1.0)]): ...


@case(
    shape({"x": {"type": "integer", "multipleOf": 5}}, "x"),
    accept=[({"x": 15}, {"x": 15})],
    refuse=[{"x": 16}],
)
def multiple(x: Annotated[int, Field(multiple_of=5)]): ...


@case(
    shape({"code": {"type": "string", "pattern": "^ORD-[0-9]{4}$"}}, "code"),
    accept=[({"code": "ORD-0017"}, {"code": "ORD-0017"})],
    refuse=[{"code": "ord-0017"}, {"code": "ORD-17"}],
)
def patterned(code: Annotated[str, Field(pattern="^ORD-[0-9]{4}$")]): ...


@case(
    shape({"x": {"type": "string", "maxLength": 3, "minLength": 2}}, "x"),
    accept=[({"x": "ab"}, {"x": "ab"})],
    refuse=[{"x": "a"}, {"x": "abcd"}],
)
def text_of_length(x: Annotated[str, Field(min_length=2, max_length=3)]): ...


@case(
    shape({"x": {"type": "array", "maxItems": 2, "minItems": 1, "items": {"type": "integer", "minimum": 0}}}, "x"),
    accept=[({"x": [0]}, {"x": [0]})],
    refuse=[{"x": []}, {"x": [1, 2, 3]}, {"x": [-1]}],
)
def bounded_list(x: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, max_length=2)]): ...


def _is_even(value: int) -> int:
    if value % 2:
        raise ValueError("has to be even")
    return value


@case(
    shape({"x": INTEGER}, "x"),
    accept=[({"x": 2}, {"x": 2})],
    refuse=[{"x": 3}],
)
def checked_by_a_function(x: Annotated[int, AfterValidator(_is_even)]): ...


@case(
    shape({"x": {"type": "integer", "description": "How many.", "minimum": 1, "default": 3}}),
    accept=[({}, {"x": 3}), ({"x": 1}, {"x": 1})],
    refuse=[{"x": 0}],
)
def field_as_default(x: int = Field(3, ge=1, description="How many.")): ...


@case(
    shape({"from": STRING}, "from"),
    accept=[({"from": "a"}, {"sender": "a"})],
    refuse=[{"sender": "a"}, {}],
)
def alias(sender: Annotated[str, Field(alias="from")]): ...


# ── classes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Address(BaseModel):
    """Where somebody lives.

    Attributes:
        street: Street and number.
    """

    street: str
    zip_code: str | None = None


@dataclass
class Point:
    x: float
    y: float = 0.0


class Options(TypedDict):
    width: int
    color: NotRequired[str]


class Range(NamedTuple):
    low: int
    high: int = 10


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Period(BaseModel):
    start: dt.date
    end: dt.date

    @model_validator(mode="after")
    def _in_order(self) -> Period:
        if self.end < self.start:
            raise ValueError("the end has to come after the start")
        return self


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


ADDRESS = shape(
    {
        "street": {"type": "string", "description": "Street and number."},
        "zip_code": {"default": None, "anyOf": [STRING, NULL]},
    },
    "street",
    description="Where somebody lives.",
)
POINT = shape({"x": NUMBER, "y": {"type": "number", "default": 0.0}}, "x")


@case(
    shape({"address": ADDRESS}, "address"),
    accept=[
        ({"address": {"street": "Main 1"}}, {"address": Address(street="Main 1")}),
        (
            {"address": '{"street": "Main 1", "zip_code": "0150"}'},
            {"address": Address(street="Main 1", zip_code="0150")},
        ),
    ],
    refuse=[
        {"address": {}},
        {"address": {"street": 1}},
        {"address": {"street": "a", "town": "b"}},
        {"address": "Main 1"},
        {"address": None},
    ],
)
def model(address: Address): ...


@case(
    shape({"address": {"default": None, "anyOf": [ADDRESS, NULL]}}),
    accept=[
        ({}, {}),
        ({"address": None}, {"address": None}),
        ({"address": {"street": "a"}}, {"address": Address(street="a")}),
    ],
    refuse=[{"address": {"steet": "a"}}],
)
def optional_model(address: Address | None = None): ...


@case(
    shape(
        {"home": {"$ref": "#/$defs/Address"}, "work": {"$ref": "#/$defs/Address"}},
        "home",
        "work",
        **{"$defs": {"Address": ADDRESS}},
    ),
    accept=[
        ({"home": {"street": "a"}, "work": {"street": "b"}}, {"home": Address(street="a"), "work": Address(street="b")})
    ],
    refuse=[{"home": {"street": "a"}, "work": {}}],
)
def model_used_twice(home: Address, work: Address): ...


@case(
    shape({"points": {"type": "array", "items": POINT}}, "points"),
    accept=[({"points": [{"x": 1}, {"x": "2", "y": 3}]}, {"points": [Point(1.0), Point(2.0, 3.0)]})],
    refuse=[{"points": [{}]}, {"points": [{"x": 1, "z": 2}]}, {"points": {"x": 1}}],
)
def list_of_dataclasses(points: list[Point]): ...


@case(
    shape({"points": {"type": "object", "additionalProperties": POINT}}, "points"),
    accept=[({"points": {"a": {"x": 1}}}, {"points": {"a": Point(1.0)}})],
    refuse=[{"points": {"a": {"y": 1}}}],
)
def mapping_of_dataclasses(points: dict[str, Point]): ...


@case(
    shape({"at": POINT | {"default": {"x": 1.0, "y": 0.0}}}),
    accept=[({}, {}), ({"at": {"x": 2}}, {"at": Point(2.0)})],
    refuse=[{"at": {"y": 2}}],
)
def dataclass_as_default(at: Point = Point(1.0)): ...


@case(
    shape({"options": shape({"width": INTEGER, "color": STRING}, "width")}, "options"),
    accept=[
        ({"options": {"width": "3"}}, {"options": {"width": 3}}),
        ({"options": {"width": 1, "color": "red"}}, {"options": {"width": 1, "color": "red"}}),
    ],
    refuse=[{"options": {"color": "red"}}, {"options": {"width": 1, "colour": "red"}}],
)
def typed_dictionary(options: Options): ...


@case(
    shape(
        {
            "range": {
                "type": "array",
                "maxItems": 2,
                "minItems": 1,
                "prefixItems": [INTEGER, {"type": "integer", "default": 10}],
            }
        },
        "range",
    ),
    accept=[({"range": [1, 2]}, {"range": Range(1, 2)}), ({"range": [1]}, {"range": Range(1)})],
    refuse=[{"range": []}, {"range": [1, 2, 3]}],
)
def named_tuple(range: Range): ...


NODE = shape(
    {"value": INTEGER, "children": {"type": "array", "default": [], "items": {"$ref": "#/$defs/Node"}}}, "value"
)


@case(
    shape({"tree": {"$ref": "#/$defs/Node"}}, "tree", **{"$defs": {"Node": NODE}}),
    accept=[({"tree": {"value": 1, "children": [{"value": "2"}]}}, {"tree": Node(value=1, children=[Node(value=2)])})],
    refuse=[{"tree": {"value": 1, "children": [{"value": "a"}]}}, {"tree": {"value": 1, "children": [{}]}}],
)
def recursive_model(tree: Node): ...


@case(
    shape(
        {
            "pet": {
                "oneOf": [
                    shape({"kind": {"type": "string", "const": "cat"}, "lives": INTEGER}, "kind", "lives"),
                    shape(
                        {"kind": {"type": "string", "const": "dog"}, "tricks": {"type": "array", "items": STRING}},
                        "kind",
                        "tricks",
                    ),
                ]
            }
        },
        "pet",
    ),
    accept=[
        ({"pet": {"kind": "cat", "lives": "9"}}, {"pet": Cat(kind="cat", lives=9)}),
        ({"pet": {"kind": "dog", "tricks": []}}, {"pet": Dog(kind="dog", tricks=[])}),
    ],
    refuse=[{"pet": {"kind": "cow"}}, {"pet": {"kind": "cat", "tricks": []}}, {"pet": {"lives": 9}}],
)
def tagged_union(pet: Annotated[Cat | Dog, Field(discriminator="kind")]): ...


@case(
    shape(
        {
            "period": shape(
                {"start": {"type": "string", "format": "date"}, "end": {"type": "string", "format": "date"}},
                "start",
                "end",
            )
        },
        "period",
    ),
    accept=[
        (
            {"period": {"start": "2026-01-01", "end": "2026-01-02"}},
            {"period": Period(start=dt.date(2026, 1, 1), end=dt.date(2026, 1, 2))},
        )
    ],
    refuse=[{"period": {"start": "2026-01-02", "end": "2026-01-01"}}, {"period": {"start": "2026-01-02"}}],
)
def model_with_its_own_check(period: Period): ...


@case(
    shape({"x": {"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}}, "x"),
    accept=[({"x": {"a": 1, "b": 2}}, {"x": Open(a=1, b=2)})],
    refuse=[{"x": {"b": 2}}],
)
def open_model(x: Open): ...


# ── names, kinds of parameters, kinds of functions ───────────────────────────────────────────────────────────────────

UserId = NewType("UserId", int)
Tags: TypeAlias = "list[str]"


@case(
    shape({"user": INTEGER, "tags": {"type": "array", "items": STRING}}, "user", "tags"),
    accept=[({"user": 1, "tags": ["a"]}, {"user": 1, "tags": ["a"]})],
    refuse=[{"user": "a", "tags": []}],
)
def named_types(user: UserId, tags: Tags): ...


@case(
    shape(
        {
            "schema": STRING,
            "json": STRING,
            "_id": {"type": "integer", "default": 1},
            "model_config": {"type": "integer", "default": 2},
        },
        "schema",
        "json",
    ),
    accept=[({"schema": "a", "json": "b", "_id": 3}, {"schema": "a", "json": "b", "_id": 3})],
    refuse=[{"schema": "a"}],
)
def names_that_pydantic_reserves(schema: str, json: str, _id: int = 1, model_config: int = 2): ...


@case(
    shape({"a": INTEGER, "b": {"type": "integer", "default": 2}, "c": INTEGER}, "a", "c"),
    accept=[({"a": 1, "c": 3}, {"a": 1, "b": 2, "c": 3}), ({"c": 3, "a": 1, "b": 5}, {"a": 1, "b": 5, "c": 3})],
    refuse=[{"a": 1}],
)
def positional_and_keyword_only(a: int, /, b: int = 2, *, c: int):
    return {"a": a, "b": b, "c": c}


@case(
    shape({"x": INTEGER}, "x"),
    accept=[({"x": 1}, {"x": 1, "run": "run"})],
    refuse=[{"x": 1, "context": {}}],
)
def context_is_not_shown(x: int, context: Context):
    return {"x": x, "run": context.run_id}


@case(
    shape({"x": INTEGER}, "x"),
    accept=[({"x": 1}, {"x": 1, "run": "run"})],
    refuse=[{"x": 1, "c": None}],
)
def optional_context_of_any_name(c: "Optional[Context]" = None, *, x: int):
    return {"x": x, "run": c.run_id if c else None}


@case(
    shape({"x": INTEGER}, "x"),
    accept=[({"x": "4"}, {"x": 4})],
    refuse=[{}],
)
async def asynchronous(x: int): ...


def _three(a: int, b: int, c: int = 3):
    return {"a": a, "b": b, "c": c}


three = functools.partial(_three, 1, c=5)
three.__name__ = "partial_hides_what_it_fixes"
case(
    shape({"b": INTEGER}, "b"),
    accept=[({"b": 2}, {"a": 1, "b": 2, "c": 5})],
    refuse=[{"b": 2, "c": 6}, {"a": 1, "b": 2}],
)(three)


class Doubler:
    """Doubles."""

    def __call__(self, x: int):
        return {"doubled": 2 * x}

    def method(self, x: int):
        return {"x": x}


case(shape({"x": INTEGER}, "x"), accept=[({"x": 2}, {"doubled": 4})], refuse=[{"self": 1, "x": 2}])(Doubler())
case(shape({"x": INTEGER}, "x"), accept=[({"x": 2}, {"x": 2})], refuse=[{"self": 1, "x": 2}])(Doubler().method)


# ── the proof ────────────────────────────────────────────────────────────────────────────────────────────────────────

WITHOUT_EXAMPLE = {"checked_by_a_function"}
"""What only the Python type knows: no example can be made from the schema, and a wrong one is not shown."""

each_case = pytest.mark.parametrize("name", CASES)


def made(name: str) -> Tool:
    return tool(CASES[name].function)


def got_by(subject: Tool, arguments: dict[str, Any]) -> Any:
    """What the function got: its own report where it gives one, else what would be passed."""
    valid = subject.validate(arguments)
    value = None if subject.is_async else subject.bind(valid.values, CONTEXT)()
    return dict(valid.values) if value is None else value


@each_case
def test_the_schema_is_the_one_that_the_signature_says(name: str) -> None:
    assert made(name).definition.input_schema == CASES[name].schema


@each_case
def test_the_schema_is_json_schema_that_any_validator_takes(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(CASES[name].schema, allow_nan=False)))


@each_case
def test_good_arguments_reach_the_function_as_python_values(name: str) -> None:
    subject = made(name)
    for arguments, expected in CASES[name].accept:
        got = got_by(subject, arguments)
        assert got == expected
        assert {key: type(value) for key, value in got.items()} == {key: type(value) for key, value in expected.items()}


@each_case
def test_bad_arguments_are_refused_with_a_text_for_the_model(name: str) -> None:
    subject = made(name)
    for arguments in CASES[name].refuse:
        with pytest.raises(ArgumentsError) as caught:
            subject.validate(arguments)
        assert str(caught.value).startswith(f"The arguments of `{subject.name}` do not fit:\n- ")


@each_case
def test_an_independent_validator_agrees_on_arguments_that_needed_no_repair(name: str) -> None:
    subject = made(name)
    validator = jsonschema.Draft202012Validator(CASES[name].schema)
    for arguments, _ in CASES[name].accept:
        assert validator.is_valid(subject.validate(arguments).json)


@each_case
def test_the_example_shown_with_an_error_is_accepted(name: str) -> None:
    subject = made(name)
    for arguments in CASES[name].refuse:
        with pytest.raises(ArgumentsError) as caught:
            subject.validate(arguments)
        _, intro, shown = str(caught.value).partition("Example of arguments that fit: ")
        assert bool(intro) == (name not in WITHOUT_EXAMPLE)
        if intro:
            assert subject.validate(json.loads(shown)).repairs == ()


def test_the_table_is_as_long_as_promised() -> None:
    assert len(CASES) >= 40


INTRODUCTION = """# Schema fidelity

What a Python signature becomes as JSON Schema, and which arguments it then takes. This page is written by
`python tests/tools/test_fidelity.py` from the table that the tests check, so it cannot be out of date. Of each schema
it shows the properties and the definitions; the whole is always a closed object (`additionalProperties` is false), and
parameters without a default are required. Arguments with a * are accepted after a repair that the model is told of.
"""


def page() -> str:
    return "\n".join([INTRODUCTION, *(section(name, row) for name, row in CASES.items())])


def section(name: str, row: Case) -> str:
    subject = made(name)
    document = subject.definition.input_schema
    shown = [f"{as_json(name)}: {as_json(schema)}" for name, schema in document["properties"].items()]
    shown += [f'"$defs": {as_json(document["$defs"])}'] if "$defs" in document else []
    repaired = {as_json(arguments): bool(subject.validate(arguments).repairs) for arguments, _ in row.accept}
    return "\n".join(
        [
            f"## {name.replace('_', ' ')}\n",
            f"```python\n{signature_of(row.function)}\n```\n",
            "\n".join(["```json", *shown, "```\n"]),
            f"Accepted: {', '.join(f'`{text}`' + '*' * is_repaired for text, is_repaired in repaired.items())}  ",
            f"Refused: {', '.join(f'`{as_json(arguments)}`' for arguments in row.refuse)}\n",
        ]
    )


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def signature_of(function: Callable[..., Any]) -> str:
    """As it is written; what `inspect` says differs between versions of Python."""
    if isinstance(function, functools.partial):
        return f"functools.partial(f, 1, c=5)  # {signature_of(function.func)}"
    if not inspect.isroutine(function):
        function = type(function).__call__
    written = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(written, ast.FunctionDef | ast.AsyncFunctionDef)
    kind = "async def" if isinstance(written, ast.AsyncFunctionDef) else "def"
    return f"{kind} {written.name}({ast.unparse(written.args)}): ..."


def test_the_reference_page_shows_this_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
