"""What JSON a Python type is read from: where pydantic's own schema says less, or what no JSON can be."""

import enum
import json
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from wieldy.core.errors import UsageError
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
