"""What a report must not show is taken out of every text before the file is written.

Texts are searched as the record holds them, before JSON is laid out for people, so that what a pattern says of a value
is true of the value. Deliberately not here: masking while a run is recorded (`wieldy.run.results`), which is the better
place, because what was never written cannot leak.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from wieldy.core.errors import UsageError
from wieldy.core.json import digest

REDACTED: Final = "[redacted]"
TOO_DEEP: Final = "[nested too deeply to be laid out here; `wieldy show RUN --json` has it]"
_LINE_CHARACTERS: Final = 90
OWN_WORDS: Final = frozenset({"kind", "layer", "type", "effect", "trust", "key", "what"})
"""Members whose values are words of this program, by which the page tells things apart. They come from no record."""


class Redaction:
    """Takes out what any of the patterns matches, and counts.

    Attributes:
        patterns: As they were given.
        count: How many places were redacted so far.

    Raises:
        UsageError: A pattern is no regular expression, or matches the empty text.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self.patterns = tuple(patterns)
        self.count = 0
        self._compiled = [_compiled(pattern) for pattern in self.patterns]

    def text(self, text: str) -> str:
        """The text without what the patterns match."""
        for pattern in self._compiled:
            text, found = pattern.subn(REDACTED, text)
            self.count += found
        return text

    def data(self, value: Any) -> Any:
        """The JSON value without it, in names too."""
        if not self._compiled:
            return value
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(name): self.data(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON of any kind
            case list() | tuple():
                return [self.data(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - JSON of any kind
            case _:
                return value

    def json(self, value: object) -> str:
        """The JSON value without it, laid out for people: on one line if it is short."""
        try:
            kept = self.data(value)
            line = json.dumps(kept, ensure_ascii=False)
            return line if len(line) <= _LINE_CHARACTERS else json.dumps(kept, indent=2, ensure_ascii=False)
        except RecursionError:
            return TOO_DEEP

    def key(self, *told: object) -> str | None:
        """The same for equal values, and tells nothing of what was taken out; None where they are nested too deeply."""
        try:
            return digest(self.data(told))[:16]
        except RecursionError:
            return None

    def shown(self, value: Any) -> Any:
        """A value of ours without it: names of members, and members that hold our own words, stay."""
        if not self._compiled:
            return value
        match value:
            case str():
                return self.text(value)
            case dict():
                return {name: item if name in OWN_WORDS else self.shown(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType] - JSON of any kind
            case list() | tuple():
                return [self.shown(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - JSON of any kind
            case _:
                return value


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"Expected --redact with a regular expression, found {pattern!r}: {error}.") from error
    if compiled.search("") is not None:
        raise UsageError(f"Expected --redact with a pattern that needs at least one character, found {pattern!r}.")
    return compiled
