"""Raw text becomes the value that the schema says, and no text is ever lost."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.formats.values.values import (
    ANYTHING,
    Expected,
    Spelling,
    decode,
    encode,
    in_schema_order,
    is_carried,
    is_same,
)

INTEGER, NUMBER, STRING, BOOLEAN, NULL, ARRAY, OBJECT = (
    {"type": name} for name in ("integer", "number", "string", "boolean", "null", "array", "object")
)
POINT = {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]}
ANY: dict[str, Any] = {}


def either(*schemas: Any) -> dict[str, Any]:
    return {"anyOf": list(schemas)}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        # A schema of one type.
        (INTEGER, "2", 2),
        (STRING, "2", "2"),
        (STRING, "0042", "0042"),
        (STRING, '{"a": 1}', '{"a": 1}'),
        (STRING, "null", "null"),
        (STRING, " padded\n", " padded\n"),
        (NUMBER, "21.5", 21.5),
        (NUMBER, "42", 42),
        (NUMBER, "1e20", 1e20),
        (BOOLEAN, "false", False),
        (BOOLEAN, "True", True),
        (NULL, "None", None),
        (ARRAY, '["a", 1]', ["a", 1]),
        (OBJECT, '{"a": {"b": [1, null]}}', {"a": {"b": [1, None]}}),
        ({"$ref": "#/$defs/n", "$defs": {"n": INTEGER}}, "2", 2),
        ({"allOf": [{"type": ["integer", "string"]}, NUMBER]}, "2", 2),
        # Space around what is no string does not count.
        (INTEGER, "\n 2 \n", 2),
        (OBJECT, '\n{"a": 1}\n', {"a": 1}),
        # Whole numbers however they are spelled, and exactly.
        (INTEGER, "5.0", 5),
        (INTEGER, "-0.0", 0),
        (INTEGER, "1e3", 1000),
        (INTEGER, "1e20", 10**20),
        (INTEGER, "9223372036854775808", 2**63),
        (INTEGER, "9007199254740993.0", 9007199254740993),
        (NUMBER, "5.0", 5.0),
        # Python's spelling.
        (OBJECT, "{'a': True, 'b': [None, False], \"c'\": 'True'}", {"a": True, "b": [None, False], "c'": "True"}),
        (ARRAY, r"['it\'s', 'a\\b', '\x41\u00e9\n', '\d', '\0']", ["it's", r"a\b", "Aé\n", r"\d", "\0"]),
        (ARRAY, r"['\ud83d\ude00', '\U0001f600']", ["😀", "😀"]),
        (OBJECT, '{"a": True, "b": "c\\/d"}', {"a": True, "b": "c/d"}),
        # Text wins over scalars.
        (either(STRING, INTEGER), "5", "5"),
        (either(INTEGER, STRING), "5", "5"),
        ({"type": ["string", "number", "boolean"]}, "true", "true"),
        (either(STRING, {"const": 5}), "5", "5"),
        # Null, where the schema names it.
        ({"type": ["string", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "null", None),
        (either(STRING, NULL), "null", None),
        (either(STRING, {"enum": [None, "a"]}), "null", None),
        (either(ANY, NULL), "null", None),
        ({"type": ["string", "null"]}, "None", "None"),
        ({"type": ["string", "null"]}, " null", " null"),
        (ANY, "null", "null"),
        # Listed values.
        ({"enum": ["celsius", "fahrenheit"]}, "celsius", "celsius"),
        ({"enum": ["celsius", "fahrenheit"]}, "\ncelsius\n", "celsius"),
        ({"enum": ["celsius", "fahrenheit"]}, '"celsius"', "celsius"),
        ({"enum": ["celsius", "fahrenheit"]}, "kelvin", "kelvin"),
        ({"enum": [1, "2", None, [3]]}, "1", 1),
        ({"enum": [1, "2", None, [3]]}, "2", "2"),
        ({"enum": [1, "2", None, [3]]}, "null", None),
        ({"enum": [1, "2", None, [3]]}, "[3]", [3]),
        ({"enum": [1, "1"]}, "1", "1"),
        ({"enum": [True, 1]}, "1", 1),
        ({"enum": [1]}, "1.0", 1),
        ({"const": True}, "True", True),
        ({"enum": ["a", 1], "type": "string"}, "1", "1"),
        (either({"const": "auto"}, INTEGER), "5", 5),
        (either({"const": "auto"}, INTEGER), "auto", "auto"),
        (either({"const": "auto"}, BOOLEAN), "true", True),
        # Objects and arrays beside text.
        (either(STRING, POINT), '{"x": 1}', {"x": 1}),
        (either(STRING, POINT), '{"y": 1}', '{"y": 1}'),
        (either(STRING, POINT), "{x", "{x"),
        (either(STRING, POINT), "{'x': 1}", "{'x': 1}"),
        (either(STRING, ARRAY), '["a"]', ["a"]),
        (either(STRING, ARRAY), '{"a": 1}', '{"a": 1}'),
        (either(STRING, {"const": [1]}), "[1]", [1]),
        # Nothing is said.
        (ANY, "5", "5"),
        (ANY, "true", "true"),
        (ANY, '{"a": 1}', {"a": 1}),
        (ANY, " [1]\n", [1]),
        (ANY, "[1] and more", "[1] and more"),
        ({"properties": {"x": INTEGER}}, '{"x": "1"}', {"x": "1"}),
    ],
)
def test_a_text_means_what_the_schema_says(schema: Any, text: str, value: Any) -> None:
    decoded = decode(text, Expected.of(schema))
    assert (type(decoded), decoded) == (type(value), value)
    assert is_same(decoded, value)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (INTEGER, "two"),
        (INTEGER, ""),
        (INTEGER, "2.5"),
        (INTEGER, "9007199254740993.5"),
        (INTEGER, "1e-400"),
        (INTEGER, "1e-99999999999999999999"),
        (INTEGER, "1_000"),
        (INTEGER, "+5"),
        (INTEGER, "007"),
        (INTEGER, "٣"),
        (INTEGER, "true"),
        (NUMBER, "1e400"),
        (NUMBER, "NaN"),
        (NUMBER, "-Infinity"),
        (BOOLEAN, "yes"),
        (BOOLEAN, "1"),
        (ARRAY, "a, b"),
        (ARRAY, "[1, 2"),
        (ARRAY, "['\\ud83d']"),
        (ARRAY, "[NaN]"),
        (ARRAY, "['a' 'b']"),
        (OBJECT, '{"a": 1, "a": 2}'),
        (OBJECT, "{'a': 1, 'a': 2}"),
        (OBJECT, "{'a': (1, 2)}"),
        (OBJECT, "[1]"),
        (OBJECT, "{__import__('os')}"),
        ({"type": "text"}, "5"),
        ({"type": []}, "[1]"),
    ],
)
def test_what_fits_nothing_stays_the_text_that_it_is(schema: Any, text: str) -> None:
    assert decode(text, Expected.of(schema)) == text


def test_hostile_texts_stay_text_and_cost_no_more_than_their_length() -> None:
    # Were any of them quadratic, this would take hours.
    for schema, text in [
        (INTEGER, "9" * 1_000_000),
        (ARRAY, "[" * 1_000_000),
        (ARRAY, "[" * 500 + "]" * 500),
        (ARRAY, "['" + r"\'" * 300_000),
        (ARRAY, '["' + "a'" * 300_000),
        (ARRAY, "[" + "'" * 600_001),
        (ARRAY, "['" + "\\" * 600_001),
        (ARRAY, "[True" * 100_000),
    ]:
        assert decode(text, Expected.of(schema)) == text


@pytest.mark.parametrize(
    ("value", "schema", "spelling", "text"),
    [
        ('raw "é" [\'', STRING, "json", 'raw "é" [\''),
        (True, BOOLEAN, "json", "true"),
        (True, BOOLEAN, "python", "True"),
        (True, BOOLEAN, "python-scalars", "True"),
        ({"a": [None, "é"]}, OBJECT, "json", '{"a": [null, "é"]}'),
        ({"a": [None, "é"]}, OBJECT, "python-scalars", '{"a": [null, "é"]}'),
        ({"a": [None, "é"]}, OBJECT, "python", "{'a': [None, 'é']}"),
        (None, NULL, "python", "None"),
        (None, {"type": ["string", "null"]}, "json", "null"),
        (None, {"type": ["string", "null"]}, "python", "null"),
        (None, {"type": ["string", "null"]}, "python-scalars", "null"),
        ([None], either(STRING, ARRAY), "python", "[null]"),
        ({"a": None}, ANY, "python", '{"a": null}'),
        (2.5, NUMBER, "python", "2.5"),
    ],
)
def test_a_value_is_written_in_the_spelling_of_the_format(
    value: Any, schema: Any, spelling: Spelling, text: str
) -> None:
    assert encode(value, Expected.of(schema), spelling=spelling) == text
    assert is_carried(value, Expected.of(schema), spelling=spelling)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("2", INTEGER),
        (2, STRING),
        (2, either(STRING, INTEGER)),
        (2, ANY),
        (None, ANY),
        ("null", {"type": ["string", "null"]}),
        ('{"a": 1}', ANY),
        (float("nan"), NUMBER),
        ({"a": object()}, OBJECT),
    ],
)
def test_what_would_come_back_as_something_else_is_not_carried(value: Any, schema: Any) -> None:
    assert not is_carried(value, Expected.of(schema))


def test_a_value_that_cannot_be_written_is_not_carried() -> None:
    assert not is_carried(10**5000, Expected.of(INTEGER))  # more digits than Python writes
    value: Any = []
    for _ in range(20_000):
        value = [value]
    assert not is_carried(value, Expected.of(ARRAY))


keywords = st.sampled_from(["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"]) | st.sampled_from(
    ["properties", "patternProperties", "additionalProperties", "items", "prefixItems"]
)
words = st.sampled_from(
    [
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "properties",
        "patternProperties",
        "additionalProperties",
        "items",
        "prefixItems",
    ]
)
words = st.sampled_from(
    ["null", "string", "integer", "number", "object", "array", "boolean", "a", "#", "#/anyOf/0", "("]
)
anything = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 1.0, 2.5, 10**30]) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keywords | words, inner, max_size=4),
    max_leaves=12,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
texts = (
    st.text()
    | st.text(alphabet="{}[]'\",: \\TrueNoneax0123456789.-+", max_size=30)
    | values.map(json.dumps)
    | values.map(repr)
)
spellings = st.sampled_from(get_args(Spelling))


@given(anything, texts)
def test_reading_raises_for_no_text_and_no_schema(schema: Any, text: str) -> None:
    root = Expected.of(schema)
    for expected in (root, root.member("a"), root.item(0), root.member("a").member("null")):
        value = decode(text, expected)
        assert not expected.takes_any_text or value == text


@given(st.text())
def test_where_only_strings_fit_a_text_is_itself(text: str) -> None:
    assert decode(text, Expected.of({"type": "string", "minLength": 1})) == text


schemas = st.recursive(
    st.sampled_from([True, STRING, INTEGER, NUMBER, BOOLEAN, NULL, ARRAY, OBJECT, POINT, {"$ref": "#"}])
    | st.fixed_dictionaries({"enum": st.lists(st.sampled_from([None, 1, 1.5, "a", [], {"a": "b"}]), min_size=1)}),
    lambda inner: (
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=3)})
    ),
    max_leaves=6,
)


@given(schemas, texts, spellings)
def test_whatever_was_read_is_carried(schema: Any, text: str, spelling: Spelling) -> None:
    expected = Expected.of(schema)
    assert is_carried(decode(text, expected), expected, spelling=spelling)


@given(anything, st.text())
def test_every_string_is_carried_where_any_text_is_taken(schema: Any, text: str) -> None:
    expected = Expected.of(schema).member("a")
    assert is_carried(text, expected) or not expected.takes_any_text


TYPED = [INTEGER, NUMBER, BOOLEAN, NULL, ARRAY, OBJECT]


@given(values, spellings)
def test_every_value_is_carried_where_the_schema_names_its_type_alone(value: Any, spelling: Spelling) -> None:
    # Text beside the others is what a wire without types cannot carry.
    schema = STRING if isinstance(value, str) else either(*TYPED)
    assert is_carried(value, Expected.of(schema), spelling=spelling)


@given(values)
def test_objects_and_arrays_are_carried_where_nothing_is_said(value: Any) -> None:
    if isinstance(value, dict | list):
        assert is_carried(value, ANYTHING)


def test_members_are_written_in_the_order_of_the_schema() -> None:
    schema = {
        "properties": {
            "first": {"$ref": "#/$defs/inner"},
            "second": {"type": "array", "items": {"$ref": "#/$defs/inner"}},
        },
        "$defs": {"inner": {"properties": {"a": True, "b": True}}},
    }
    arguments = {"z": {"b": 1, "a": 2}, "second": [{"b": 1, "z": 2, "a": 3}, 5], "y": 0, "first": {"b": 1, "a": 2}}
    assert json.dumps(in_schema_order(arguments, Expected.of(schema))) == json.dumps(
        {"first": {"a": 2, "b": 1}, "second": [{"a": 3, "b": 1, "z": 2}, 5], "z": {"b": 1, "a": 2}, "y": 0}
    )


@given(anything, st.dictionaries(words, values, max_size=4))
def test_an_object_in_the_schemas_order_is_the_same_object(schema: Any, arguments: dict[str, Any]) -> None:
    given_order = json.dumps(arguments)
    ordered = in_schema_order(arguments, Expected.of(schema))
    assert is_same(ordered, arguments)
    assert json.dumps(arguments) == given_order


def test_arguments_nested_without_end_keep_their_order_inside() -> None:
    arguments: dict[str, Any] = {}
    for _ in range(20_000):
        arguments = {"a": arguments}
    assert in_schema_order(arguments, ANYTHING).keys() == {"a"}
