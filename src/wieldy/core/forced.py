"""Which values of a JSON text were decided by the token budget: ranges of characters as JSON pointers. Pure.

Source: RFC 6901 for the pointers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]+")


def forced_pointers(text: str, ranges: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """The pointers of the values that lie in the ranges, wholly or in part; that of the whole if no single value does.

    A number ends only with what follows it: one that a range follows may have been cut short, and lies in it.

    Args:
        text: JSON, as `json.loads` takes it.
        ranges: Where the budget decided, in characters (start, end); what lies outside the text counts for nothing.
    """
    ranges = [(left, right) for left, right in ranges if left < len(text) and right > 0]
    if not ranges:
        return ()
    found = [
        pointer for pointer, start, end in _values(text) if any(start < right and left < end for left, right in ranges)
    ]
    return tuple(dict.fromkeys(found)) or ("",)


def _values(text: str) -> Iterator[tuple[str, int, int]]:
    """Every value that holds no other, with its place: strings, numbers, words, and what is empty."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return iter(())
    return iter(_Scan(text).found)


class _Scan:
    """The values of valid JSON, without a stack of Python's: it may be nested deeply."""

    def __init__(self, text: str) -> None:
        self.found: list[tuple[str, int, int]] = []
        self._text = text
        self._at = 0
        self._path: list[str | int] = []
        self._run()

    def _run(self) -> None:
        opened: list[int] = []
        while (sign := self._next()) is not None:
            if sign in "{[":
                opened.append(self._at)
                self._path.append(-1 if sign == "[" else "")
                self._at += 1
                self._count()
            elif sign in "}]":
                start = opened.pop()
                self._at += 1
                self._path.pop()
                if not self._text[start + 1 : self._at - 1].strip():
                    self.found.append((self._pointer(), start, self._at))
            elif sign == ",":
                self._at += 1
                self._count()
            else:
                self._scalar(sign)

    def _count(self) -> None:
        if self._path and isinstance(number := self._path[-1], int):
            self._path[-1] = number + 1

    def _scalar(self, sign: str) -> None:
        start = self._at
        match = (_STRING if sign == '"' else _SCALAR).match(self._text, start)
        assert match is not None, "it is valid JSON"
        self._at = match.end()
        if sign == '"' and self._next() == ":":
            self._at += 1
            self._path[-1] = str(json.loads(match[0]))
        else:
            may_go_on = match[0][-1].isdecimal()
            self.found.append((self._pointer(), start, match.end() + may_go_on))

    def _next(self) -> str | None:
        space = _SPACE.match(self._text, self._at)
        self._at = self._at if space is None else space.end()
        return self._text[self._at] if self._at < len(self._text) else None

    def _pointer(self) -> str:
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self._path)
