"""Values that stand as raw text on the wire: what such a text means, and how a value is written, by the schema.

`<parameter=days>2</parameter>` is the integer 2 or the text "2"; only the tool's schema can tell. The rules, in order:

* Text stays text wherever the schema takes strings: "5" for `anyOf: [string, integer]` is "5". Two things are stronger.
  The word `null` is null where the schema names null. A whole JSON object or array is that object or array where one
  is accepted too, because it is written no other way and hardly ever is the text that was meant; so the string wins
  over scalars only. Where the schema names `string`, the object or array has to fit in full as well.
* Listed values (`enum`, `const`) are decided by their members: the text that equals one, or what it spells.
* Where no string fits: JSON, or Python's spelling of it; space around it does not count; 5.0 is 5 for an integer.
* What fits nothing stays the text that it is. The validator then says what was expected; nothing is lost.

Laws: `decode` raises for no text and no schema; where `takes_any_text`, it is the identity; what `is_carried` says
comes back with the same type. Deliberately not here: repairs with a second reading (`schema.repair`), members inside
objects that need one (`schema.coerce`), values as trees (`trees`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, TypeAlias

from wieldy.core.json import JsonObject, JsonValue, parse_json
from wieldy.formats.values.expected import ANYTHING, Admitted, Expected, is_same
from wieldy.schema.resolve import type_of
from wieldy.schema.wellformed import MAX_DEPTH, is_wellformed

__all__ = ["ANYTHING", "Expected", "Spelling", "decode", "encode", "in_schema_order", "is_carried", "is_same"]

Spelling: TypeAlias = Literal["json", "python-scalars", "python"]
"""How a value that is no string is written.

`json`: true, null, {"a": true}. `python-scalars`: True, None, but objects and arrays as JSON. `python`: as Python
shows the value, {'a': True}.
"""

_PYTHON = re.compile(
    r"""'[^'\\]*+(?:\\.[^'\\]*+)*+('?)|"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|\b(?:True|False|None)\b""", re.DOTALL
)
"""A Python string, open at the end of the text perhaps (so that none is looked at twice), or a word."""
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED = {
    **{"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""},
    **{character: character for character in "'\"\\/"},
}


def decode(text: str, expected: Expected) -> JsonValue:
    """The value that the text stands for; the text itself where it stands for nothing else."""
    admitted = expected.admitted
    if admitted.is_any_text or text in admitted.values:
        return text
    if "string" in admitted.types:
        return _beside_text(text, expected)
    stripped = text.strip()
    for reading in (stripped, *_readings(stripped)):
        for fitting in _fitting(stripped, reading, admitted):
            return fitting
    return text


def encode(value: JsonValue, expected: Expected, *, spelling: Spelling = "json") -> str:
    """The text that stands for the value: a string as it is, anything else in the given spelling.

    Null, objects and arrays beside a string are JSON in every spelling, because they are read back from nothing else.
    """
    if isinstance(value, str):
        return value
    is_container = isinstance(value, dict | list)
    is_json = spelling == "json" or (is_container and spelling == "python-scalars")
    if not is_json and (is_container or value is None):
        is_json = "string" in expected.admitted.types
    return json.dumps(value, ensure_ascii=False) if is_json else repr(value)


def is_carried(value: JsonValue, expected: Expected, *, spelling: Spelling = "json") -> bool:
    """Whether the value comes back as it is, in value and type, when its text is read."""
    try:
        return is_same(decode(encode(value, expected, spelling=spelling), expected), value)
    except (ValueError, TypeError, RecursionError):  # it cannot even be written: no JSON, too deep, too many digits
        return False


def in_schema_order(arguments: JsonObject, expected: Expected) -> JsonObject:
    """The same object with declared members first, in the schema's order, and so on inwards; others keep theirs.

    A grammar for a JSON Schema fixes this order, so whatever a renderer writes has to have it.
    """
    return _ordered_object(arguments, expected, 0)


def _ordered(value: JsonValue, expected: Expected, nesting: int) -> JsonValue:
    if nesting > MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return _ordered_object(value, expected, nesting)
    if isinstance(value, list):
        return [_ordered(item, expected.item(index), nesting + 1) for index, item in enumerate(value)]
    return value


def _ordered_object(value: JsonObject, expected: Expected, nesting: int) -> JsonObject:
    declared = [name for name in expected.names_for(value) if name in value]
    return {
        name: _ordered(value[name], expected.member(name), nesting + 1) for name in dict.fromkeys((*declared, *value))
    }


def _beside_text(text: str, expected: Expected) -> JsonValue:
    """The reading of a text where strings are accepted, among other things."""
    admitted = expected.admitted
    if text == "null" and "null" in admitted.named:
        return None
    if text.lstrip()[:1] not in {"{", "["}:
        return text
    for value in _json(text):
        if admitted.admits(value) and ("string" not in admitted.named or expected.accepts(value)):
            return value
    return text


def _fitting(text: str, reading: JsonValue, admitted: Admitted) -> Iterator[JsonValue]:
    """The reading of the text as the schema has it; nothing where it has none of the kind."""
    for listed in admitted.values:
        if is_same(listed, reading):
            yield listed
    if isinstance(reading, float) and "number" not in admitted.types:
        whole = _whole(text, reading) if "integer" in admitted.types else None
        if whole is not None:
            yield whole
    elif type_of(reading) in admitted.types:
        yield reading


def _whole(text: str, number: float) -> int | None:
    # A float may have lost the very digits that make it no whole number.
    if number == 0:
        return None if text.lower().partition("e")[0].strip("-0.") else 0
    exact = Decimal(text)
    return int(exact) if number.is_integer() and int(exact) == exact else None


def _readings(text: str) -> Iterator[JsonValue]:
    """What the text spells, as JSON and as Python writes the same; no value that JSON does not have."""
    yield from _json(text)
    if text in _PYTHON_WORDS:
        yield from _json(_PYTHON_WORDS[text])
    elif text[:1] in {"{", "["}:
        yield from _json(_PYTHON.sub(_as_json, text))


def _json(text: str) -> Iterator[JsonValue]:
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return
    if is_wellformed(value):
        yield value


def _as_json(token: re.Match[str]) -> str:
    if token[0] in _PYTHON_WORDS:
        return _PYTHON_WORDS[token[0]]
    is_closed = token[1] or token[2]
    return json.dumps(_ESCAPE.sub(_unescaped, token[0][1:-1])) if is_closed else token[0]


def _unescaped(escape: re.Match[str]) -> str:
    hexadecimal = escape[1] or escape[2] or escape[3]
    if hexadecimal:
        code = int(hexadecimal, 16)
        return chr(code) if code <= 0x10FFFF else escape[0]
    if escape[4]:
        return chr(int(escape[4], 8))
    # As in Python, a backslash before anything else is a backslash.
    return _ESCAPED.get(escape[5], escape[0])
