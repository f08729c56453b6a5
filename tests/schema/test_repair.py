"""Text that is nearly JSON is read as what was meant, with every change told; what has two readings is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import ParseError, UsageError
from wieldy.schema import CompiledSchema, coerce
from wieldy.schema.repair import JsonRepairError, RepairedJson, read_json
from wieldy.schema.repair_reader import read_value
from wieldy.schema.repair_source import Source, UnreadableError
from wieldy.schema.wellformed import MAX_DEPTH

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)
CONTAINERS = VALUES.filter(lambda value: isinstance(value, dict | list))
TOKENS = (
    *"{}[],:'#-.e01\\\n a٣\u00a0\ud800\x00",
    *('"', '"', "\\u", "“", "”", "’", "b c", '"a"', '"b": ', "//", "/*", "*/", "```"),
    *("true", "True", "None", "NaN", "1e999", '{"a": 1}', "[1]"),
)
FRAGMENTS = st.lists(st.sampled_from(TOKENS), max_size=20).map("".join)
TEXTS = FRAGMENTS | st.text(max_size=30) | VALUES.map(json.dumps)
SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "colour": {"enum": ["red", "green"]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "many": {"type": "array", "items": {"type": "number"}},
    },
}


def kinds(repaired: RepairedJson) -> list[str]:
    return [change.kind for change in repaired.changes]


def same(left: object, right: object) -> bool:
    return json.dumps(left) == json.dumps(right)


def read(text: str, **arguments: Any) -> RepairedJson | JsonRepairError:
    try:
        return read_json(text, **arguments)
    except JsonRepairError as error:
        return error


def strictly(text: str) -> Any:
    source = Source(text, start=0, limit=len(text), level=1)
    source.skip()
    value = read_value(source)
    source.skip()
    if source.peek():
        source.fail("the end")
    return value


# Laws


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_valid_json_is_read_as_the_standard_library_reads_it_and_needs_no_change(
    value: Any, indent: Any, is_ascii: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    repaired = read_json(text, schema=SCHEMA)
    assert same(repaired.value, json.loads(text))
    assert (repaired.level, repaired.changes) == (1, ())


@given(TEXTS)
def test_the_strict_reader_that_finds_the_place_accepts_what_the_fast_one_accepts(text: str) -> None:
    def refuse(name: str) -> None:
        raise ValueError(name)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    try:
        expected = json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
        json.dumps(expected, allow_nan=False)
    except ValueError:
        with pytest.raises(UnreadableError):
            strictly(text)
    else:
        assert same(strictly(text), expected)


@given(TEXTS, st.sampled_from([1, 2, 3]), st.sampled_from([None, SCHEMA]))
def test_any_text_gives_a_value_with_changes_inside_the_text_or_an_error_with_a_place(
    text: str, level: Any, schema: Any
) -> None:
    repaired = read(text, level=level, schema=schema)
    if isinstance(repaired, JsonRepairError):
        assert 0 <= repaired.position <= len(text)
        lines = text[: repaired.position].split("\n")
        assert (repaired.line, repaired.column) == (len(lines), len(lines[-1]) + 1)
        return
    assert repaired.level <= level
    assert (repaired.level == 1) == (not repaired.changes)
    positions = [change.position for change in repaired.changes]
    assert positions == sorted(positions)
    assert all(0 <= position <= len(text) for position in positions)
    for change in repaired.changes:
        if change.kind in {"cut off", "comment"}:
            assert text.startswith(change.text, change.position)


@given(TEXTS)
def test_a_higher_level_changes_nothing_that_a_lower_one_reads(text: str) -> None:
    for level in (1, 2):
        repaired = read(text, level=level)
        assert isinstance(repaired, JsonRepairError) or repr(read_json(text)) == repr(repaired)


@given(VALUES, st.sampled_from(["```json\n{}\n```", "```\n{}```", "\n```JSON\n{}\n```\n"]))
def test_what_a_fence_holds_is_read_at_level_two(value: Any, fence: str) -> None:
    repaired = read_json(fence.replace("{}", json.dumps(value, indent=1), 1))
    assert same(repaired.value, value)
    assert repaired.level == 2
    assert kinds(repaired) == ["cut off", "cut off"]


@given(CONTAINERS)
def test_what_prose_surrounds_is_cut_out_and_the_prose_kept_as_changes(value: Any) -> None:
    before, after = "Here are the arguments: ", " — I hope that [this] helps {a lot}."
    repaired = read_json(before + json.dumps(value) + after)
    assert same(repaired.value, value)
    assert repaired.level == 2
    assert [change.text for change in repaired.changes] == [before, after]


@given(CONTAINERS)
def test_trailing_commas_and_comments_are_removed_at_level_two(value: Any) -> None:
    repaired = read_json(f'[/* first */ {json.dumps(value)}, // second\n {{"k": {json.dumps(value)},}},]')
    assert same(repaired.value, [value, {"k": value}])
    assert repaired.level == 2
    assert kinds(repaired) == ["comment", "comment", "trailing comma", "trailing comma"]


QUOTES = "'\"“”„‘’‚«»＂\\"
PLAIN = st.text(st.characters(exclude_characters=QUOTES, exclude_categories=["Cs"]), max_size=9).filter(str.isprintable)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | PLAIN,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN, inner, max_size=4),
    )
)
def test_python_s_own_notation_is_read_at_level_three(value: Any) -> None:
    text = repr([value, None])
    repaired = read_json(text)
    assert same(repaired.value, [value, None])
    assert repaired.level == 3
    assert set(kinds(repaired)) <= {"quotes", "literal"}


@given(st.lists(SCALARS.filter(lambda value: not isinstance(value, str)) | PLAIN, min_size=1, max_size=5))
def test_closers_that_are_missing_at_the_end_are_added(items: list[Any]) -> None:
    text = json.dumps([{"k": items}])
    for missing in (1, 2, 3):
        repaired = read_json(text[:-missing])
        assert same(repaired.value, [{"k": items}])
        assert kinds(repaired) == ["missing closer"] * missing


@given(TEXTS)
def test_a_repaired_value_never_has_a_type_that_its_schema_does_not_allow(text: str) -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}, "type": "object"}
    repaired = read(text, schema=schema)
    if isinstance(repaired, RepairedJson) and repaired.level == 3:
        compiled = CompiledSchema(schema)
        # A text that spells the type which is wanted has one reading, and is left to `coerce`.
        fitted, _ = coerce(compiled, repaired.value)
        assert "type" not in {violation.keyword for violation in compiled.violations(fitted)}


# Slips with one reading


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ('{"a": "one\n\ttwo"}', {"a": "one\n\ttwo"}, "control character"),
        ('{"a"\u00a0: 1}', {"a": 1}, "space"),
        ('\ufeff{"a": 1}', {"a": 1}, "cut off"),
        ('{"a": "x"}}', {"a": "x"}, "cut off"),
        ('<tool_call>{"a": {"b": [1]}}</tool_call>', {"a": {"b": [1]}}, "cut off"),
        ('{"md": "```py\nx = {1: 2}\n```"}', {"md": "```py\nx = {1: 2}\n```"}, "control character"),
        ('{"a": 1, # why\n "b": 2}', {"a": 1, "b": 2}, "comment"),
    ],
)
def test_surroundings_are_mended_at_level_two(text: str, value: Any, kind: str) -> None:
    repaired = read_json(text)
    assert same(repaired.value, value)
    assert (repaired.level, repaired.changes[0].kind) == (2, kind)
    with pytest.raises(JsonRepairError):
        read_json(text, level=1)


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("{'a': 'it\\'s', 'b': \"it's\"}", {"a": "it's", "b": "it's"}, "backslash"),
        ("{'a': 'it's fine'}", {"a": "it's fine"}, "inner quote"),
        ("{“a”: „b“, ‘c’: «d»}", {"a": "b", "c": "d"}, "quotes"),
        ('{a: 1, b_c: "x", 3: 4}', {"a": 1, "b_c": "x", "3": 4}, "bare key"),
        ("{city: New York, b: 1}", {"city": "New York", "b": 1}, "bare text"),
        ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}, "literal"),
        ('{"a": .5, "b": +1, "c": 2.}', {"a": 0.5, "b": 1, "c": 2.0}, "number"),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "missing comma"),
        ('{"a": "x"\n"b": {}\n"c": [1\n2 "y"]}', {"a": "x", "b": {}, "c": [1, 2, "y"]}, "missing comma"),
        ('["x" "y"]', ["x", "y"], "missing comma"),
        ('[{"a": 1} {"a": 2}]', [{"a": 1}, {"a": 2}], "missing comma"),
        ('{"a": [1, {"b": "text that sto', {"a": [1, {"b": "text that sto"}]}, "missing closer"),
        ('{"a": [1, 2}', {"a": [1, 2]}, "missing closer"),
        ("```json\n{'a': [1, 2\n```", {"a": [1, 2]}, "missing closer"),
        ('{"a": "he said "yes" and left", "b": 1}', {"a": 'he said "yes" and left', "b": 1}, "inner quote"),
        ('{"a": "one, "two", three"}', {"a": 'one, "two", three'}, "inner quote"),
        ('["one, "two", three"]', ['one, "two", three'], "inner quote"),
        ('{"a": "<p id="x">y</p>", "b": "say "hi""}', {"a": '<p id="x">y</p>', "b": 'say "hi"'}, "inner quote"),
        (r'{"re": "\d+\s", "p": "C:\Users"}', {"re": r"\d+\s", "p": r"C:\Users"}, "backslash"),
        ('{"e": "\\ud83d\\ude00", \'x\': 1}', {"e": "😀", "x": 1}, "quotes"),
        ('{"url": "http://x/y#z", b: 1}', {"url": "http://x/y#z", "b": 1}, "bare key"),
    ],
)
def test_known_slips_are_mended_at_level_three(text: str, value: Any, kind: str) -> None:
    repaired = read_json(text)
    assert same(repaired.value, value)
    assert repaired.level == 3
    assert kind in kinds(repaired)
    with pytest.raises(JsonRepairError):
        read_json(text, level=2)


# What has two readings, or none


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1, "a": 2}', '"a": 2}'),
        ('{"a": NaN}', "NaN}"),
        ('{"a": -Infinity}', "-Infinity}"),
        ('{"a": undefined}', "undefined}"),
        ('{"a": TRUE}', "TRUE}"),
        ('{"n": 1e999}', "1e999}"),
        ('{"n": 007}', "007}"),
        ('{"n": 1_000}', "1_000}"),
        ('{"n": 1,000}', "}"),
        ("[1 000, 2]", "000, 2]"),
        ("[2026-11-29]", "-11-29]"),
        ('{"a": tru', "tru"),
        ('{"a": 1, "b":', ""),
        ('{"a": 1, "b', '"b'),
        ('{"a": "b\\', "\\"),
        ('{"city": "Paris}', '"Paris}'),
        ('{"a": "abc, "b": 1}', '"abc, "b": 1}'),
        ('{"a" 1, "b": 2}', '1, "b": 2}'),
        ('{"a": "x",, "b": 1}', ', "b": 1}'),
        ('["say "a", "b" and c", "d"]', '", "b" and c", "d"]'),
        ('{"a": {"b": [1, 2}, "c": 3}', '}, "c": 3}'),
        ('{"a": {"b": 1} oops, "c": 2}', 'oops, "c": 2}'),
        ('{"a": 1, // "b": 2}', '// "b": 2}'),
        ('{"a": 1} {"b": 2}', '{"b": 2}'),
        ('{"a": 1}, "b": 2}', ', "b": 2}'),
        ('{"a": "see "}" and }"}', '" and }"}'),
        ('"a": {"b": 1}}', '"a": {"b": 1}}'),
        ("I could not find the order.", "I could not find the order."),
        ("", ""),
        (" \n", " \n"),
        ("```json\n```", "```json\n```"),
    ],
)
def test_what_has_two_readings_or_none_is_refused_with_the_place(text: str, found: str) -> None:
    with pytest.raises(JsonRepairError) as caught:
        read_json(text)
    assert text[caught.value.position :] == found


def test_the_error_is_one_that_a_model_reads_and_names_line_column_expected_and_found() -> None:
    with pytest.raises(ParseError) as caught:
        read_json('{"a": 1,\n "b": 2;\n "c": 3}')
    assert str(caught.value) == (
        r'This cannot be read as JSON. Line 2, column 8: expected `,` or `}`, found `;\n "c": 3}`.'
    )


def test_the_strict_level_says_what_strict_json_would_have() -> None:
    with pytest.raises(JsonRepairError, match=r"Line 1, column 2: expected double quotes \(\"\), found `'a': 1}`"):
        read_json("{'a': 1}", level=1)


@pytest.mark.parametrize("opener", ["[", '{"a":', "{a:", "[{'a': "])
def test_nesting_without_end_is_an_error(opener: str) -> None:
    with pytest.raises(JsonRepairError, match=f"at most {MAX_DEPTH} levels"):
        read_json(opener * 100_000)


def test_a_long_nearly_right_document_is_read_whole() -> None:
    rows = [{"name": f"item {number}", "ok": True, "said": "x y"} for number in range(20_000)]
    assert read_json(repr(rows)).value == rows
    quotes = 'he said "yes" and ' * 20_000
    assert read_json(f'{{"a": "{quotes}"}}').value == {"a": quotes}
    assert read_json("[1] " * 50_000).value == [1]


# The schema decides


def test_a_bare_word_where_a_number_is_wanted_is_refused_with_the_reason() -> None:
    with pytest.raises(JsonRepairError) as caught:
        read_json("{colour: red, n: seventeen}", schema=SCHEMA)
    assert '`n` (line 1, column 18): expected an integer, found "seventeen"' in str(caught.value)
    assert caught.value.position == 17


@pytest.mark.parametrize("text", ["{n: True}", "{maybe: x}", "{'many': [1, two]}", "{colour: 3}", "['n']", "'n'"])
def test_other_types_than_the_schema_allows_are_refused(text: str) -> None:
    assert read_json(text).level == 3
    with pytest.raises(JsonRepairError, match="another type"):
        read_json(text, schema=CompiledSchema(SCHEMA))


def test_what_is_wrong_in_other_ways_than_its_type_is_left_to_validation() -> None:
    schema = {**SCHEMA, "required": ["n"], "additionalProperties": False}
    assert read_json("{colour: redd, x: 1}", schema=schema).value == {"colour": "redd", "x": 1}
    assert read_json("{'n': '17'}", schema=schema).value == {"n": "17"}


def test_the_schema_decides_between_several_values() -> None:
    assert read_json("According to [1] and [2]: {n: 1}", schema=SCHEMA).value == {"n": 1}
    with pytest.raises(JsonRepairError, match="no second one"):
        read_json("According to [1]: {n: 1}")


def test_a_citation_is_not_taken_for_the_object_that_is_wanted() -> None:
    assert read_json("According to [1] nothing is to be done.").value == [1]
    with pytest.raises(JsonRepairError, match="another type"):
        read_json("According to [1] nothing is to be done.", schema=SCHEMA)


def test_the_value_in_a_fence_comes_before_one_in_prose_and_the_same_value_twice_is_one() -> None:
    assert read_json('Not {"a": 1}, but\n```json\n{"a": 2}\n```').value == {"a": 2}
    assert read_json('{"a": 1}\n{"a": 1}').value == {"a": 1}


@pytest.mark.parametrize("arguments", [{"level": 0}, {"level": "3"}, {"schema": True}, {"schema": {"type": 5}}])
def test_a_level_or_schema_that_is_none_is_the_programmer_s_error(arguments: Any) -> None:
    with pytest.raises(UsageError):
        read_json("{}", **arguments)


def test_bytes_are_the_programmer_s_error() -> None:
    with pytest.raises(UsageError, match="bytes"):
        read_json(b"{}")  # pyright: ignore[reportArgumentType]
