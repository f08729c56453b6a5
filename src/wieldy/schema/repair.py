"""JSON that a model wrote nearly right: read in three marked levels, with every change told.

1. Strict: RFC 8259, no key twice, no NaN or Infinity, no half character.
2. The one object or array is cut out of prose and fences; trailing commas, comments and raw control characters.
3. Known slips: other quotes, bare keys, Python's words, missing commas and closers, quotes and backslashes not escaped.

A level is tried only where the one before failed. Laws: any text gives a value or a `JsonRepairError`; what is valid
needs no change; no text is dropped without a change that holds it; after level 3 no value has a type that the schema
does not allow. What plainly has two readings is refused, not guessed. A text that merely stops (`missing closer`) is
completed: who must not execute half a call looks for that change.
Cost: linear in the text. Deliberately not here: fitting values to a schema (`coerce`), and text that is still growing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from wieldy.core.errors import ParseError, UsageError
from wieldy.core.json import JsonObject, JsonValue, canonical_json, parse_json
from wieldy.schema.coerce import coerce
from wieldy.schema.compiled import CompiledSchema
from wieldy.schema.explain import shown
from wieldy.schema.repair_reader import read_value
from wieldy.schema.repair_source import Change, ChangeKind, RepairLevel, Source, UnreadableError
from wieldy.schema.repair_strings import QUOTES
from wieldy.schema.resolve import ALL_TYPES, Location, accepted_types, conjunction, type_of
from wieldy.schema.violations import Path, Violation, render_path

__all__ = ["Change", "ChangeKind", "JsonRepairError", "RepairLevel", "RepairedJson", "read_json", "refuse_other_types"]

MAX_FOUND_CHARACTERS = 24
"""Of what was found at a place that could not be read; enough to recognise it."""
_FENCE = "```"
_OPENING = re.compile("[\\s\ufeff]*(?:```(?:[\\w+.-]*[ \\t]*\\r?\\n)?)?\\s*")
_FENCE_BEFORE = re.compile(r"```[\w+.-]*\s*\Z")
_START = re.compile(
    rf"\{{(?=\s*(?:[{QUOTES}}}]|[\w$][\w$.-]*\s*:|//|/\*))"
    rf"|\[(?=\s*(?:[{QUOTES}{{\[\]0-9+.-]|(?:true|false|null|True|False|None)\b|//|/\*))"
)
"""Brackets in prose that begin JSON, nearly right or not; others are prose, such as `[note]` and `{name}`."""


class JsonRepairError(ParseError):
    """The text could not be read as JSON at any level that was allowed.

    Attributes:
        position: Where, in characters from the start; `line` and `column` count from 1.
        expected: What would have been right there, as a noun phrase.
        found: What is there instead.
    """

    def __init__(self, message: str, *, text: str, position: int, expected: str, found: str) -> None:
        super().__init__(message)
        self.position = position
        self.line, self.column = _line_and_column(text, position)
        self.expected = expected
        self.found = found


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairedJson:
    """A value and what it took to read it.

    Attributes:
        level: The level that was needed; 1 if the text was strict JSON.
        changes: Everything that was read other than it was written, in the order of the text; empty at level 1.
    """

    value: JsonValue
    level: RepairLevel
    changes: tuple[Change, ...] = ()


def read_json(text: str, *, level: RepairLevel = 3, schema: CompiledSchema | JsonObject | None = None) -> RepairedJson:
    """The JSON value that the text holds, read at the lowest level that can.

    Args:
        text: What a model wrote.
        level: The highest level that may be tried.
        schema: What the value should fit. It decides between several values in one text, and a repaired value whose
            type it does not allow is refused (after level 2 only the type of the whole). Nothing else is validated.

    Raises:
        JsonRepairError: The text is no JSON, nor nearly; the message says where and what was expected there.
        UsageError: The schema is none, or there is no such level.
    """
    if level not in (1, 2, 3):
        raise UsageError(f"Expected a repair level of 1, 2 or 3, found {level!r}.")
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"Expected the text of a JSON value, found {type(text).__name__}.")
    compiled = _compiled(schema)
    try:
        return _read_strictly(text)
    except UnreadableError as error:
        failure = error
    for next_level in _levels_above_strict(level):
        try:
            repaired = _cut_out(text, next_level, compiled)
        except UnreadableError as error:
            failure = error
        else:
            if compiled is not None:
                refuse_other_types(text, repaired, compiled)
            return repaired
    raise _error(text, failure) from None


def _compiled(schema: CompiledSchema | JsonObject | None) -> CompiledSchema | None:
    if schema is None or isinstance(schema, CompiledSchema):
        return schema
    if not isinstance(schema, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"Expected a schema as a dictionary or a CompiledSchema, found {type(schema).__name__}.")
    return CompiledSchema(schema)


def _levels_above_strict(highest: RepairLevel) -> tuple[RepairLevel, ...]:
    levels: tuple[RepairLevel, ...] = (2, 3)
    return tuple(level for level in levels if level <= highest)


def _read_strictly(text: str) -> RepairedJson:
    try:
        # The standard library is fast; where it refuses, our own reader finds the place.
        value = parse_json(text)
    except (ValueError, RecursionError):
        source = Source(text, start=0, limit=len(text), level=1)
        source.skip()
        value = read_value(source)
        source.skip()
        if source.peek():
            source.fail("the end of the text after the value")
    return RepairedJson(value=value, level=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A JSON value that was found in a text, from `start` up to `end`."""

    value: JsonValue
    start: int
    end: int
    changes: tuple[Change, ...]


def _cut_out(text: str, level: RepairLevel, schema: CompiledSchema | None) -> RepairedJson:
    """The one value that the text is about; the rest becomes changes."""
    piece = _choose(text, _pieces(text, level), schema)
    before, after = text[: piece.start], text[piece.end :]
    if _holds_members(before):
        raise UnreadableError(0, "a text that is one JSON value, with all its opening brackets")
    if _goes_on_behind(after):
        raise UnreadableError(piece.end, "the end of the text, for here its JSON value ends")
    changes = [*_cut(0, before), *piece.changes, *_cut(piece.end, after)]
    # A comment behind a trailing comma is met before the comma is known to trail.
    changes.sort(key=lambda change: change.position)
    return RepairedJson(value=piece.value, level=level, changes=tuple(changes))


def _cut(position: int, text: str) -> tuple[Change, ...]:
    return (Change(position=position, kind="cut off", text=text),) if text.strip(" \t\r\n") else ()


def _pieces(text: str, level: RepairLevel) -> list[_Piece]:
    """Every value in the text, in order; one that begins and cannot be read fails the whole.

    Trying again behind the bracket that failed would find inner values and lose the outer ones.
    """
    opening = _OPENING.match(text)
    start = opening.end() if opening else 0
    first_fence, last_fence = _fences(text)
    if text[start : start + 1] not in ("{", "["):
        limit = last_fence if first_fence < start else len(text)
        if (scalar := _scalar(Source(text, start=start, limit=limit, level=level))) is not None:
            return [scalar]
        start = _next_start(text, start)
    pieces: list[_Piece] = []
    while start < len(text):
        limit = last_fence if first_fence < start else len(text)
        source = Source(text, start=start, limit=limit, level=level)
        value = read_value(source)
        pieces.append(_Piece(value=value, start=start, end=source.position, changes=tuple(source.changes)))
        start = _next_start(text, source.position)
    if not pieces:
        raise UnreadableError(0, "a JSON object or array")
    return pieces


def _fences(text: str) -> tuple[int, int]:
    """Where the first fence begins, and the one that ends the text: a value behind the first stops at the last."""
    end = len(text.rstrip())
    first, last = text.find(_FENCE), end - len(_FENCE)
    is_closed = text.endswith(_FENCE, 0, end) and first < last
    return (first, last) if is_closed else (len(text), len(text))


def _scalar(source: Source) -> _Piece | None:
    """The text, number or word that is all there is; None where there is more, or something else."""
    start = source.position
    try:
        value = read_value(source)
        end = source.position
        source.skip()
    except UnreadableError:
        return None
    if source.peek():
        return None
    return _Piece(value=value, start=start, end=end, changes=tuple(source.changes))


def _next_start(text: str, position: int) -> int:
    found = _START.search(text, position)
    return found.start() if found else len(text)


def _choose(text: str, pieces: list[_Piece], schema: CompiledSchema | None) -> _Piece:
    """The one that fits the schema, else the one in a fence, else the only one; the same value twice is one."""
    tests: list[Callable[[_Piece], bool]] = [lambda piece: _is_fenced(text, piece.start)]
    if schema is not None:
        tests.insert(0, lambda piece: schema.accepts(coerce(schema, piece.value)[0]))
    for test in tests:
        if len(pieces) > 1:
            pieces = [piece for piece in pieces if test(piece)] or pieces
    if len({canonical_json(piece.value) for piece in pieces} if len(pieces) > 1 else ()) > 1:
        raise UnreadableError(pieces[1].start, "one JSON value and no second one")
    return pieces[0]


def _is_fenced(text: str, start: int) -> bool:
    return _FENCE_BEFORE.search(text, max(0, start - 40), start) is not None


def _holds_members(before: str) -> bool:
    """Whether the text before a value is no prose but the beginning of what surrounds it."""
    end = before.rstrip()
    is_key = end.endswith(":") and end[:-1].rstrip().endswith(tuple(QUOTES))
    return is_key or _count(before, "{[") != _count(before, "}]")


def _goes_on_behind(after: str) -> bool:
    """Whether the text behind a value is no prose but the rest of what surrounds it."""
    rest = after.strip().strip("}]`\r\n\t ")
    if not rest:
        return False
    is_cut_in_text = after[:1] in tuple(QUOTES[:2]) and _count(after, "}]") > 0
    return (is_cut_in_text and rest not in tuple(QUOTES)) or _count(after, "}]") > _count(after, "{[")


def _count(text: str, characters: str) -> int:
    return sum(text.count(character) for character in characters)


def refuse_other_types(text: str, repaired: RepairedJson, schema: CompiledSchema) -> None:
    """Ends with an error where a repaired value has a type that the schema does not allow there.

    For who has a schema of a part of what was read; `read_json` does it for the whole.

    After level 2 only the whole is looked at: what was cut out may not be what was meant, but its parts are as written.
    What `coerce` reads in only one way ("17" where an integer is wanted) is left to it.

    Raises:
        JsonRepairError: There is such a value; the message names it.
    """
    fitted, _ = coerce(schema, repaired.value)
    for violation in schema.violations(fitted):
        is_as_written = repaired.level < 3 and violation.path
        if not is_as_written and _is_of_other_type(schema.document, violation):
            raise _other_type(text, repaired, violation)


def _other_type(text: str, repaired: RepairedJson, violation: Violation) -> JsonRepairError:
    place = f"`{render_path(violation.path)}`" if violation.path else "the whole"
    words = (change for change in repaired.changes if change.kind in {"bare text", "literal"})
    position = next((word.position for word in words if word.text.startswith(f"{violation.found} ")), None)
    line, column = _line_and_column(text, position or 0)
    where = "" if position is None else f" (line {line}, column {column})"
    found = shown(violation.found)
    return JsonRepairError(
        f"This is not strict JSON, and repaired it has another type than is wanted: {place}{where}: "
        f"expected {violation.expected}, found {found}. Write it again as strict JSON.",
        text=text,
        position=position or 0,
        expected=violation.expected,
        found=found,
    )


def _is_of_other_type(document: JsonObject, violation: Violation) -> bool:
    if violation.keyword in {"required", "additionalProperties", "unevaluatedProperties", "json"}:
        return False
    if violation.keyword == "type":
        return True
    return type_of(violation.found) not in _types_at(document, violation.path)


def _types_at(document: JsonObject, path: Path) -> frozenset[str]:
    """The types that all plainly named subschemas allow at the path; all types where none is named."""
    places: list[Location] = [()]
    for part in path:
        places = [
            (*place, *step)
            for outer in places
            for place, schema in conjunction(document, outer)
            for step in _steps(schema, part)
        ]
    allowed = [accepted_types(document, place) for place in places]
    return ALL_TYPES.intersection(*allowed)


def _steps(schema: JsonObject, part: str | int) -> list[Location]:
    if isinstance(part, int):
        return [("items",)] if "items" in schema and "prefixItems" not in schema else []
    named = schema.get("properties")
    return [("properties", part)] if isinstance(named, dict) and part in named else []


def _error(text: str, failure: UnreadableError) -> JsonRepairError:
    line, column = _line_and_column(text, failure.position)
    found = _found(text[failure.position : failure.position + MAX_FOUND_CHARACTERS + 1])
    return JsonRepairError(
        f"This cannot be read as JSON. Line {line}, column {column}: expected {failure.expected}, found {found}.",
        text=text,
        position=failure.position,
        expected=failure.expected,
        found=found,
    )


def _found(rest: str) -> str:
    if not rest.strip():
        return "the end of the text"
    line = rest[:MAX_FOUND_CHARACTERS].replace("\n", r"\n")
    return f"`{line}`" + ("..." if len(rest) > MAX_FOUND_CHARACTERS else "")


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    line = text.count("\n", 0, position) + 1
    return line, position - text.rfind("\n", 0, position)
