"""What one reply of a model led by questions has used, and what it may still write."""

from __future__ import annotations

from wieldy.core.limits import Usage


class Meter:
    """What one reply has used, and what it may still write.

    Args:
        limit: How many tokens it may write in all; None for as many as it likes.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self.usage = Usage()

    def add(self, usage: Usage) -> None:
        """One question more was answered."""
        self.usage += usage

    @property
    def left(self) -> int | None:
        """The tokens that are left, and never none, so that the last question can still be asked; None: no limit."""
        return None if self._limit is None else max(1, self._limit - self.usage.output_tokens)

    def allow(self, tokens: int) -> int:
        """So many tokens, or what is left."""
        return tokens if self.left is None else min(tokens, self.left)
