"""Escape sequences of terminals in foreign text: found whole, so that no half of one stays behind as letters.

Two kinds occur in the words of servers and tools: control sequences (colours, cursor) and operating system commands
(window titles, links). An operating system command is taken for one only if it ends on its own line, so that text can
hide no more than that. Deliberately not here: single control characters, which each reader makes harmless its own way.
"""

from __future__ import annotations

import re

_PARAMETERS = "[0-?]*[ -/]*"
_PAYLOAD = "[^\x00-\x1f\x7f-\x9f]*"
_SEQUENCE = re.compile(rf"(?:\x1b\[|\x9b){_PARAMETERS}[@-~]|(?:\x1b\]|\x9d){_PAYLOAD}(?:\x07|\x1b\\|\x9c)")
_BEGUN = re.compile(rf"(?:\x1b|(?:\x1b\[|\x9b){_PARAMETERS}|(?:\x1b\]|\x9d){_PAYLOAD}\x1b?)\Z")


def without_sequences(text: str) -> str:
    """The text without its escape sequences; what only looks like the beginning of one stays.

    Cost: linear in the text.
    """
    return _SEQUENCE.sub("", text)


def begun_sequence(text: str) -> str:
    """The end of the text that could become an escape sequence if more text follows; usually empty."""
    begun = _BEGUN.search(text)
    return begun.group() if begun else ""
