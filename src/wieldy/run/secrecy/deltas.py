"""Pieces of a model's reply without secrets, also where a secret comes in pieces.

Law: what is emitted of one text, put together, holds no secret. A piece that may be the beginning of one is held back
until it is clear what it is. Deliberately not here: the reply itself, which is masked whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from wieldy.core.events import CallDelta, ReasoningDelta, RunEvent, TextDelta

if TYPE_CHECKING:
    from wieldy.run.secrecy.entries import Secrecy

_Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta


class MaskedDeltas:
    """Between a model that streams and whoever watches, for one reply.

    Args:
        emit: Takes events without secrets.
        secrecy: Of the run.
    """

    def __init__(self, emit: Callable[[RunEvent], None], secrecy: Secrecy) -> None:
        self._emit = emit
        self._secrecy = secrecy
        self._held: dict[object, _Delta] = {}

    def __call__(self, event: RunEvent) -> None:
        """The event is emitted, as far as it is clear what it is."""
        if not isinstance(event, TextDelta | ReasoningDelta | CallDelta):
            self._emit(event)
            return
        held = self._held.pop(_which(event), None)
        text = _text_of(event) if held is None else _text_of(held) + _text_of(event)
        end = self._secrecy.mask.settled(text)
        if end < len(text):
            self._held[_which(event)] = _with_text(event, text[end:])
        if isinstance(event, CallDelta) and event.name is not None:
            self._emit(replace(event, name=self._secrecy.name(event.name), arguments=self._masked(text[:end])))
        elif end:
            self._emit(_with_text(event, self._masked(text[:end])))

    def close(self) -> None:
        """What was held back is emitted: the reply is over."""
        for held in self._held.values():
            self._emit(_with_text(held, self._masked(_text_of(held))))
        self._held.clear()

    def _masked(self, text: str) -> str:
        return self._secrecy.mask.text(text)


def _which(event: _Delta) -> object:
    return event.index if isinstance(event, CallDelta) else type(event)


def _text_of(event: _Delta) -> str:
    return event.arguments if isinstance(event, CallDelta) else event.text


def _with_text(event: _Delta, text: str) -> _Delta:
    if isinstance(event, CallDelta):
        return CallDelta(index=event.index, arguments=text)
    return type(event)(text=text)
