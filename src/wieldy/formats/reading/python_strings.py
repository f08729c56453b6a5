"""Strings as Python writes them, read into JSON text as they arrive, and written in one style.

Quotes of either kind, threefold too; escapes; raw strings; strings side by side. More is read than Python takes,
because models write it: line breaks within ordinary quotes, and the backslash of a path. Deliberately not here: bytes
and f-strings, which are no text or would have to be evaluated.
"""

from __future__ import annotations

import re

from wieldy.formats.events import escaped
from wieldy.formats.reading.json_text import Out, peek
from wieldy.formats.reading.source import Reading, Source
from wieldy.grammar.shape import Characters, Exact, InOrder, OneOf, Repeated, Shape

_PREFIXES = "rRuU"
_PLAIN = {"'": re.compile(r"[^'\\]*"), '"': re.compile(r'[^"\\]*')}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPE_BEGUN = re.compile(r"\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-7]{1,2})?")
_MEANING = {
    **{"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""},
    **{character: character for character in "'\"\\/"},
}
_ESCAPED = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TO_ESCAPE = re.compile(r"[\\'\x00-\x1f\x7f\ud800-\udfff]")


def read_python_string(source: Source, out: Out) -> Reading[bool]:
    """Takes a string, and those that stand beside it, if one begins here; whether one did.

    Raises:
        WireError: The text ends within it.
    """
    prefix = yield from _prefix(source)
    if prefix is None:
        return False
    out('"')
    while prefix is not None:
        source.take(source.at + len(prefix))
        yield from _read_one(source, out, is_raw=prefix in ("r", "R"))
        yield from peek(source)
        prefix = yield from _prefix(source)
    out('"')
    return True


def _prefix(source: Source) -> Reading[str | None]:
    """What stands before the quotes of a string that begins here; None if none does."""
    while source.at + 1 >= len(source.text) and source.text[source.at :] in _PREFIXES and not source.ended:
        yield
    first, second = source.text[source.at : source.at + 1], source.text[source.at + 1 : source.at + 2]
    if first in _PLAIN:
        return ""
    return first if first and first in _PREFIXES and second in _PLAIN else None


def _read_one(source: Source, out: Out, *, is_raw: bool) -> Reading[None]:
    quote = source.text[source.at]
    end = yield from _opening(source, quote)
    if end is None:
        return
    plain = _PLAIN[quote]
    while True:
        found = plain.match(source.text, source.at)
        if found and found.end() > source.at:
            out(escaped(source.take(found.end())))
        if source.at == len(source.text):
            if source.ended:
                raise source.error("the end of a string")
            yield
        elif source.text[source.at] == "\\":
            yield from _read_raw(source, out) if is_raw else _read_escape(source, out)
        else:
            yield from _fill(source, len(end))
            if source.text.startswith(end, source.at):
                source.take(source.at + len(end))
                return
            out(escaped(source.take(source.at + 1)))


def _opening(source: Source, quote: str) -> Reading[str | None]:
    """Takes the opening quotes; with what the string ends, or None if that was all of it."""
    yield from _fill(source, 2)
    if not source.text.startswith(quote * 2, source.at):
        source.take(source.at + 1)
        return quote
    yield from _fill(source, 3)
    if source.text.startswith(quote * 3, source.at):
        source.take(source.at + 3)
        return quote * 3
    source.take(source.at + 2)
    return None


def _fill(source: Source, size: int) -> Reading[None]:
    while len(source.text) - source.at < size and not source.ended:
        yield


def _read_raw(source: Source, out: Out) -> Reading[None]:
    yield from _fill(source, 2)
    out(escaped(source.take(min(source.at + 2, len(source.text)))))


def _read_escape(source: Source, out: Out) -> Reading[None]:
    while not source.ended and _ESCAPE_BEGUN.fullmatch(source.text, source.at):
        yield
    found = _ESCAPE.match(source.text, source.at)
    if not found:
        raise source.error("the end of a string")
    out(_meaning(found))
    source.take(found.end())


def _meaning(escape: re.Match[str]) -> str:
    """What the escape means, as the inside of a JSON string."""
    hexadecimal = escape[1] or escape[2] or escape[3]
    if hexadecimal is None:
        # As in Python, a backslash before anything else is a backslash.
        return escaped(chr(int(escape[4], 8)) if escape[4] else _MEANING.get(escape[5], escape[0]))
    code = int(hexadecimal, 16)
    if 0xD800 <= code < 0xE000:
        return f"\\u{code:04x}"  # JSON joins the halves of a pair
    return escaped(chr(code) if code <= 0x10FFFF else escape[0])


def write_python_string(text: str) -> str:
    """The text in single quotes."""
    return f"'{_TO_ESCAPE.sub(_escape, text)}'"


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return _ESCAPED.get(found.group()) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def python_string_shape(least: int, most: int | None) -> Shape:
    """Strings in single quotes, as `write_python_string` writes them, of so many characters."""
    hexadecimal = Characters("0-9a-f", at_least=2, at_most=2)
    character = OneOf(
        (
            Characters("^\\\\'\\x00-\\x1f\\x7f", at_most=1),
            InOrder((Exact("\\"), Characters("\\\\'nrt", at_most=1))),
            InOrder((Exact("\\x"), hexadecimal)),
            InOrder((Exact("\\u"), hexadecimal, hexadecimal)),
        )
    )
    return InOrder((Exact("'"), Repeated(character, at_least=least, at_most=most), Exact("'")))
