"""Calls that a server leaves in the text of a reply, read by the model's chat format as the text comes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from wieldy.connect.models.answers import Delta
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.messages import Message
from wieldy.core.ports import ModelRequest
from wieldy.formats import ChatFormat
from wieldy.formats.events import ArgumentsDelta, CallOpened, ParseEvent, reply_of


class CallsInText:
    """One reply."""

    def __init__(self, chat_format: ChatFormat, request: ModelRequest) -> None:
        self._parser = chat_format.parser(request.tools)
        self._events: list[ParseEvent] = []

    def feed(self, text: str) -> Sequence[Delta]:
        """The deltas that the next piece brings."""
        return self._taken(self._parser.feed(text))

    def close(self) -> Sequence[Delta]:
        """The deltas that the end brings."""
        return self._taken(self._parser.close())

    @property
    def message(self) -> Message:
        """The whole reply, once it is closed."""
        read = reply_of(self._events)
        return Message.assistant(read.content, read.calls, reasoning=read.reasoning)

    def _taken(self, events: Iterable[ParseEvent]) -> Sequence[Delta]:
        return [delta for event in events for delta in self._deltas(event)]

    def _deltas(self, event: ParseEvent) -> Iterator[Delta]:
        self._events.append(event)
        match event:
            case TextDelta() | ReasoningDelta():
                yield event
            case CallOpened(index=index, name=name):
                yield CallDelta(index=index, name=name)
            case ArgumentsDelta(index=index, text=text):
                yield CallDelta(index=index, arguments=text)
            case _:
                pass
