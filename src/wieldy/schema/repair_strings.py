r"""Texts in quotes, strictly or nearly right.

A quote inside a text that was not escaped is kept as text only where the quotes have one reading: they pair like
quotation marks (an opening one before a word, a closing one after it), and only the last is followed by what may follow
a text at this place. Everything else is refused, since a wrong guess would move text from one value into another.

A backslash before what JSON does not know stays a backslash (`\d`, `C:\Users`); before a quote it goes (`\'`).
"""

from __future__ import annotations

import json
import re
from typing import Literal, TypeAlias

from wieldy.schema.repair_source import Source

Place: TypeAlias = Literal["key", "member", "item", "whole"]
"""What the text is: an object's key, an object's value, an array's item, or all there is."""

CLOSERS = {
    '"': '"',
    "'": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": '\N{RIGHT DOUBLE QUOTATION MARK}\N{LEFT DOUBLE QUOTATION MARK}"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '\N{RIGHT DOUBLE QUOTATION MARK}"',
    "\N{DOUBLE LOW-9 QUOTATION MARK}": '\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"',
    "\N{LEFT SINGLE QUOTATION MARK}": "\N{RIGHT SINGLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "\N{RIGHT SINGLE QUOTATION MARK}'",
    "\N{SINGLE LOW-9 QUOTATION MARK}": "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}'",
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}",
    "\N{FULLWIDTH QUOTATION MARK}": "\N{FULLWIDTH QUOTATION MARK}",
}
"""What may begin a text, and what then ends it."""
QUOTES = "".join(CLOSERS)
_ALL_CLOSERS = "".join(sorted(set("".join(CLOSERS.values()))))
_RUNS = {opener: re.compile(rf"[^\\\x00-\x1f{closers}]*") for opener, closers in CLOSERS.items()}
_ESCAPES = re.compile(r'(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+')

# Bounded, so that looking ahead from every quote of a long text stays linear.
_GAP = r"(?:\s|//[^\n]{0,200}\n|#[^\n]{0,200}\n|/\*[^*]{0,200}\*/)*"
_QUOTED = r"(?:\"(?:[^\"\\\n]|\\.){0,200}\"|'(?:[^'\\\n]|\\.){0,200}'" + (
    rf"|[{QUOTES}][^\n{_ALL_CLOSERS}]{{0,200}}[{_ALL_CLOSERS}])"
)
_KEY = rf"(?:{_QUOTED}|[\w$][\w$.-]{{0,200}}){_GAP}:"
VALUE_START = rf"(?:[{QUOTES}{{\[0-9-]|(?:true|false|null|True|False|None)\b)"
_AFTER: dict[Place, re.Pattern[str]] = {
    "key": re.compile(rf"{_GAP}:"),
    "member": re.compile(rf"{_GAP}(?:\}}|\Z|,{_GAP}(?:\}}|\Z|{_KEY}))"),
    "item": re.compile(rf"{_GAP}(?:\]|\Z|,{_GAP}(?:\]|\Z|{VALUE_START}))"),
    "whole": re.compile(r"\s*\Z"),
}
_KEY_AHEAD = re.compile(_KEY)
_VALUE_AHEAD = re.compile(VALUE_START)
_UNCLEAR = r"quotes inside a text to be written as \" so that its end can be seen"


def key_follows(source: Source) -> bool:
    """Whether a key and its colon come next, however they are quoted."""
    return source.match(_KEY_AHEAD) is not None


def value_follows(source: Source) -> bool:
    """Whether something begins here that cannot be the middle of a text."""
    return source.match(_VALUE_AHEAD) is not None


def read_string(source: Source, place: Place) -> str:
    """The text whose opening quote is next; reading stands behind its closing quote afterwards."""
    start = source.position
    text = _String(source, place).read()
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            source.fail("text of whole characters (no half of a surrogate pair)", at=start)
    return text


class _String:
    """One text being read."""

    def __init__(self, source: Source, place: Place) -> None:
        self.source = source
        self.place: Place = place
        self.start = source.position
        self.opener = source.peek()
        self.closers = CLOSERS[self.opener]
        self.inner = 0
        self.has_control = False
        self.pieces: list[str] = []

    def read(self) -> str:
        source = self.source
        if self.opener != '"':
            source.slip("quotes", f'{self.opener} read as "')
        source.position += 1
        run = _RUNS[self.opener]
        while True:
            if (plain := source.match(run)) is not None:
                self.pieces.append(plain.group())
                source.position = plain.end()
            char = source.peek()
            if not char:
                return self._unclosed()
            if char == "\\":
                self._backslash()
            elif char not in self.closers:
                self._control(char)
            elif self._closes(char):
                source.position += 1
                return "".join(self.pieces)
            else:
                source.slip("inner quote", f'{char} inside the text read as \\"')
                self._take(char)

    def _take(self, text: str, *, skipping: int = 0) -> None:
        self.pieces.append(text)
        self.source.position += skipping + len(text)

    def _control(self, char: str) -> None:
        if not self.has_control:
            self.source.slip("control character", f"raw control characters kept, the first is {char!a}")
        self.has_control = True
        self._take(char)

    def _backslash(self) -> None:
        source = self.source
        if (escapes := source.match(_ESCAPES)) is not None:
            # Together, so that both halves of a surrogate pair become one character.
            self.pieces.append(json.loads(f'"{escapes.group()}"'))
            source.position = escapes.end()
            return
        following = source.text[source.position + 1 : min(source.position + 2, source.limit)]
        if not following:
            source.fail("the rest of the escape and the closing quote")
        if following in _ALL_CLOSERS or following in QUOTES:
            source.slip("backslash", f"\\{following} read as {following}")
            self._take(following, skipping=1)
        else:
            source.slip("backslash", f"\\{following!a} read as a backslash and what follows")
            self._take("\\")

    def _closes(self, char: str) -> bool:
        """Whether the quote that is next ends the text; see the module for the one reading that is accepted."""
        source = self.source
        if source.level < 3 or self.place == "key":
            return True
        is_opened = self.inner % 2 == 1
        if _AFTER[self.place].match(source.text, source.position + 1, source.limit):
            return True if not is_opened else source.fail(_UNCLEAR)
        before = source.text[source.position - 1]
        after = source.text[source.position + 1 : min(source.position + 2, source.limit)]
        if char in "'\N{RIGHT SINGLE QUOTATION MARK}" and before.isalnum() and after.isalnum():
            return False
        if is_opened:
            looks_right = not before.isspace() and not after.isalnum()
        else:
            looks_right = not before.isalnum() and bool(after) and not after.isspace() and after not in ",:}]"
        if looks_right:
            self.inner += 1
            return False
        return True if self.inner == 0 else source.fail(_UNCLEAR)

    def _unclosed(self) -> str:
        source, text = self.source, "".join(self.pieces)
        if self.inner:
            source.fail(_UNCLEAR, at=self.start)
        # Closers at the end may belong to the text or be those of what surrounds it.
        if self.place in {"key", "whole"} or text.rstrip().endswith(("}", "]", ",")):
            source.fail("the closing quote of this text", at=self.start)
        source.slip("missing closer", "the closing quote added", expected="the closing quote")
        return text
