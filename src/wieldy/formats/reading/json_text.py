"""Reading JSON that arrives in pieces, and passing it on as it comes.

The text is passed on character for character; only control characters that JSON forbids inside strings, and that
models write nevertheless, are escaped. What is passed on is therefore always the beginning of valid JSON.
Cost: linear; work per piece does not grow with what came before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from wieldy.formats.events import escaped
from wieldy.formats.reading.source import TOKEN, Reading, Source, WireError

MAX_DEPTH = 200
"""More nested brackets are refused: Python's own JSON reader and every reader after it recurse."""

Out = Callable[[str], object]

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_SCALAR = re.compile(r"[-+.0-9a-zA-Z]*")
_VALID_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_MAX_SCALAR = 5000
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_ESCAPE_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")


def peek(source: Source) -> Reading[str]:
    """The next character that is no whitespace, which is not taken; the whitespace before it is. Empty at the end."""
    while True:
        found = _SPACE.match(source.text, source.at)
        if found and found.end() > source.at:
            source.take(found.end())
        if source.at < len(source.text):
            return source.text[source.at]
        if source.ended:
            return ""
        yield


def read_value(source: Source, out: Out) -> Reading[None]:
    """Takes one JSON value, up to its last character.

    Raises:
        WireError: It is none; what was passed on is the beginning of some JSON value.
    """
    closers: list[str] = []
    wanted = "a value"
    while True:
        found = _SPACE.match(source.text, source.at)
        if found and found.end() > source.at:
            out(source.take(found.end()))
        if source.at == len(source.text):
            if source.ended:
                raise source.error(wanted)
            yield
            continue
        character = source.text[source.at]
        if wanted.startswith(("a value", "a name")):
            wanted = yield from _begin_value(source, out, character, closers, wanted)
        else:
            wanted = _punctuation(source, out, character, closers, wanted)
        if not closers and wanted == "nothing":
            return


class OpenJson:
    """JSON that stands among marks, where only its strings may contain such marks themselves.

    Args:
        pieces: What has been read of it; others add to it.
    """

    __slots__ = ("_checked", "_pieces", "_reading", "_source")

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces, self._checked = pieces, 0
        self._source = Source()
        self._reading: Reading[None] | None = read_value(self._source, lambda text: None)

    def goes_on_with(self, character: str) -> bool:
        """Whether it goes on with this first character of a mark; then that is the next piece."""
        if self._reading is None or character == TOKEN:
            return False
        self._source.push("".join(self._pieces[self._checked :]) + character)
        self._checked = len(self._pieces) + 1
        try:
            next(self._reading)
        except (StopIteration, WireError):
            self._reading = None
        return self._reading is not None


def _begin_value(source: Source, out: Out, character: str, closers: list[str], wanted: str) -> Reading[str]:
    if character == '"':
        yield from read_string(source, out)
        return "':'" if wanted.startswith("a name") else _after_value(closers)
    if wanted in (f"a value or '{character}'", f"a name or '{character}'"):
        return _punctuation(source, out, character, closers, wanted)
    if wanted.startswith("a name"):
        raise source.error(wanted + " in double quotes")
    if character in "{[":
        if len(closers) == MAX_DEPTH:
            raise source.error(f"at most {MAX_DEPTH} nested brackets")
        out(source.take(source.at + 1))
        closers.append("}" if character == "{" else "]")
        return "a name or '}'" if character == "{" else "a value or ']'"
    yield from _read_scalar(source, out, wanted)
    return _after_value(closers)


def _after_value(closers: list[str]) -> str:
    return f"',' or '{closers[-1]}'" if closers else "nothing"


def _punctuation(source: Source, out: Out, character: str, closers: list[str], wanted: str) -> str:
    if character == closers[-1] and f"'{character}'" in wanted:
        out(source.take(source.at + 1))
        closers.pop()
        return _after_value(closers)
    if character == ":" and wanted == "':'":
        out(source.take(source.at + 1))
        return "a value"
    if character == "," and wanted.startswith("','"):
        out(source.take(source.at + 1))
        return "a name" if closers[-1] == "}" else "a value"
    raise source.error(wanted)


def _read_scalar(source: Source, out: Out, wanted: str) -> Reading[None]:
    found = _SCALAR.match(source.text, source.at)
    while found and found.end() == len(source.text) and not source.ended:
        if found.end() - source.at > _MAX_SCALAR:
            break
        yield
        found = _SCALAR.match(source.text, source.at)
    if not found or not _VALID_SCALAR.fullmatch(found.group()):
        raise source.error(wanted)
    out(source.take(found.end()))


def read_string(source: Source, out: Out) -> Reading[None]:
    """Takes a JSON string with its quotes; the source stands at the first one.

    Raises:
        WireError: The text ends within it, or a backslash stands before something that JSON does not know.
    """
    out(source.take(source.at + 1))
    while True:
        found = _PLAIN.match(source.text, source.at)
        if found and found.end() > source.at:
            out(source.take(found.end()))
        if source.at == len(source.text):
            if source.ended:
                raise source.error("the end of a string")
            yield
            continue
        character = source.text[source.at]
        if character == '"':
            out(source.take(source.at + 1))
            return
        if character == "\\":
            yield from _read_escape(source, out)
        else:
            out(escaped(source.take(source.at + 1)))


def _read_escape(source: Source, out: Out) -> Reading[None]:
    while not source.ended and _ESCAPE_BEGUN.fullmatch(source.text, source.at):
        yield
    found = _ESCAPE.match(source.text, source.at)
    if not found:
        raise source.error("an escape that JSON knows")
    out(source.take(found.end()))
