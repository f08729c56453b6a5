"""The text under repair: where reading stands, which slips are allowed, and what was changed so far.

Every departure from RFC 8259 is one row of `SLIPS`: the level from which it is mended, and what strict JSON has there.
A reader asks for a slip where it meets one; below that level the very same place is the error. Above: `repair_strings`,
`repair_reader`. Deliberately not here: what a value is, and which part of a longer text is meant (`repair`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from wieldy.schema.wellformed import MAX_DEPTH

RepairLevel: TypeAlias = Literal[1, 2, 3]
"""1: strict. 2: cut out of its surroundings, trailing commas, comments, raw control characters. 3: known slips."""

ChangeKind: TypeAlias = Literal[
    "cut off",
    "comment",
    "trailing comma",
    "control character",
    "space",
    "quotes",
    "bare key",
    "bare text",
    "literal",
    "number",
    "missing comma",
    "missing closer",
    "inner quote",
    "backslash",
]

SLIPS: dict[ChangeKind, tuple[RepairLevel, str]] = {
    "cut off": (2, "nothing but the JSON value"),
    "comment": (2, "no comment"),
    "trailing comma": (2, "another member after the comma, or no comma"),
    "control character": (2, r"an escape such as \n or \t instead of the raw character"),
    "space": (2, "only plain spaces, tabs and line breaks between values"),
    "quotes": (3, 'double quotes (")'),
    "bare key": (3, "a key in double quotes"),
    "bare text": (3, "a JSON value; text goes in double quotes"),
    "literal": (3, "true, false or null"),
    "number": (3, "a number as JSON writes it, such as 1, 0.5 or -2e3"),
    "missing comma": (3, "`,`"),
    "missing closer": (3, "the closing bracket or quote"),
    "inner quote": (3, r"a quote inside the text written as \""),
    "backslash": (3, r"one of \" \\ \/ \b \f \n \r \t \u0000; a backslash itself is written \\"),
}
"""Each kind of change: from which level it is made, and what strict JSON would have in its place."""

_SPACE = re.compile(r"[ \t\r\n]*")
_ODD_SPACE = re.compile("[\\s\ufeff\u200b]+")
# A line comment that nothing follows would hold what comes after it on its line, closers included: none is read there.
_COMMENT = re.compile(r"(?://|#)[^\n]*\n|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that was read other than it was written.

    Attributes:
        position: Where, in characters from the start of the input; its length for what was missing at the end.
        kind: What kind of slip.
        text: For people: what was changed. For `cut off` and `comment` exactly the text that is not in the value.
    """

    position: int
    kind: ChangeKind
    text: str


class UnreadableError(Exception):
    """Reading stops here; `repair` puts it into words."""

    def __init__(self, position: int, expected: str) -> None:
        super().__init__(expected)
        self.position = position
        self.expected = expected


class Source:
    """A text, read from `position` to `limit` with the slips of one level."""

    __slots__ = ("changes", "depth", "level", "limit", "position", "text")

    def __init__(self, text: str, *, start: int, limit: int, level: RepairLevel) -> None:
        self.text = text
        self.position = start
        self.limit = limit
        self.level: RepairLevel = level
        self.depth = 0
        self.changes: list[Change] = []

    def peek(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.position] if self.position < self.limit else ""

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What the pattern finds right here."""
        return pattern.match(self.text, self.position, self.limit)

    def fail(self, expected: str, *, at: int | None = None) -> NoReturn:
        """Ends reading, here or `at` another place."""
        raise UnreadableError(self.position if at is None else at, expected)

    def slip(self, kind: ChangeKind, text: str, *, at: int | None = None, expected: str | None = None) -> None:
        """Notes a change that this level makes; ends reading where it makes none of this kind."""
        level, strictly = SLIPS[kind]
        if self.level < level:
            self.fail(expected or strictly, at=at)
        self.changes.append(Change(position=self.position if at is None else at, kind=kind, text=text))

    def skip(self) -> None:
        """Moves to the next token."""
        while True:
            if (space := self.match(_SPACE)) is not None:
                self.position = space.end()
            if (comment := self.match(_COMMENT)) is not None:
                self.slip("comment", comment.group())
                self.position = comment.end()
            elif (odd := self.match(_ODD_SPACE)) is not None:
                self.slip("space", f"{odd.group()!a} read as a space")
                self.position = odd.end()
            else:
                return

    def descend(self) -> None:
        """Goes into the object or array that begins here."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"at most {MAX_DEPTH} levels of nesting")
        self.position += 1

    def ascend(self) -> None:
        """Leaves the object or array again."""
        self.depth -= 1
