"""Coercion repairs what has one reading, says so, and leaves everything else alone."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.schema import CompiledSchema, coerce, example, may_change
from wieldy.schema.coerce import MAX_NOTES


def shape(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


INTEGER, NUMBER, STRING, BOOLEAN, NULL = ({"type": name} for name in ("integer", "number", "string", "boolean", "null"))
MIXED = shape(
    "n",
    n=INTEGER,
    x=NUMBER,
    s=STRING,
    b=BOOLEAN,
    either={"anyOf": [INTEGER, STRING]},
    maybe={"anyOf": [INTEGER, NULL]},
    many={"type": "array", "items": INTEGER},
    inner=shape("n", n=INTEGER),
    choice={"enum": [1, 2, None]},
)


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ({"n": "17"}, {"n": 17}),
        ({"n": " -3 "}, {"n": -3}),
        ({"n": "3.0"}, {"n": 3}),
        ({"n": "1e3"}, {"n": 1000}),
        ({"n": 3.0}, {"n": 3}),
        ({"n": 1, "x": "2.5"}, {"n": 1, "x": 2.5}),
        ({"n": 1, "b": "true"}, {"n": 1, "b": True}),
        ({"n": 1, "b": "False"}, {"n": 1, "b": False}),
        ({"n": 1, "maybe": "null"}, {"n": 1, "maybe": None}),
        ({"n": 1, "maybe": "None"}, {"n": 1, "maybe": None}),
        ({"n": 1, "choice": "2"}, {"n": 1, "choice": 2}),
        ({"n": 1, "many": "[1, 2]"}, {"n": 1, "many": [1, 2]}),
        ({"n": 1, "many": ["1", 2.0]}, {"n": 1, "many": [1, 2]}),
        ({"n": 1, "inner": '{"n": "1"}'}, {"n": 1, "inner": {"n": 1}}),
        ({"n": 1, "many": None}, {"n": 1}),
        ('{"n": 1}', {"n": 1}),
    ],
)
def test_what_has_one_reading_is_repaired_and_noted(given_value: Any, expected: Any) -> None:
    value, notes = coerce(CompiledSchema(MIXED), given_value)
    assert json.dumps(value) == json.dumps(expected)
    assert notes


@pytest.mark.parametrize(
    "value",
    [
        {"n": "seventeen"},
        {"n": "3.5"},
        {"n": "0x10"},
        {"n": "1_000"},
        {"n": "1,000"},
        {"n": "٣"},
        {"n": "+3"},
        {"n": "007"},
        {"n": ""},
        {"n": "1e400"},
        {"n": "9007199254740993.0"},
        {"n": True},
        {"n": None},
        {"n": 1, "b": "yes"},
        {"n": 1, "b": 1},
        {"n": 1, "b": "1"},
        {"n": 1, "s": 17},
        {"n": 1, "s": None, "x": "a"},
        {"n": 1, "many": "1, 2"},
        {"n": 1, "many": 1},
        {"n": 1, "many": "[1, "},
        {"n": 1, "many": '["a"]'},
        {"n": 1, "inner": "[]"},
        {"n": 1, "inner": '{"n": "a"}'},
        {"n": 1, "choice": "3"},
        {"n": 1, "unknown": None},
        [],
        None,
    ],
)
def test_what_has_no_or_several_readings_is_left_for_the_model(value: Any) -> None:
    schema = CompiledSchema(MIXED)
    repaired, _ = coerce(schema, value)
    assert not schema.accepts(repaired)


@pytest.mark.parametrize("text", ["17", "true", "null", "[1]", '{"n": 1}', "3.0"])
def test_text_stays_text_where_a_string_is_allowed(text: str) -> None:
    for schema in (STRING, {}, {"anyOf": [INTEGER, BOOLEAN, NULL, STRING]}, {"type": ["integer", "string"]}):
        assert coerce(CompiledSchema(schema), text) == (text, ())


def test_text_that_a_pattern_refuses_is_not_turned_into_another_type() -> None:
    schema = {"anyOf": [INTEGER, {"type": "string", "pattern": "^[a-z]+$"}]}
    assert coerce(CompiledSchema(schema), "17") == ("17", ())


def test_alternatives_are_repaired_only_if_one_of_them_can_be_meant() -> None:
    cat = shape("kind", "lives", kind={"const": "cat"}, lives=INTEGER)
    dog = shape("kind", "age", kind={"const": "dog"}, age=INTEGER)
    schema = CompiledSchema({"oneOf": [cat, dog]})
    assert coerce(schema, {"kind": "cat", "lives": "9"})[0] == {"kind": "cat", "lives": 9}
    ambiguous = CompiledSchema({"anyOf": [shape("a", a=INTEGER), shape("a", a=BOOLEAN)]})
    assert coerce(ambiguous, {"a": "1"})[0] == {"a": 1}
    both = CompiledSchema({"anyOf": [shape("a", a={"enum": [1]}), shape("a", a={"enum": [1.5, 1]}, b=INTEGER)]})
    assert coerce(both, {"a": "1"})[0] == {"a": 1}


def test_references_are_followed() -> None:
    node = shape("value", value=INTEGER, next={"anyOf": [{"$ref": "#/$defs/Node"}, NULL]})
    schema = CompiledSchema({"$defs": {"Node": node}, "$ref": "#/$defs/Node"})
    value, notes = coerce(schema, {"value": "1", "next": {"value": "2", "next": None}})
    assert value == {"value": 1, "next": {"value": 2, "next": None}}
    assert notes == ('`value`: the text "1" was read as 1', '`next.value`: the text "2" was read as 2')


def test_properties_by_pattern_are_repaired_and_odd_patterns_are_left_alone() -> None:
    schema = CompiledSchema({"type": "object", "patternProperties": {"^n_": INTEGER, "\\p{Lu}$": INTEGER}})
    assert coerce(schema, {"n_a": "1", "other": "1", "sumA": "2"})[0] == {"n_a": 1, "other": "1", "sumA": "2"}


def test_parts_of_all_of_hold_together() -> None:
    schema = CompiledSchema({"allOf": [{"properties": {"a": INTEGER}}, {"properties": {"a": {"minimum": 3}}}]})
    assert coerce(schema, {"a": "5"})[0] == {"a": 5}
    assert coerce(schema, {"a": "1"}) == ({"a": "1"}, ())


def test_one_bad_argument_does_not_keep_another_from_being_repaired() -> None:
    value, notes = coerce(CompiledSchema(MIXED), {"n": "1", "x": "a"})
    assert value == {"n": 1, "x": "a"}
    assert notes == ('`n`: the text "1" was read as 1',)


def test_alternatives_that_multiply_end() -> None:
    branch = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}
    schema = CompiledSchema(
        {"$defs": {"N": {"anyOf": [branch, {**branch, "minProperties": 0}, INTEGER]}}, "$ref": "#/$defs/N"}
    )
    value: Any = "wrong"
    for _ in range(60):
        value = {"next": value}
    assert coerce(schema, value) == (value, ())


def test_a_schema_whose_parts_all_refer_to_all_others_is_given_up_on() -> None:
    count = 60
    everything = {"anyOf": [{"$ref": f"#/$defs/D{index}"} for index in range(count)]}
    definitions = {f"D{index}": everything for index in range(count)}
    schema = CompiledSchema({"$defs": definitions, "$ref": "#/$defs/D0"})
    value: Any = {"a": "1"}
    assert coerce(schema, value) == (value, ())
    assert schema.violations(value) == ()
    example(schema)


def test_many_repairs_are_counted_instead_of_listed() -> None:
    schema = CompiledSchema({"type": "array", "items": INTEGER})
    value, notes = coerce(schema, ["1"] * 1000)
    assert value == [1] * 1000
    assert len(notes) == MAX_NOTES + 1
    assert notes[-1] == "and 980 more of this kind"


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

leaves = st.sampled_from(
    [
        INTEGER,
        NUMBER,
        STRING,
        BOOLEAN,
        NULL,
        {},
        {"type": "integer", "minimum": 0, "maximum": 20},
        {"type": "string", "maxLength": 4},
        {"enum": [1, "a", None]},
        {"enum": [True, 2]},
        {"type": ["integer", "null"]},
        {"$ref": "#/$defs/Item"},
    ]
)
names = st.sampled_from("abc")


def _objects(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def build(properties: dict[str, Any], required: set[str], extra: Any) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        schema["required"] = sorted(required & properties.keys())
        return schema if extra is None else schema | {"additionalProperties": extra}

    return st.builds(build, st.dictionaries(names, parts), st.sets(names), st.one_of(st.none(), st.just(False), parts))


def _nested(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        _objects(parts),
        st.builds(lambda items: {"type": "array", "items": items}, parts),
        st.builds(
            lambda first, items: {"type": "array", "prefixItems": first, "items": items},
            st.lists(parts, min_size=1, max_size=2),
            parts,
        ),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda branches: {"oneOf": branches}, st.lists(parts, min_size=1, max_size=2)),
        st.builds(lambda branches: {"allOf": branches}, st.lists(parts, min_size=1, max_size=2)),
    )


ITEM = {"type": "object", "properties": {"a": INTEGER, "b": {"$ref": "#/$defs/Item"}}, "required": ["a"]}
schemas = st.recursive(leaves, _nested, max_leaves=6).map(lambda schema: {**schema, "$defs": {"Item": ITEM}})
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.sampled_from(["a", "1", "3.0", "true", "null", "[1]", '{"a": "1"}', "x" * 5, ""]),
)
values = st.recursive(
    scalars,
    lambda parts: st.one_of(st.lists(parts, max_size=3), st.dictionaries(names, parts, max_size=3)),
    max_leaves=8,
)


@given(schemas, values)
def test_a_value_that_fits_comes_back_equal(document: dict[str, Any], value: Any) -> None:
    schema = CompiledSchema(document)
    if schema.accepts(value):
        repaired, _ = coerce(schema, value)
        assert repaired == value
        assert schema.accepts(repaired)


@given(schemas, values)
def test_what_may_not_change_does_not(document: dict[str, Any], value: Any) -> None:
    schema = CompiledSchema(document)
    if not may_change(schema, value):
        before = json.dumps(value)
        repaired, notes = coerce(schema, value)
        assert (json.dumps(repaired), notes) == (before, ())


@given(schemas, values)
def test_without_a_note_nothing_was_changed(document: dict[str, Any], value: Any) -> None:
    before = json.dumps(value)
    repaired, notes = coerce(CompiledSchema(document), value)
    assert json.dumps(value) == before
    assert bool(notes) == (json.dumps(repaired) != before)


@given(schemas, values)
def test_what_was_repaired_needs_no_second_repair(document: dict[str, Any], value: Any) -> None:
    schema = CompiledSchema(document)
    repaired, _ = coerce(schema, value)
    assert coerce(schema, repaired) == (repaired, ())


objects = _objects(schemas).map(lambda schema: {**schema, "$defs": {"Item": ITEM}})


@given(objects, st.dictionaries(names, values, max_size=3))
def test_what_was_repaired_fits_at_its_place(document: dict[str, Any], value: Any) -> None:
    repaired, _ = coerce(CompiledSchema(document), value)
    for name, part in document["properties"].items():
        before, after = value.get(name), repaired.get(name)
        # Only whole replacements: inside an object or array one item may be repaired and another not.
        if name in repaired and not isinstance(before, dict | list) and json.dumps(after) != json.dumps(before):
            assert CompiledSchema({**part, "$defs": {"Item": ITEM}}).accepts(after)


textless = st.recursive(
    st.sampled_from([INTEGER, NUMBER, BOOLEAN, {"type": "integer", "minimum": 3}, {"enum": [1, 5, None]}]),
    lambda parts: st.one_of(st.builds(lambda items: {"type": "array", "items": items}, parts), _objects(parts)),
    max_leaves=5,
)


@given(textless, st.data())
def test_the_json_text_of_a_good_value_is_read_back_where_no_text_fits(document: dict[str, Any], data: Any) -> None:
    schema = CompiledSchema(document)
    good = example(schema)
    if good is not None:
        read, notes = coerce(schema, json.dumps(good, indent=data.draw(st.sampled_from([None, 1]))))
        assert json.dumps(read) == json.dumps(good)
        assert notes


@given(schemas, values)
def test_compiled_schemas_agree_with_an_independent_validator(document: dict[str, Any], value: Any) -> None:
    schema = CompiledSchema(document)
    fits = jsonschema.Draft202012Validator(document).is_valid(value)
    assert schema.accepts(value) == fits
    assert (schema.violations(value) == ()) == fits


@given(schemas)
def test_an_example_fits_its_schema(document: dict[str, Any]) -> None:
    schema = CompiledSchema(document)
    shown = example(schema)
    assert shown is None or schema.accepts(shown)
