"""Characters that a person does not see and a model reads: found, and made visible.

Known: tag characters, which spell out a second text; runs of variation selectors and of characters without width, which
encode one; controls that turn the direction of text round. What is usual is left alone: flags of regions, emoji, and
the marks that Arabic, Hebrew and Indic scripts need. Cost: linear.
"""

from __future__ import annotations

import re
from typing import Final

_TAGS: Final = "\U000e0000-\U000e007f"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_NO_WIDTH: Final = "\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff"
_TURNING: Final = "\u202d\u202e"

# England, Scotland and Wales: the flags that are spelt in tag characters.
_FLAGS: Final = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_HIDDEN: Final = re.compile(
    f"({'|'.join(_FLAGS)})|([{_TAGS}]+)|([{_SELECTORS}]{{3,}}|[{_NO_WIDTH}]{{4,}})|([{_TURNING}])"
)
_ANY: Final = re.compile(f"[{_TAGS}{_SELECTORS}{_NO_WIDTH}{_TURNING}]")


def has_hidden(text: str) -> bool:
    """Whether the text holds something that is meant not to be seen."""
    # Looking for single characters first is ten times as fast.
    return has_invisible(text) and any(found[1] is None for found in _HIDDEN.finditer(text))


def has_invisible(text: str) -> bool:
    """Whether the text holds any of these characters, for whatever reason."""
    return not text.isascii() and _ANY.search(text) is not None


def reveal(text: str) -> str:
    """The text with what is hidden in it written out in brackets."""
    return _HIDDEN.sub(_written_out, text) if has_invisible(text) else text


def without_invisible(text: str) -> str:
    """The text as a person sees it: without any of these characters, so that words can be recognised."""
    return _ANY.sub("", text)


def _written_out(found: re.Match[str]) -> str:
    flag, tags, run, turning = found.groups()
    if flag:
        return flag
    if tags:
        letters = "".join(chr(ord(tag) - 0xE0000) for tag in tags)
        return f"[hidden text: {''.join(letter for letter in letters if letter.isprintable())}]"
    if run:
        return f"[{len(run)} invisible characters]"
    return f"[U+{ord(turning):04X}]"
