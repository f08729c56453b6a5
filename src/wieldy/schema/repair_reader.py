"""One JSON value, strictly or nearly right: objects, arrays, numbers and words.

Recursive descent, bounded by the depth that a value may have anyway. Where strict JSON is left, `Source.slip` decides
whether this level may; so the strict reader and the lenient ones are one. What has two readings is an error at every
level: keys that occur twice, NaN and Infinity, numbers with leading zeros or too large, values that are missing.
"""

from __future__ import annotations

import math
import re
from typing import NoReturn

from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.repair_source import Source
from wieldy.schema.repair_strings import QUOTES, Place, key_follows, read_string, value_follows

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])")
_LOOSE_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d]\w*")
_BARE_KEY = re.compile(r"[\w$][\w$.-]*")
_BARE_TEXT = re.compile(r"[^\W\d][\w.@+-]*(?:[ /][\w.@+-]+)*(?=[ \t\r]*[,}\]\n/#])")
_ONLY_CLOSERS = re.compile(r"[\s}\]]*\Z")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: dict[str, JsonValue] = {"True": True, "False": False, "None": None}
_NO_TEXT = frozenset({"true", "false", "null", "none", "nil", "undefined", "nan", "inf", "infinity"})
"""Words in whatever case that were not meant as text, whatever else they were meant as."""
_VALUE = "a JSON value (text in double quotes, a number, true, false, null, an object or an array)"


def read_value(source: Source, place: Place = "whole") -> JsonValue:
    """The value that is next; reading stands behind it afterwards."""
    char = source.peek()
    if char == "{":
        return _object(source)
    if char == "[":
        return _array(source)
    if char and char in QUOTES:
        return read_string(source, place)
    if char and char in "+-.0123456789":
        return _number(source)
    return _word(source, place)


def _object(source: Source) -> JsonObject:
    source.descend()
    members: JsonObject = {}
    while _goes_on(source, "}", is_first=not members):
        start = source.position
        key = _key(source)
        if key in members:
            source.fail("each key only once in an object", at=start)
        source.skip()
        if source.peek() != ":":
            source.fail("`:` and a value after the key")
        source.position += 1
        source.skip()
        members[key] = read_value(source, "member")
    source.ascend()
    return members


def _array(source: Source) -> list[JsonValue]:
    source.descend()
    items: list[JsonValue] = []
    while _goes_on(source, "]", is_first=not items):
        items.append(read_value(source, "item"))
    source.ascend()
    return items


def _goes_on(source: Source, closer: str, *, is_first: bool) -> bool:
    """Moves to the next member, or behind the closer where there is none."""
    end = source.position
    source.skip()
    if _is_closed(source, closer):
        return False
    if is_first:
        return True
    if source.peek() != ",":
        _missing_comma(source, closer, end)
        return True
    comma = source.position
    source.position += 1
    source.skip()
    if source.peek() not in ("", closer):
        return True
    source.slip("trailing comma", "the comma after the last member removed", at=comma)
    return not _is_closed(source, closer)


def _is_closed(source: Source, closer: str) -> bool:
    char = source.peek()
    if char == closer:
        source.position += 1
        return True
    # A closer of the wrong kind says where this one is missing only if nothing else follows.
    if char and not (char in "}]" and source.match(_ONLY_CLOSERS)):
        return False
    source.slip("missing closer", f"{closer} added", expected=f"`,` or `{closer}`")
    return True


def _missing_comma(source: Source, closer: str, end: int) -> None:
    """Notes a comma that is missing between the value that ended at `end` and the next."""
    gap, last, following = source.text[end : source.position], source.text[end - 1], source.peek()
    # Two numbers on a line may be one (1 000), and what touches may be one too (2026-11-29).
    is_apart = bool(gap) or last in "}]" or following in "{["
    is_one_number = last.isdigit() and following in "-0123456789" and "\n" not in gap
    follows = key_follows(source) if closer == "}" else value_follows(source)
    if not is_apart or is_one_number or not follows:
        source.fail(f"`,` or `{closer}`")
    source.slip("missing comma", "a comma added", at=end, expected=f"`,` or `{closer}`")


def _key(source: Source) -> str:
    if (char := source.peek()) and char in QUOTES:
        return read_string(source, "key")
    bare = source.match(_BARE_KEY)
    if bare is None:
        source.fail("a key in double quotes")
    source.slip("bare key", f"{bare.group()} put in quotes")
    source.position = bare.end()
    return bare.group()


def _number(source: Source) -> JsonValue:
    found = source.match(_NUMBER)
    if found is None:
        found = source.match(_LOOSE_NUMBER)
        if found is None:
            source.fail("a number as JSON writes it, such as 1, 0.5 or -2e3; anything else in double quotes")
        source.slip("number", f"{found.group()} read as a number")
    value = _decoded(found.group())
    if value is None:
        source.fail("a number that fits (digits below 4300, size below 1e308)")
    source.position = found.end()
    return value


def _decoded(number: str) -> int | float | None:
    """The number as Python's JSON reader has it; None where it is too large to be had exactly or at all."""
    if number.lstrip("+-").isdecimal():
        try:
            return int(number)
        except ValueError:
            return None
    value = float(number)
    return value if math.isfinite(value) else None


def _word(source: Source, place: Place) -> JsonValue:
    word = source.match(_WORD)
    if word is None:
        source.fail(_VALUE)
    if word.group() in _WORDS:
        source.position = word.end()
        return _WORDS[word.group()]
    if word.group() in _PYTHON_WORDS:
        source.slip("literal", f"{word.group()} read as JSON writes it")
        source.position = word.end()
        return _PYTHON_WORDS[word.group()]
    return _bare_text(source, word.group(), place)


def _bare_text(source: Source, word: str, place: Place) -> str:
    if word.casefold() in _NO_TEXT:
        _refuse_word(source, word)
    bare = source.match(_BARE_TEXT)
    if bare is None or place == "whole":
        source.fail(_VALUE)
    source.slip("bare text", f"{bare.group()} put in quotes")
    source.position = bare.end()
    return bare.group()


def _refuse_word(source: Source, word: str) -> NoReturn:
    source.fail(f"true, false, null or a finite number (JSON has no {word})")
