"""Whether a text has begun to repeat itself without end."""

from __future__ import annotations

_LONGEST_PERIOD = 128
_LEAST_TIMES = 8
_SAMPLE = 16

LOOKED_AT_BYTES = _LONGEST_PERIOD * _LEAST_TIMES
"""So much of a text's end is looked at, unless more is asked for."""


def repeated_bytes(text: bytes, least: int) -> int:
    """How many bytes at the end of the text are the same few bytes again and again; 0 where it does not repeat itself.

    Args:
        text: The end of a text.
        least: How many bytes it has to be; it is also at least eight times whatever is repeated.
    """
    before = text.rfind(text[-_SAMPLE:], 0, len(text) - 1)
    period = len(text) - _SAMPLE - before
    size = max(least, _LEAST_TIMES * period)
    if before < 0 or period > _LONGEST_PERIOD or len(text) < size:
        return 0
    return size if text[-size:-period] == text[len(text) - size + period :] else 0
