"""Standard output for machines: strict JSON, one value a line, in ASCII so that no encoding and no terminal spoils it.

Deliberately not here: which fields an event or a run has (`event_json`, `run_view`).
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import Any, Self, cast


class JsonLines:
    """Standard output as JSON lines and nothing else.

    While it is open, everything that other code prints (a tool, a library in C) goes to standard error. This is done at
    the level of file descriptors, because a print inside a tool must not break the program that reads the lines.
    """

    def __init__(self) -> None:
        _flush()
        self._descriptor = os.dup(1)
        self._lines = os.fdopen(self._descriptor, "w", encoding="ascii")
        os.dup2(2, 1)

    def write(self, value: Mapping[str, Any]) -> None:
        """Write one line, readable by the other side when this returns."""
        self._lines.write(json_line(value))
        self._lines.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give standard output back; calling it again does nothing."""
        if self._lines.closed:
            return
        _flush()
        os.dup2(self._descriptor, 1)
        self._lines.close()


def _flush() -> None:
    if not sys.stdout.closed:  # a tool may have closed it
        sys.stdout.flush()


def print_json(value: Mapping[str, Any]) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json_line(value))


def json_line(value: Mapping[str, Any]) -> str:
    """One line of strict JSON; numbers that JSON does not know become null."""
    try:
        return json.dumps(value, allow_nan=False) + "\n"
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False) + "\n"


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: _finite(item) for key, item in cast("dict[str, object]", value).items()}
        case list() | tuple():
            return [_finite(item) for item in cast("list[object]", value)]
        case _:
            return value
