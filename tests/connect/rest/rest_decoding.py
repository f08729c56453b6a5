"""Reads parameters and bodies as a server does that was written from the specification, and from nothing of ours.

Every value comes back as text, lists and dictionaries of text: what a type makes of it is the service's matter.
"""

from __future__ import annotations

from typing import TypeAlias
from urllib.parse import unquote

Read: TypeAlias = "str | list[Read] | dict[str, Read] | None"


def read_path(segment: str, *, name: str, style: str, explode: bool, kind: str) -> Read:
    if style == "label":
        assert segment.startswith(".")
        return _listed(segment[1:].split("." if explode else ","), explode=explode, kind=kind)
    if style == "matrix":
        assert segment.startswith(";")
        parts = segment[1:].split(";")
        if kind == "object" and explode:
            return _listed(parts, explode=True, kind=kind)
        values = [part.partition("=")[2] for part in parts]
        assert all(unquote(part.partition("=")[0]) == name for part in parts)
        return _listed(values if explode else values[0].split(","), explode=explode, kind=kind)
    return _listed(segment.split(",") if kind != "text" else [segment], explode=explode, kind=kind)


def read_query(query: str, *, name: str, style: str, explode: bool, kind: str) -> Read:
    pairs = [part.partition("=")[::2] for part in query.split("&")]
    if explode:
        if kind == "object":
            return {unquote(key): unquote(value) for key, value in pairs}
        assert all(unquote(key) == name for key, _ in pairs)
        return [unquote(value) for _, value in pairs] if kind == "array" else unquote(pairs[0][1])
    ((key, value),) = pairs
    assert unquote(key) == name
    delimiter = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}.get(style, ",")
    return _listed(value.split(delimiter) if kind != "text" else [value], explode=False, kind=kind)


def read_header(text: str, *, explode: bool, kind: str) -> Read:
    parts = text.split(",") if kind != "text" else [text]
    if kind == "object":
        if explode:
            return dict(part.partition("=")[::2] for part in parts)
        return dict(zip(parts[::2], parts[1::2], strict=True))
    return list(parts) if kind == "array" else parts[0]


def _listed(parts: list[str], *, explode: bool, kind: str) -> Read:
    if kind == "object":
        if explode:
            return {unquote(key): unquote(value) for key, value in (part.split("=", 1) for part in parts)}
        return {unquote(key): unquote(value) for key, value in zip(parts[::2], parts[1::2], strict=True)}
    return [unquote(part) for part in parts] if kind == "array" else unquote(parts[0])
