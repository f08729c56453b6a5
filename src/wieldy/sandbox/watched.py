"""Something that is awaited, and what to do when it has to wait; where it does not, that costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Watched(Generator[Any, Any, Any], Generic[T]):
    """Await it: brings what the coroutine brings.

    Args:
        coroutine: Not begun yet.
        when_it_waits: Called each time that it has to wait for something.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, T], when_it_waits: Callable[[], None]) -> None:
        self._coroutine = coroutine
        self._when_it_waits = when_it_waits

    def __await__(self) -> Generator[Any, Any, T]:
        return self

    def send(self, value: Any) -> Any:
        """As generators do."""
        waits_for = self._coroutine.send(value)
        self._when_it_waits()
        return waits_for

    def throw(self, *error: Any) -> Any:
        """As generators do."""
        waits_for = self._coroutine.throw(*error)
        self._when_it_waits()
        return waits_for
