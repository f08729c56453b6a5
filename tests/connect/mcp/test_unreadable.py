"""What a server sent that is no JSON as it should be."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.mcp.client.unreadable import Mending, answered, mended

HALVES = st.text(st.characters(categories=["Cs", "L"], include_characters='\\u"d8'), max_size=8)
"""Texts that may hold halves of surrogate pairs, whole pairs, and what looks like an escape."""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | HALVES,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(HALVES, each, max_size=3),
    max_leaves=6,
)


def whole(value: Any) -> Any:
    """The value with U+FFFD for each half that has no other half."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [whole(each) for each in value]
        case dict():
            return {whole(name): whole(each) for name, each in value.items()}
        case _:
            return value


@given(VALUES, st.booleans())
def test_halves_are_replaced_and_nothing_else_is_changed(value: Any, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    found = mended(text)
    if is_ascii:
        assert [json.loads(found)] == [whole(json.loads(text))]
    if whole(value) == value:
        assert json.loads(found) == value


@given(st.lists(st.sampled_from([b"\\", b"u", b"d83d", b"de00", b"\\ud83d", b"D", b'"', b"x"]), max_size=12), st.data())
def test_pieces_are_mended_as_the_whole_wherever_they_are_cut(parts: list[bytes], data: st.DataObject) -> None:
    text = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    mending = Mending()
    pieces = [mending.feed(text[first:last]) for first, last in pairwise([0, *cuts, len(text)])]
    assert b"".join([*pieces, mending.end()]) == mended(text)


@given(st.binary(max_size=40))
def test_whatever_it_is_it_is_text_afterwards(text: bytes) -> None:
    mended(text).decode()
    answered(text)


@given(st.integers(-(10**6), 10**6) | st.from_regex("[a-z0-9-]{0,9}", fullmatch=True), st.permutations(range(3)))
def test_who_waits_for_an_answer_that_cannot_be_read_is_found(number: int | str, order: list[int]) -> None:
    deep = "[" * 100_000
    for broken in ("7", "[", "tru", deep, "1" * 5000, '"\\x"', "}"):
        fields = ['"jsonrpc": "2.0"', f'"id": {json.dumps(number)}', f'"result": {broken}']
        assert answered(("{" + ", ".join(fields[each] for each in order) + "}").encode()) == [number]


def test_what_is_no_answer_ends_nothing() -> None:
    for line in (
        b'{"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": 7}',
        b'{"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": [}',
        b'sending {"jsonrpc": "2.0", "id": 5, "result": {}}',
        b'{"id": 5, "level": "info"}',
        b'{"jsonrpc": "2.0", "id": null, "error": 7}',
        b"[1, 2]",
        b"null",
        b"",
    ):
        assert answered(line) == [], line
    assert answered(b'[{"jsonrpc": "2.0", "id": 5, "result": {}}, {"jsonrpc": "2.0", "id": "a", "error": 7}]') == [
        5,
        "a",
    ]
