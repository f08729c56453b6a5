"""A view of a list of messages that grows: taken at no cost, and never changing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from wieldy.core.messages import Message


class MessagesSoFar(Sequence[Message]):
    """The first messages of a list to which others only append: taken at no cost, and never changing."""

    __slots__ = ("_length", "_messages")

    def __init__(self, messages: list[Message]) -> None:
        self._messages = messages
        self._length = len(messages)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self._messages[position] for position in range(*index.indices(self._length)))
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._messages[index % self._length]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self[:]!r})"
