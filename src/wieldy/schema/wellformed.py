"""Whether a Python value is JSON at all, before a schema is asked.

A model's text can decode into what JSON does not know (NaN, half a surrogate pair) or into nesting that no validator
survives; a program can hand over anything. Both are found here, with the place, instead of failing somewhere below.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

from wieldy.schema.violations import Path, Violation

MAX_DEPTH = 64
"""Levels of nesting that are accepted; far beyond any arguments, far below every parser's recursion limit."""


def malformed(value: object, path: Path = ()) -> Iterator[Violation]:
    """Yields every place where the value is no JSON; nothing for good JSON."""
    if len(path) > MAX_DEPTH:
        yield Violation(
            path=path[:3], keyword="json", found="...", expected=f"JSON of at most {MAX_DEPTH} levels of nesting"
        )
    elif isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            yield from _malformed_item(key, item, path)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from malformed(item, (*path, index))
    else:
        yield from _malformed_scalar(value, path)


def is_wellformed(value: object, *, nesting: int = 0) -> bool:
    """Whether `malformed` yields nothing; several times as fast, since most values are only asked this.

    Args:
        value: Anything.
        nesting: How many levels lie above it.
    """
    if nesting > MAX_DEPTH:
        return False
    if isinstance(value, str):
        return _is_unicode(value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            if not (isinstance(key, str) and _is_unicode(key) and is_wellformed(item, nesting=nesting + 1)):
                return False
        return True
    if isinstance(value, list):
        return all(is_wellformed(item, nesting=nesting + 1) for item in cast("list[object]", value))
    return value is None or isinstance(value, int)


def _malformed_scalar(value: object, path: Path) -> Iterator[Violation]:
    if isinstance(value, str):
        if not _is_unicode(value):
            yield _violation(path, ascii(value), "text of whole Unicode characters (no lone surrogates)")
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield _violation(path, str(value), "a finite number")
    elif not (value is None or isinstance(value, int)):
        yield _violation(path, f"a Python {type(value).__name__}", "a JSON value")


def _malformed_item(key: object, item: object, path: Path) -> Iterator[Violation]:
    if not isinstance(key, str):
        yield _violation(path, f"the key {key!a}", "keys that are text")
    elif not _is_unicode(key):
        yield _violation(path, f"the key {key!a}", "keys of whole Unicode characters (no lone surrogates)")
    else:
        yield from malformed(item, (*path, key))


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _violation(path: Path, found: str, expected: str) -> Violation:
    return Violation(path=path, keyword="json", found=found, expected=expected)
