"""Calls that a model wrote without the marks of its format: their JSON alone, bare or in a fence. Pure.

Small models that were taught a format often write its inner JSON as if it were an answer. Law: only a reply that is
nothing else than calls of tools on offer, strictly written, is read so; any other is the text that it is, character by
character. Text that may yet be such calls is held back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.events import TextDelta
from wieldy.formats.events import CallOpened, ParseEvent, TextWasReasoning
from wieldy.formats.parser import Parser

_BEGUN: Final = re.compile(r"\s*(?:`{0,2}|```[\w+-]*\s*)")
_BEGINNING: Final = re.compile(r"\s*(?:```[\w+-]*\s*)?[\[{]")


class UnmarkedCalls:
    """One reply.

    Args:
        parser: Reads JSON calls in plain text, strictly.
        names: The tools on offer.
    """

    def __init__(self, parser: Parser, names: Collection[str]) -> None:
        self._parser = parser
        self._names = names
        self._held: list[str] = []
        self._is_begun = False
        self._is_over = False

    def feed(self, events: Iterable[ParseEvent]) -> list[ParseEvent]:
        """The events, but for text that may be calls."""
        told: list[ParseEvent] = []
        for event in events:
            if not self._is_over and isinstance(event, TextDelta):
                self._held.append(event.text)
                told += () if self._may_be_calls() else self._let_go()
                continue
            if isinstance(event, CallOpened | TextWasReasoning):
                told += self._let_go()
            told.append(event)
        return told

    def close(self) -> list[ParseEvent]:
        """What was held back, as calls if it is nothing else."""
        text = "".join(self._held)
        if not self._is_begun or self._is_over:
            return self._let_go()
        events = [*self._parser.feed(text), *self._parser.close()]
        calls = [event for event in events if isinstance(event, ToolCall | InvalidToolCall)]
        is_good = calls and all(isinstance(call, ToolCall) and call.name in self._names for call in calls)
        has_more = any(event.text.strip() for event in events if isinstance(event, TextDelta))
        return events if is_good and not has_more else self._let_go()

    def _may_be_calls(self) -> bool:
        if not self._is_begun:
            text = "".join(self._held)
            self._is_begun = _BEGINNING.match(text) is not None
            return self._is_begun or _BEGUN.fullmatch(text) is not None
        return True

    def _let_go(self) -> list[ParseEvent]:
        text, self._held = "".join(self._held), []
        self._is_over = True
        return [TextDelta(text=text)] if text else []
