"""Every result becomes text that a model can read, and JSON where it has that form."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import decimal
import itertools
import json
import uuid
from collections.abc import Callable
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, computed_field

from wieldy.core.media import FilePart, ImagePart
from wieldy.tools import tool
from wieldy.tools.present import NOTHING, Presented, Sourced, present


class Weather(BaseModel):
    city: str
    degrees: float
    at: dt.datetime | None = None


class Secretive(Weather):
    password: str = "secret"


@dataclasses.dataclass
class Point:
    x: int
    note: object = None


class Color(Enum):
    RED = "red"


class Size(StrEnum):
    S = "s"


class Plain:
    pass


class Talking:
    def __str__(self) -> str:
        return "a talking thing"


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Array:
    def tolist(self) -> list[int]:
        return [1, 2]


class Computed(BaseModel):
    @computed_field
    @property
    def bad(self) -> int:
        raise KeyError("bad")


@pytest.mark.parametrize(
    ("value", "content", "structured"),
    [
        ("text", "text", None),
        ("", "", None),
        (None, NOTHING, None),
        (3, "3", 3),
        (True, "true", True),
        (2.5, "2.5", 2.5),
        (
            Weather(city="Rome", degrees=20),
            '{"city": "Rome", "degrees": 20.0, "at": null}',
            {"city": "Rome", "degrees": 20.0, "at": None},
        ),
        (Point(1), '{"x": 1, "note": null}', {"x": 1, "note": None}),
        ([Point(1)], '[{"x": 1, "note": null}]', [{"x": 1, "note": None}]),
        (dt.datetime(2026, 1, 31, 9, 30), "2026-01-31T09:30:00", "2026-01-31T09:30:00"),
        ({"day": dt.date(2026, 1, 31)}, '{"day": "2026-01-31"}', {"day": "2026-01-31"}),
        (dt.timedelta(hours=1), "PT1H", "PT1H"),
        (decimal.Decimal("1.10"), "1.10", "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000001"),
        (Path("a/b"), "a/b", "a/b"),
        (Color.RED, "red", "red"),
        (Size.S, "s", "s"),
        ((1, "a"), '[1, "a"]', [1, "a"]),
        ({1}, "[1]", [1]),
        ({1: "a", (2, 3): "b"}, '{"1": "a", "2,3": "b"}', {"1": "a", "2,3": "b"}),
        ({"ü": "日本"}, '{"ü": "日本"}', {"ü": "日本"}),
        (b"text", "text", None),
        (b"\xff\xfe", "The tool returned 2 bytes that are not text.", None),
        ({"a": b"\xff"}, '{"a": "_w=="}', {"a": "_w=="}),
        (float("nan"), "nan", "nan"),
        ({"a": [float("inf")]}, '{"a": ["inf"]}', {"a": ["inf"]}),
        ("a\ud800b", "a�b", None),
        ("\ud83d\ude00", "😀", None),
        (["\ud800"], '["�"]', ["�"]),
        (Array(), "[1, 2]", [1, 2]),
        ({"a": Array()}, '{"a": [1, 2]}', {"a": [1, 2]}),
        (Talking(), "a talking thing", "a talking thing"),
        ({"a": Plain()}, '{"a": "a Plain object"}', {"a": "a Plain object"}),
        (ValueError("no"), "ValueError: no", "ValueError: no"),
    ],
)
def test_values_are_shown(value: Any, content: str, structured: Any) -> None:
    presented = present(value, None)
    assert (presented.text, presented.structured, presented.parts) == (content, structured, ())


def circular() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(10_000):
        value = [value]
    return value


@pytest.mark.parametrize("make", [circular, deep, lambda: 10**5000, Broken, lambda: {"a": Broken()}, Computed])
def test_what_cannot_be_shown_is_said_in_words(make: Callable[[], Any]) -> None:
    value = make()
    presented = present(value, None)
    assert presented.text.startswith(f"The tool ran, but the {type(value).__name__} that it returned cannot be shown")
    assert "Traceback" not in presented.text
    assert presented.structured is None


def test_what_would_have_to_be_run_is_not() -> None:
    async def later() -> None: ...

    coroutine = later()
    for value in (itertools.count(), (x for x in "ab"), map(str, [1]), coroutine):
        presented = present(value, None)
        assert "instead of a result; it has to return a list or a value" in presented.text
        assert presented.structured is None
    asyncio.run(coroutine)


def test_a_declared_type_decides_what_is_told() -> None:
    adapter = TypeAdapter(Weather)
    presented = present(Secretive(city="Rome", degrees=20), adapter)
    assert "secret" not in presented.text
    assert set(presented.structured or ()) == {"city", "degrees", "at"}


def test_what_is_not_of_the_declared_type_is_shown_as_what_it_is() -> None:
    shown = present(["a", "b"], TypeAdapter(Weather))
    assert shown == Presented(text='["a", "b"]', structured=["a", "b"])
    assert present(b"\xff", TypeAdapter(bytes)).text == "The tool returned 1 bytes that are not text."


def test_none_of_a_tool_that_may_return_none_is_null() -> None:
    @tool
    def find() -> Weather | None: ...

    assert find.present(None).text == "null"


def test_a_text_with_an_output_schema_is_structured_too() -> None:
    assert present("a", TypeAdapter(str)) == Presented(text="a", structured="a")


def test_a_source_goes_with_the_value() -> None:
    shown = present(Sourced({"a": 1}, source="https://a.example", trust="untrusted"), None)
    assert shown == Presented(text='{"a": 1}', structured={"a": 1}, source="https://a.example", trust="untrusted")


def test_a_tool_may_present_its_result_itself() -> None:
    shown = Presented(text="three rows", structured={"rows": 3}, note="there are more")
    assert present(shown, TypeAdapter(Weather)) == shown
    assert present(Presented(text="a\ud800"), None).text == "a\ufffd"


ANYTHING: Any = object()


@pytest.mark.parametrize(
    "shown",
    [
        Presented(text=ANYTHING),
        Presented(text="a", parts=(ANYTHING,)),
        Presented(text="a", parts=ANYTHING),
        Presented(text="a", parts=(ImagePart(url=ANYTHING),)),
        Presented(text="a", parts=(FilePart(name=ANYTHING, media_type="text/plain", url="data:,a"),)),
        Presented(text="a", source=ANYTHING),
        Presented(text="a", trust=ANYTHING),
        Presented(text="a", note=ANYTHING),
        Sourced("a", source=ANYTHING),
        Sourced("a", source="b", trust=ANYTHING),
        ImagePart(url=ANYTHING),
        FilePart(name="a", media_type=ANYTHING, url="data:,a"),
        [FilePart(name=ANYTHING, media_type="text/plain", url="data:,a")],
    ],
)
def test_what_a_tool_fills_in_wrongly_cannot_be_shown_and_is_not_trusted(shown: object) -> None:
    presented = present(shown, None)
    assert presented.text.startswith(f"The tool ran, but the {type(shown).__name__} that it returned cannot be shown (")
    assert presented == Presented(text=presented.text)


def test_what_a_tool_fills_in_by_itself_becomes_json() -> None:
    given: Any = Presented(text="a", structured={1: {Color.RED}, "at": dt.date(2026, 1, 2)})
    assert present(given, None).structured == {"1": ["red"], "at": "2026-01-02"}


class Words(str):
    """Text of a class of its own."""

    __slots__ = ()

    def __str__(self) -> str:
        raise SystemExit

    def encode(self, *_: Any) -> bytes:
        raise SystemExit

    def isascii(self) -> bool:
        raise SystemExit


def test_text_of_a_class_of_its_own_is_shown_by_its_characters() -> None:
    for shown in (Words("é"), Presented(text=Words("é")), Sourced(Words("é"), source=Words("b"))):
        presented = present(shown, None)
        assert (presented.text, type(presented.text)) == ("é", str)
        assert type(presented.source) in {str, type(None)}


END: list[type[BaseException]] = [RuntimeError, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]


def _deceiving(error: type[BaseException]) -> list[object]:
    def fail(*_: Any) -> Any:
        raise error("the value's own words")

    class Silent:
        __str__ = __repr__ = fail

    class Faceless:
        __class__ = property(fail)  # type: ignore[assignment]

    class Closed:
        __getattribute__ = fail  # type: ignore[assignment]

    class Endless(dict[str, Any]):
        __iter__ = items = keys = fail

    class Meta(type):
        __name__ = property(fail)  # type: ignore[assignment]

    class Nameless(metaclass=Meta):
        __str__ = fail

    class Drawn:
        _repr_png_ = fail

    class Model(BaseModel):
        made = computed_field(property(fail))

    values = [Silent(), Faceless(), Closed(), Endless(a=1), Nameless(), Drawn(), Model(), error("x")]
    return [*values, *([value] for value in values)]


@pytest.mark.parametrize("error", END)
def test_whatever_a_value_does_when_it_is_looked_at_becomes_words(error: type[BaseException]) -> None:
    for value in _deceiving(error):
        presented = present(value, None)
        assert type(presented.text) is str
        json.dumps(presented.structured, allow_nan=False)


def test_nothing_is_nobodys_word() -> None:
    assert present(None, None) == Presented(text=NOTHING, trust="trusted")


@given(
    st.recursive(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(), st.just(Plain())
        ),
        lambda parts: st.one_of(
            st.lists(parts, max_size=3),
            st.tuples(parts),
            st.dictionaries(st.one_of(st.text(), st.integers()), parts, max_size=3),
        ),
        max_leaves=8,
    )
)
def test_any_value_becomes_text_and_strict_json(value: Any) -> None:
    presented = present(value, None)
    presented.text.encode()
    json.dumps(presented.structured, allow_nan=False).encode()


@pytest.mark.parametrize("depth", [200, 300, 500])
@pytest.mark.parametrize("is_prepared", [False, True])
def test_what_is_nested_deeply_is_shown_at_least_as_text(depth: int, is_prepared: bool) -> None:
    value: Any = "the innermost"
    for _ in range(depth):
        value = [value]
    found = present(Presented(text="said", structured=value) if is_prepared else value, None)
    assert found.text == ("said" if is_prepared else json.dumps(value))
    assert found.structured == (value if depth == 200 else None)


def test_what_holds_itself_is_said_to_be_no_data() -> None:
    value: list[Any] = []
    value.append(value)
    assert "cannot be shown" in present(value, None).text
