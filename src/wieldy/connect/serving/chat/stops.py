"""Texts at which an answer ends, kept also where the model's server does not keep them. Pure.

Law: what is let go in pieces is, together, the whole text up to the first of these, however it was cut.
"""

from __future__ import annotations

from collections.abc import Sequence


class Stops:
    """One text as it comes.

    Args:
        stops: Where it ends; none of them is empty.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self._is_over = False

    def feed(self, piece: str) -> str:
        """What can be told now: nothing that may yet belong to a stop, nor half of a character."""
        if self._is_over:
            return ""
        text = self._held + piece
        place = first_stop(text, self._stops)
        if place is not None:
            self._is_over, self._held = True, ""
            return text[:place]
        keep = max([_beginning(text, stop) for stop in self._stops], default=0)
        keep = max(keep, int("\ud800" <= text[-1:] <= "\udbff"))
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def close(self) -> str:
        """What was held, once nothing follows."""
        held, self._held = self._held, ""
        return held


def first_stop(text: str, stops: Sequence[str]) -> int | None:
    """Where the first of these begins in the text; None if there is none."""
    return min((place for stop in stops if (place := text.find(stop)) >= 0), default=None)


def _beginning(text: str, stop: str) -> int:
    """How long the longest end of the text is with which a stop begins."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)
