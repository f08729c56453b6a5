"""What JSON a Python type is read from: where pydantic's own schema says less, or what no JSON can be."""

import enum
import json
import random
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    UUID1,
    UUID4,
    BaseModel,
    Field,
    FileUrl,
    HttpUrl,
    IPvAnyAddress,
    NaiveDatetime,
    PostgresDsn,
    ValidationError,
)

from wieldy.core.errors import UsageError
from wieldy.grammar import Guard, Tokenizer, json_schema
from wieldy.schema import CompiledSchema
from wieldy.schema.from_types import output_schema, value_type


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Ratio(float, enum.Enum):
    HALF = 0.5


class Colour(enum.Enum):
    RED = "red"


class Stock(BaseModel):
    level: Level
    by_level: dict[Level, int]


class Point(NamedTuple):
    x: int


KEYS = {
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    Decimal: st.decimals(-1000, 1000, places=2),
    bool: st.booleans(),
    str: st.text(),
    Level: st.sampled_from(Level),
    Ratio: st.sampled_from(Ratio),
    Colour: st.sampled_from(Colour),
    Literal["a", "b"]: st.sampled_from(["a", "b"]),
    Annotated[str, Field(pattern=r"^k_\d$")]: st.sampled_from(["k_1", "k_2"]),
}


@given(st.data(), st.sampled_from(list(KEYS)))
def test_what_a_dictionary_is_written_as_is_what_it_is_read_from(data: st.DataObject, key: Any) -> None:
    adapter, schema = value_type(dict[key, int])
    value = data.draw(st.dictionaries(KEYS[key], st.integers(0, 9), max_size=3))
    written = adapter.dump_json(value)
    assert CompiledSchema(schema).accepts(json.loads(written))
    assert adapter.validate_json(written) == value
    assert CompiledSchema(output_schema(adapter) or {}).accepts(json.loads(written))


@pytest.mark.parametrize("key", [int, float, Decimal, bool, Level, Ratio, Colour, *list(KEYS)[-2:]])
def test_a_name_from_which_no_key_is_read_fits_no_dictionary(key: Any) -> None:
    adapter, schema = value_type(dict[key, int])
    for name in ("", "x", "1-", "None"):
        with pytest.raises(ValueError, match="validation error"):
            adapter.validate_json(json.dumps({name: 1}), strict=True)
        assert not CompiledSchema(schema).accepts({name: 1})


def test_an_enumeration_that_is_also_something_else_has_names_of_its_own() -> None:
    schema = CompiledSchema(value_type(Stock).schema)
    assert schema.accepts({"level": 1, "by_level": {"2": 5}})
    assert not schema.accepts({"level": "1", "by_level": {}})
    assert not schema.accepts({"level": 1, "by_level": {"3": 5}})


@pytest.mark.parametrize("key", [tuple[int, int], frozenset[int], None, Literal[1, 2]])
def test_keys_that_no_name_can_be_are_refused(key: Any) -> None:
    with pytest.raises(UsageError, match="a key of a dictionary is text in JSON"):
        value_type(dict[key, int])


def test_a_function_is_no_type_and_is_never_called() -> None:
    def erase(path: str) -> None:
        raise AssertionError(path)

    for annotation in (erase, list[erase], lambda: 1):  # pyright: ignore[reportInvalidTypeForm]
        with pytest.raises(UsageError, match="is no type but a function"):
            value_type(annotation)
    assert value_type(Point).adapter.validate_json("[1]") == Point(1)


TEXTS = {
    NaiveDatetime: ["2024-02-29T10:00:00", "2024-02-29T10:00:00.25", "2024-02-29T10:00"],
    HttpUrl: ["https://example.org/a?b#c", "http://localhost:80"],
    PostgresDsn: ["postgres://user:word@one:5432,two/base"],
    FileUrl: ["file:///a/b"],
    Decimal: ["12.50", "-0.1", "1e3"],
    UUID4: ["6f1d2c3a-9b8e-4d7c-8a1b-2c3d4e5f6a7b"],
    UUID1: ["6f1d2c3a-9b8e-1d7c-8a1b-2c3d4e5f6a7b"],
    IPvAnyAddress: ["192.0.2.1", "2001:db8::1"],
}


@pytest.mark.parametrize("annotation", TEXTS)
def test_a_schema_takes_the_texts_of_a_type_and_none_of_another(annotation: Any) -> None:
    adapter, document = value_type(annotation)
    schema = CompiledSchema(document)
    for text in TEXTS[annotation]:
        adapter.validate_json(json.dumps(text))
        assert schema.accepts(text)
    others = {text for texts in TEXTS.values() for text in texts} - set(TEXTS[annotation])
    assert not any(map(schema.accepts, [*others, "2024-02-29T10:00:00Z", "mailto:a@example.org", "", "none"]))


@pytest.mark.parametrize("annotation", [NaiveDatetime, UUID4, IPvAnyAddress])
def test_what_a_mask_lets_through_is_read(annotation: Any) -> None:
    adapter, document = value_type(annotation)
    grammar, letters, chance = json_schema(document), Tokenizer.of_bytes(), random.Random(1)
    assert grammar.unenforced == ()
    for _ in range(20):
        guard, written = Guard(grammar, letters, max_tokens=60), b""
        while not guard.is_finished:
            written += letters.tokens[guard.choose(chance.sample(range(256), 256))]
        try:
            assert adapter.validate_json(written) is not None
        except ValidationError as error:
            assert "day value is outside expected range" in str(error)  # noqa: PT017 - the only one there may be
