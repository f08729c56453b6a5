"""Keeps a run from going round in circles.

Two rules. A reading call that was already answered, asked again in a later turn with nothing changed since, is answered
from the record. And when turn after turn repeats the same calls with the same results, the run is told to stop.
Both look at whole turns in the model's order; what happens twice within one turn is the model's business.
Deliberately not here: acting on either (`loop`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.json import Encoder

from wieldy.core.calls import ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.core.calls import AnyCall
    from wieldy.core.json import JsonObject
    from wieldy.run.state import CallState

_Seen: TypeAlias = "tuple[str | None, bytes, str, bool]"

_encoder: Final = Encoder(order="sorted")
"""Equal arguments are equal bytes; kept nowhere, so that it need not be the canonical text, which takes longer."""


class Brake:
    """What the turns so far have in common with the next one.

    Args:
        is_on: Whether it looks at turns at all; code may ask the same again and again, and means it.

    Attributes:
        repeats: How many turns in a row repeated the one before them.
    """

    def __init__(self, *, is_on: bool = True) -> None:
        self._is_on = is_on
        self.repeats = 0
        self._reads: dict[tuple[str, bytes], CallState] = {}
        self._last_turn: list[_Seen] | None = None

    def recorded(self, name: str, arguments: JsonObject) -> CallState | None:
        """The earlier reading call with these validated arguments whose result still holds."""
        return self._reads.get(_key(name, arguments)) if self._reads else None

    def observe(self, calls: Sequence[CallState], *, is_settled: bool) -> None:
        """A turn has ended with these calls, all of them answered, in the model's order.

        Args:
            calls: As they ended.
            is_settled: Whether it is known of every call how it ended; what is not may still change what was read.
        """
        if not self._is_on:
            return
        turn = sorted((self._seen(call) for call in calls), key=lambda seen: (seen[0] or "", seen[1]))
        self.repeats = self.repeats + 1 if turn == self._last_turn else 0
        self._last_turn = turn
        for call in calls:
            self._remember(call)
        if not is_settled:
            self._reads.clear()

    def _remember(self, call: CallState) -> None:
        if call.effect is None or call.arguments is None or call.result is None:
            return  # its code did not run
        if call.effect != "read":
            self._reads.clear()
        elif not call.result.is_error:  # what failed once may work the next time
            self._reads[_key(_name(call.call), call.arguments)] = call

    def _seen(self, call: CallState) -> _Seen:
        # An answer from the record is the same answer, whatever note it carries.
        original = self._original(call)
        asked = call.call
        arguments = _encoder.encode(asked.arguments) if isinstance(asked, ToolCall) else asked.text.encode()
        result = original.result
        content, is_error = (result.content, result.is_error) if result is not None else ("", False)
        return asked.name, arguments, content, is_error

    def _original(self, call: CallState) -> CallState:
        if call.recorded_as is None:
            return call
        return next((read for read in self._reads.values() if read.call.id == call.recorded_as), call)


def _key(name: str, arguments: JsonObject) -> tuple[str, bytes]:
    return name, _encoder.encode(arguments)


def _name(call: AnyCall) -> str:
    return call.name or ""
