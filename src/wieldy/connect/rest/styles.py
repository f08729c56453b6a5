"""How values of parameters are written into a path, a query, a header or a cookie: the styles of OpenAPI.

Pure. Law: whoever reads by the same style finds what was written, as far as the style can carry it: a delimiter is
escaped within values where the place allows that, and what has no form in a style is refused rather than guessed.

Source: OpenAPI 3.1.1, 4.8.12 "Parameter Object" and appendices C and E; RFC 6570, which the styles come from.
Differs: deeper values, for which the specification has no form, are written in brackets with indices (`a[b][0]=c`), as
most servers read them; null is an empty value, so that clearing a field is not the same as leaving it alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from wieldy.core.errors import ArgumentsError
from wieldy.core.json import JsonValue, canonical_json

Style: TypeAlias = Literal[
    "simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject", "json"
]
Pair: TypeAlias = tuple[str, str]

_DELIMITERS: Final[dict[Style, str]] = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How one parameter is written.

    Attributes:
        name: On the wire.
        style: As OpenAPI names it; `json` for JSON text, and `tabDelimited` from version 2.0.
        explode: Whether each item and property stands for itself.
        allows_reserved: Whether the characters that have a meaning in addresses stay as they are.
    """

    name: str
    style: Style
    explode: bool
    allows_reserved: bool = False


def scalar_text(value: JsonValue) -> str:
    """A value as plain text: text as it is, null as nothing, anything else as JSON."""
    match value:
        case str():
            return value
        case None:
            return ""
        case _:
            return canonical_json(value)


def in_path(writing: Writing, value: JsonValue) -> str:
    """The text for its place in a path, escaped."""
    name, explode = _escaped(writing.name), writing.explode
    texts = _texts(writing, value)
    match writing.style:
        case "label":
            return "." + ("." if explode else ",").join(text.replace(".", "%2E") for text in texts)
        case "matrix" if isinstance(value, dict) and explode:
            return "".join(f";{text}" for text in texts)
        case "matrix" if isinstance(value, list) and explode:
            return "".join(f";{name}={text}" for text in texts)
        case "matrix":
            return f";{name}={','.join(texts)}"
        case _:
            return ",".join(texts)


def in_query(writing: Writing, value: JsonValue) -> str:
    """The text for a query, escaped: `a=1&a=2`; empty where the value is an empty list or object."""
    name = _escaped(writing.name)
    if writing.style == "deepObject":
        return joined(_escaped_pairs(bracketed(writing.name, value), writing))
    if writing.style == "json" or not isinstance(value, list | dict):
        text = canonical_json(value) if writing.style == "json" else scalar_text(value)
        return f"{name}={_escaped(text, writing.allows_reserved)}"
    if _is_deep(value):
        return joined(_escaped_pairs(bracketed(writing.name, value), writing))
    texts = _texts(writing, value)
    if not texts:
        return ""
    if not writing.explode:
        return f"{name}={quote(_DELIMITERS.get(writing.style, ','), safe=',').join(texts)}"
    return joined(texts) if isinstance(value, dict) else joined(f"{name}={text}" for text in texts)


def in_header(writing: Writing, value: JsonValue) -> str:
    """The text for a header, where nothing is escaped."""
    if writing.style == "json":
        return canonical_json(value)
    if isinstance(value, list):
        return ",".join(_flat_text(item, writing, delimiters=",") for item in value)
    if isinstance(value, dict):
        between = "=" if writing.explode else ","
        named = [(_flat_text(name, writing, delimiters=f",{between}"), part) for name, part in value.items()]
        return ",".join(f"{name}{between}{_flat_text(part, writing, delimiters=',')}" for name, part in named)
    return scalar_text(value)


def in_cookie(writing: Writing, value: JsonValue) -> list[str]:
    """The cookies: `a=1`, one for each item where they stand for themselves."""
    return [part for part in in_query(writing, value).split("&") if part]


def bracketed(name: str, value: JsonValue) -> Iterator[Pair]:
    """The leaves of a value, each under the way that leads to it: `a[b][0]`."""
    match value:
        case dict():
            for key, part in value.items():
                yield from bracketed(f"{name}[{key}]", part)
        case list():
            for index, part in enumerate(value):
                yield from bracketed(f"{name}[{index}]", part)
        case _:
            yield name, scalar_text(value)


def joined(parts: Iterator[str] | list[str]) -> str:
    """Parts of a query as one."""
    return "&".join(part for part in parts if part)


def _texts(writing: Writing, value: JsonValue) -> list[str]:
    """The items of a list, or the names and values of an object, escaped one by one."""
    reserved = writing.allows_reserved
    if writing.style == "json":
        return [_escaped(canonical_json(value))]
    if isinstance(value, list):
        return [_escaped(_flat_text(item, writing), reserved) for item in value]
    if isinstance(value, dict):
        pairs = [
            (_escaped(_flat_text(name, writing)), _escaped(_flat_text(part, writing), reserved))
            for name, part in value.items()
        ]
        if writing.explode:
            return [f"{name}={text}" for name, text in pairs]
        return [text for pair in pairs for text in pair]
    return [_escaped(scalar_text(value), reserved)]


def _flat_text(value: JsonValue, writing: Writing, *, delimiters: str = "") -> str:
    if isinstance(value, dict | list):
        raise ArgumentsError(
            f"`{writing.name}` cannot hold a list or an object within a list or an object: the service has no way of "
            "reading it. Give plain values."
        )
    text = scalar_text(value)
    found = next((mark for mark in delimiters or _DELIMITERS.get(writing.style, "") if mark in text), None)
    if found is not None:
        raise ArgumentsError(
            f"`{writing.name}` cannot hold {found!r} within one of its values, found {text!r:.80}: the "
            "service takes it for the end of the value."
        )
    return text


def _is_deep(value: JsonValue) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(part, dict | list) for part in parts)


def _escaped_pairs(pairs: Iterator[Pair], writing: Writing) -> Iterator[str]:
    for name, text in pairs:
        # Brackets stay: that is how servers know the form, and none takes them for anything else.
        yield f"{quote(name, safe='[]')}={_escaped(text, writing.allows_reserved)}"


def _escaped(text: str, reserved: bool = False) -> str:
    # A half of a surrogate pair is found before: arguments are checked to be JSON.
    return quote(text, safe=_RESERVED_IN_QUERY if reserved else "")


_RESERVED_IN_QUERY: Final = ":/?[]@!$'()*,;"
"""Without those that end a value in a query, or the query itself: `&`, `=`, `+` and `#` would change what is read."""
