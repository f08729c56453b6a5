"""Reading literals that are no JSON, Python's or a family's own, into JSON text while they arrive.

A `LiteralSyntax` says how strings, keys and brackets are written; the nesting is the same everywhere. What is passed on
is always the beginning of valid JSON. Deliberately not here: expressions, names and anything else that would have to be
evaluated.
Cost: linear; work per piece does not grow with what came before, save within one number or word.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.formats.reading.json_text import MAX_DEPTH, Out, peek
from wieldy.formats.reading.source import Reading, Source

Container: TypeAlias = Literal["object", "array", "group"]
"""What a bracket opens; a group is a lone value in parentheses, or with a comma an array."""

_CLOSERS = {"{": "}", "[": "]", "(": ")"}
_WORD = re.compile(r"[-+.0-9A-Za-z_]*")
_MAX_WORD = 5000
_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_FLOAT = re.compile(r"(?=.*[.eE])[-+]?[0-9_]*\.?[0-9_]*(?:[eE][-+]?[0-9_]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralSyntax:
    """How literals are written.

    Attributes:
        containers: What the opening brackets open.
        read_string: Takes a string if one begins here and passes it on; whether one did.
        read_key: Takes the name of a member and what stands between it and the value.
        wanted: What may stand for a value, for messages.
    """

    containers: Mapping[str, Container]
    read_string: Callable[[Source, Out], Reading[bool]]
    read_key: Callable[[Source], Reading[str]]
    wanted: str


class _Frame:
    """An open bracket, or the outermost value."""

    __slots__ = ("closer", "commas", "container", "count", "pieces", "write")

    def __init__(self, closer: str, container: Container | None, write: Out) -> None:
        self.closer, self.container = closer, container
        self.count = self.commas = 0
        self.pieces: list[str] = []
        # Whether a group is an array shows only later, so it is held back.
        self.write = self.pieces.append if container == "group" else write


def read_literal(source: Source, out: Out, syntax: LiteralSyntax) -> Reading[None]:
    """Takes one literal, up to its last character.

    Raises:
        WireError: It is none; what was passed on is the beginning of some JSON value.
    """
    frames = [_Frame("", None, out)]
    while True:
        is_complete = yield from _read_next(source, frames, syntax)
        while is_complete and len(frames) > 1:
            is_complete = yield from _read_behind(source, frames)
        if is_complete:
            return


def _read_next(source: Source, frames: list[_Frame], syntax: LiteralSyntax) -> Reading[bool]:
    """Takes a value, its opening bracket, or the bracket that closes the container; whether a value is complete."""
    frame = frames[-1]
    character = yield from peek(source)
    if character and character == frame.closer:
        _close(source, frames)
        return True
    frame.write(", " if frame.count else "")
    frame.count += 1
    if frame.container == "object":
        frame.write(json.dumps((yield from syntax.read_key(source)), ensure_ascii=False) + ": ")
        character = yield from peek(source)
    if character in syntax.containers:
        _open(source, frames, syntax.containers[character])
        return False
    if not (yield from syntax.read_string(source, frame.write)):
        frame.write((yield from _read_scalar(source, syntax.wanted)))
    return True


def _open(source: Source, frames: list[_Frame], container: Container) -> None:
    if len(frames) > MAX_DEPTH:
        raise source.error(f"at most {MAX_DEPTH} nested brackets")
    character, write = source.take(source.at + 1), frames[-1].write
    if container != "group":
        write("{" if container == "object" else "[")
    frames.append(_Frame(_CLOSERS[character], container, write))


def _close(source: Source, frames: list[_Frame]) -> None:
    source.take(source.at + 1)
    frame = frames.pop()
    text = "".join(frame.pieces)
    match frame.container:
        case "object":
            frames[-1].write("}")
        case "group" if frame.count == 1 and not frame.commas:
            frames[-1].write(text)
        case "group":
            frames[-1].write(f"[{text}]")
        case _:
            frames[-1].write("]")


def _read_behind(source: Source, frames: list[_Frame]) -> Reading[bool]:
    frame = frames[-1]
    character = yield from peek(source)
    if character == frame.closer:
        _close(source, frames)
        return True
    if character != ",":
        raise source.error(f"',' or {frame.closer!r}")
    source.take(source.at + 1)
    frame.commas += 1
    return False


def _read_scalar(source: Source, wanted: str) -> Reading[str]:
    found = _WORD.match(source.text, source.at)
    while found and found.end() == len(source.text) and not source.ended and found.end() - source.at <= _MAX_WORD:
        yield
        found = _WORD.match(source.text, source.at)
    scalar = scalar_json(found.group()) if found else None
    if not found or scalar is None:
        raise source.error(wanted)
    source.take(found.end())
    return scalar


def scalar_json(text: str) -> str | None:
    """The number or the word as JSON; None if it is neither in JSON nor in Python."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _MAX_WORD:
        return None
    return text if _JSON_NUMBER.fullmatch(text) else _python_number(text)


def _python_number(text: str) -> str | None:
    try:
        return str(int(text, 0))
    except ValueError:
        pass
    try:
        number = float(text) if _FLOAT.fullmatch(text) else math.nan
    except ValueError:
        return None
    return repr(number) if math.isfinite(number) else None
