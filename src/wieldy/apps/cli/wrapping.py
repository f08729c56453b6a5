"""Words of a stream kept whole at the right edge of a terminal.

Law: wrapping changes nothing but blanks, wherever the stream was cut. Deliberately not here: text that is there as a
whole, which `Terminal.block` wraps.
"""

from __future__ import annotations

import re

from rich.cells import cell_len

# Characters two columns wide (Chinese, Japanese, Korean, emoji) are words of their own: those scripts know no spaces.
_WIDE = (
    r"\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
    r"\U0001f300-\U0001faff\U00020000-\U0003fffd"
)
_TOKEN = re.compile(rf"\n|[^\S\n]+|[{_WIDE}]|[^\s{_WIDE}]+")


class WordWrap:
    """Wraps text that arrives in pieces; a word is given out once it is known to have ended.

    Args:
        width: Columns of the terminal; None: nothing is wrapped or held back.
    """

    def __init__(self, width: int | None) -> None:
        self._width = width
        self._column = 0
        self._blanks = ""
        self._word = ""

    def feed(self, piece: str) -> str:
        """The text that can be written now."""
        if self._width is None:
            return piece
        tokens = _TOKEN.findall(self._word + piece)
        self._word = tokens.pop() if tokens and not tokens[-1].isspace() else ""
        return "".join(self._placed(token) for token in tokens)

    def close(self) -> str:
        """The rest; the next piece begins a new line."""
        rest = self._placed(self._word) if self._word else ""
        self._column, self._blanks, self._word = 0, "", ""
        return rest

    def _placed(self, token: str) -> str:
        if token == "\n":
            self._column, self._blanks = 0, ""
            return "\n"
        if token.isspace():
            self._blanks += token
            return ""
        blanks, self._blanks = self._blanks.expandtabs(4), ""
        end = self._column + len(blanks) + cell_len(token)
        if end > (self._width or end) and self._column:
            self._column = cell_len(token)
            return f"\n{token}"
        self._column = end
        return blanks + token
