"""One place where a value does not fit its schema, and how such places are written.

A record only: finding violations is `compiled`'s work, wording them for a model is `explain`'s.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = "tuple[str | int, ...]"
"""Where a value lies: property names and array indexes from the root; empty for the root itself."""

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A place where a value does not fit.

    Attributes:
        path: Where; for a missing or unknown property the place where it would be or is.
        keyword: The JSON Schema keyword that failed, or `python` where the tool's own Python type refused.
        found: The offending value; for a missing property the object that lacks it.
        expected: What would fit, as a noun phrase: "an integer", "one of "a", "b"".
        reason: A whole sentence instead of `expected`, where a type's own check gave one.
        nearest: For an unknown property: the known one that was probably meant.
    """

    path: Path
    keyword: str
    found: object
    expected: str
    reason: str | None = None
    nearest: str | None = None

    @property
    def json_path(self) -> str:
        """The place as JSONPath: `$`, `$.items[0].name`."""
        return f"${render_path(self.path, dot='.')}"


def render_path(path: Path, *, dot: str = "") -> str:
    """The path without its root: `items[0].name`; names that are no identifiers are quoted in brackets."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_NAME.fullmatch(part):
            text += f".{part}" if text or dot else part
        else:
            text += f"[{json.dumps(part)}]"
    return text


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The known name that was probably meant: the same but for case and separators, else the most alike; else None."""
    return next(iter(nearest_names(name, names, most=1)), None)


def nearest_names(name: str, names: Iterable[str], *, most: int) -> tuple[str, ...]:
    """As `nearest`, but all that may have been meant, the likeliest first; at most so many."""
    # People and models err in case and separators (`getWeather`, `get-weather`) more often than in letters.
    known = {_bare(candidate): candidate for candidate in names}
    bare = _bare(name)
    if bare in known:
        return (known[bare],)
    return tuple(known[close] for close in difflib.get_close_matches(bare[:64], known, n=most, cutoff=0.7))


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
