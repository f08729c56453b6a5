"""Calls that wait for people: which run each of them is, for as long as this process lives.

Law: no caller makes another one's call be forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import anyio

from wieldy.core.json import canonical_json

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject

MOST_WAITING: Final = 1000
"""How many calls of one caller may wait; of more, the oldest are asked anew when they are made again."""


class SameCall(NamedTuple):
    """What makes two calls the same."""

    caller: str
    written: str

    @classmethod
    def of(cls, caller: str, name: str, arguments: JsonObject) -> SameCall:
        """Whatever the order of the arguments."""
        return cls(caller, canonical_json([name, arguments]))


class Waiting:
    """The runs of calls that wait."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._runs: dict[str, dict[SameCall, str]] = {}
        """By caller, the oldest first."""
        self._locks: dict[SameCall, anyio.Lock] = {}

    def run_of(self, call: SameCall) -> str | None:
        """The run that the call goes on with; None if it does not wait."""
        return self._runs.get(call.caller, {}).get(call)

    def add(self, call: SameCall, run_id: str) -> None:
        """The call waits, and is this run."""
        own = self._runs.setdefault(call.caller, {})
        own[call] = run_id
        while len(own) > self._most:
            self.end(next(iter(own)))

    def end(self, call: SameCall) -> None:
        """The call waits no more."""
        self._runs.get(call.caller, {}).pop(call, None)
        self._locks.pop(call, None)

    def lock(self, call: SameCall) -> anyio.Lock:
        """Held by one of equal calls at a time."""
        return self._locks.setdefault(call, anyio.Lock())
