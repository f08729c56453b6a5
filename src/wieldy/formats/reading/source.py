"""Text that arrives in pieces, and readers that take it.

A reader is a generator: it takes what it can decide on and yields when it needs more text. Whatever it decides depends
only on the text, never on where the text was cut: a reader that cannot tell yet waits. So the complete parser is the
streaming parser fed once, and both are written once, as if the whole text were there.

Law: every character is taken exactly once, in order, and belongs to the span that was open when it was taken.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

from wieldy.formats.events import Span, SpanKind

T = TypeVar("T")
Reading: TypeAlias = Generator[None, None, T]
"""A reader: yields when it needs more text, returns what it read."""

TOKEN = "\ufdd0"
"""Stands before a special token in a text whose special tokens are known: a code point that no text may contain."""


_SHOWN = 24
"""How many characters of a text that was not expected are shown."""


class WireError(Exception):
    """A text is not what the format says; caught within this room and told as an `InvalidToolCall` or a `Problem`.

    Attributes:
        found: Empty for what stands at the position, which `Source.tell` fills in.
    """

    def __init__(self, position: int, *, expected: str, found: str = "") -> None:
        super().__init__(expected)
        self.position = position
        self.expected = expected
        self.found = found


class Source:
    """The text that has arrived and was not taken yet: `text[at:]`.

    Args:
        knows_tokens: Whether special tokens are marked with `TOKEN`, which counts as no character of the input.
    """

    __slots__ = ("_kind", "_spans", "_start", "at", "ended", "knows_tokens", "offset", "recorded", "text")

    def __init__(self, *, knows_tokens: bool = False) -> None:
        self.text = ""
        self.at = 0
        self.ended = False
        self.offset = 0
        self.knows_tokens = knows_tokens
        self.recorded: list[str] | None = None
        """What was taken since a call began, while one is open."""
        self._spans: list[Span] = []
        self._kind: SpanKind = "content"
        self._start = 0

    @property
    def position(self) -> int:
        """Offset in the input of the next character to take."""
        return self.offset

    def push(self, piece: str) -> None:
        """More text has arrived."""
        self.text = self.text[self.at :] + piece
        self.at = 0

    def take(self, end: int) -> str:
        """The text up to `end`, which is thereby taken."""
        taken = self.text[self.at : end]
        self.at = end
        self.offset += len(taken)
        if self.knows_tokens:
            taken = self._without_tokens(taken)
        if self.recorded is not None:
            self.recorded.append(taken)
        return taken

    def _without_tokens(self, taken: str) -> str:
        plain = taken.replace(TOKEN, "")
        self.offset -= len(taken) - len(plain)
        return plain

    def begin(self, kind: SpanKind, position: int | None = None) -> None:
        """What is taken from here on, or was since `position`, belongs to a span of this kind."""
        if kind != self._kind:
            self._close_span(self.offset if position is None else position)
            self._kind = kind

    @property
    def spans(self) -> tuple[Span, ...]:
        """What everything taken so far was read as, without gaps."""
        self._close_span(self.offset)
        return tuple(self._spans)

    def _close_span(self, end: int) -> None:
        if end <= self._start:
            return
        joins = self._spans and self._spans[-1].kind == self._kind
        start = self._spans.pop().start if joins else self._start
        self._spans.append(Span(kind=self._kind, start=start, end=end))
        self._start = end

    def error(self, expected: str) -> WireError:
        """That something else stands here."""
        return WireError(self.position, expected=expected)

    def tell(self, error: WireError) -> Reading[None]:
        """Fills in what stands here instead; waits for a few characters, so that cuts do not show in the message."""
        if error.found:
            return
        while len(self.text) - self.at < _SHOWN and not self.ended:
            yield
        shown = self.text[self.at : self.at + _SHOWN].replace(TOKEN, "")
        error.found = repr(shown) if shown else "the end of the text"
