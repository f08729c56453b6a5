"""The bytes of tokens as text, whole characters at a time, up to a text at which it ends. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from wieldy.connect.models.writing import Token


class Decoding:
    """A text as its tokens come.

    Args:
        stop: Texts at which it ends and which are not part of it.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._stop = tuple(filter(None, stop))
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self.is_over = False
        """Whether one of the texts was met at which it ends."""

    def feed(self, token: Token) -> str:
        """What the token adds, of which it is known that it belongs to the text."""
        return self._known(self._decoder.decode(token.data))

    def flush(self) -> str:
        """What was held back, because there is no more, or a mark follows."""
        rest = self._known(self._decoder.decode(b"", final=True))
        held, self._held = self._held, ""
        self._decoder.reset()
        return rest + held

    def _known(self, more: str) -> str:
        if self.is_over:
            return ""
        if not self._stop:
            return more
        text = self._held + more
        # The one that is complete first counts, wherever the text was cut.
        found = min(((at + len(stop), at) for stop in self._stop if (at := text.find(stop)) >= 0), default=None)
        if found is not None:
            self.is_over, self._held = True, ""
            return text[: found[1]]
        kept = max(_begun(text, stop) for stop in self._stop)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]


def _begun(text: str, stop: str) -> int:
    """How many characters at the end of the text are the beginning of the other."""
    return next((size for size in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:size])), 0)
