r"""Text from models, tools and files made safe to show: it can move no cursor, change no colour and reorder no line.

Whole escape sequences are left out; other control characters and bidirectional overrides become visible (`\x1b`,
`\u202e`); line breaks and tabs stay. In a call and in code nothing is left out: a person may be asked to consent to it.
What is *stored* is never touched: this is for the eyes only. Rich's own markup is no concern here, because untrusted
text is only ever printed as `Text`.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from wieldy.core.calls import AnyCall, InvalidToolCall
from wieldy.core.escape_sequences import begun_sequence, without_sequences
from wieldy.core.json import canonical_json

Shown: TypeAlias = str
"""Text that is safe to print."""

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def neutralise(text: str) -> Shown:
    """The text without escape sequences, and with every other character that a terminal could obey made visible."""
    return _visible(without_sequences(text.replace("\r\n", "\n")))


def _visible(text: str) -> Shown:
    return _UNSAFE.sub(_escape, text)


def code_text(text: str) -> Shown:
    """All of the text: what a person reads here is what runs, and nothing that cannot be seen is left out."""
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)


def one_line(text: str, *, limit: int) -> Shown:
    """The text on one line of at most `limit` characters; an ellipsis says that something was left out."""
    line = " ".join(neutralise(text[: 4 * limit]).split())
    if len(line) <= limit and len(text) <= 4 * limit:
        return line
    return line[: limit - 1].rstrip() + "…"


def shorten(text: str, *, lines: int, characters: int) -> Shown:
    """The beginning of the text and, if something was left out, a line that says how much."""
    safe = neutralise(text).strip("\n")
    kept = "\n".join(safe[:characters].split("\n")[:lines])
    left_out = len(safe) - len(kept)
    if not left_out:
        return safe
    return f"{kept.rstrip()} …\n({left_out:,} more characters)"


def call_text(call: AnyCall, *, limit: int | None = None) -> Shown:
    """The call as people read one: `refund(order_id="17", amount=5)`; `limit` shortens its arguments."""
    if isinstance(call, InvalidToolCall):
        arguments = call.text
    else:
        arguments = ", ".join(f"{name}={canonical_json(value)}" for name, value in call.arguments.items())
    visible = _visible(arguments)
    shown = visible if limit is None else one_line(visible, limit=limit)
    return f"{one_line(_visible(call.name or '(no name)'), limit=80)}({shown})"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class SafeStream:
    """Neutralises text that arrives in pieces: the result does not depend on where it was cut."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> Shown:
        """The safe text of this piece; what may be the beginning of something longer waits for what follows."""
        text = self._held + piece
        self._held = "\r" if text.endswith("\r") else begun_sequence(text)
        return neutralise(text.removesuffix(self._held))

    def close(self) -> Shown:
        """What was still held back."""
        held, self._held = self._held, ""
        return neutralise(held)
