"""A model that acts in text, as a model for the loop.

To the loop it is a model like any other: it streams text, thoughts and calls. The model inside is asked in plain
messages, without tools, and its text is parsed. Deliberately not here: running calls and telling results (the loop),
and what the text looks like (`formats`).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, cast

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.errors import ProviderError
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.messages import Message, Part, ReasoningPart, TextPart
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.run.actions.demands import demand_of, explained, neither
from wieldy.run.actions.reading import ReadReply, ReplyReading, result_mark
from wieldy.run.actions.retelling import Retelling, bare

if TYPE_CHECKING:
    from wieldy.core.calls import AnyCall
    from wieldy.core.ports import Model, ModelEvent
    from wieldy.formats.format import ChatFormat

_LOG: Final = logging.getLogger(__name__)


class TextActions:
    """A model around any chat model: tools are described to it, and its calls are read from what it writes.

    Args:
        model: Asked in plain messages.
        chat_format: How calls, results and answers are written: `formats.get("react")`, `"json"`, `"markers"`, or one
            of your own whose turns need no tokens of a vocabulary.

    Raises:
        UsageError: The format belongs to a model family that has tool calls of its own.
    """

    def __init__(self, model: Model, chat_format: ChatFormat) -> None:
        bare(chat_format)
        self._model = model
        self._format = chat_format

    def __repr__(self) -> str:
        return f"TextActions({self._model!r}, {self._format.name!r})"

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._model.name

    async def __aenter__(self) -> Self:
        if isinstance(self._model, AbstractAsyncContextManager):
            await self._model.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._model, AbstractAsyncContextManager):
            await self._model.__aexit__(kind, error, trace)

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Text, thoughts and calls as they are written, then the reply.

        Raises:
            ModelError: The model could not answer.
            UsageError: A call in the history cannot be written as JSON.
        """
        if request.output is None or request.tools:
            return self._read(request)
        # Without tools there is no form around what the answer must be, and the model inside may be held to it.
        return self._said(replace(request, messages=Retelling(self._format).told(request.messages)))

    async def _read(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        reading = self._reading(request)
        reply: ModelReply | None = None
        async with aclosing(self._said(self._asked(request))) as events:
            async for event in events:
                if isinstance(event, ModelReply):
                    reply = event
                elif isinstance(event, TextDelta):
                    for delta in reading.feed(event.text):
                        yield delta
                elif isinstance(event, ReasoningDelta):
                    yield event
                # Nobody offered it tools: if it calls one all the same, the reply says so.
        if reply is None:
            raise ProviderError(f"The model {self.name!r} ended without a reply.")
        rest = reading.rest_of(reply.message.text)
        if rest is None:  # the reply counts, whatever was streamed
            reading, rest = self._reading(request), reply.message.text
        for delta in (*reading.feed(rest), *reading.close(is_whole=reply.finish == "stop")):
            yield delta
        yield self._reply(request, reply, reading.reply())

    def _reading(self, request: ModelRequest) -> ReplyReading:
        return ReplyReading(self._format, request.tools, id_prefix=_id_prefix(request.messages))

    async def _said(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """What the model inside says; its stream is closed with this one, by the task that runs it."""
        events = self._model.stream(request)
        try:
            async for event in events:
                yield event
        finally:
            if isinstance(events, AsyncGenerator):
                await cast("AsyncGenerator[ModelEvent]", events).aclose()

    def _asked(self, request: ModelRequest) -> ModelRequest:
        """The request in plain messages, without tools."""
        demand = demand_of(request.tool_choice, self._format, request.output) if request.tools else ""
        told = Retelling(self._format, request.tools).told(request.messages, demand=demand)
        # A model that begins to write a result itself has nothing more to say.
        mark = result_mark(self._format)
        return ModelRequest(messages=told, max_output_tokens=request.max_output_tokens, stop=(mark,) if mark else ())

    def _reply(self, request: ModelRequest, reply: ModelReply, read: ReadReply) -> ModelReply:
        for problem in read.problems:
            _LOG.info("A reply of %s: %s", self.name, problem)
        finish = "stop" if read.is_over else reply.finish
        others: list[Part] = [part for part in reply.message.parts if not isinstance(part, TextPart)]
        said, calls = Message.assistant(read.content, reasoning=read.reasoning), self._explained(request, read, finish)
        if finish == "stop" and self._is_lost(request, others, read):
            said = Message.assistant(reasoning=read.reasoning)
            call_id = f"{_id_prefix(request.messages)}0"
            calls = [neither(call_id, text=read.text, problems=read.problems, chat_format=self._format)]
        thoughts = [part for part in others if isinstance(part, ReasoningPart)]
        rest = [part for part in others if not isinstance(part, ReasoningPart)]
        message = Message(role="assistant", parts=(*thoughts, *said.parts, *calls, *rest))
        return ModelReply(message=message, usage=reply.usage, finish=finish)

    def _explained(self, request: ModelRequest, read: ReadReply, finish: str) -> list[AnyCall]:
        """The calls; the errors of those that could not be read show the form."""
        tools = {tool.name: tool for tool in request.tools}
        return [
            explained(call, self._format, tools, was_cut=finish == "length" and call is read.calls[-1])
            if isinstance(call, InvalidToolCall)
            else call
            for call in read.calls
        ]

    def _is_lost(self, request: ModelRequest, parts: Sequence[Part], read: ReadReply) -> bool:
        """Whether the model wrote something that is neither a call nor an answer, and might still call."""
        has_call = bool(read.calls) or any(isinstance(part, ToolCall | InvalidToolCall) for part in parts)
        may_call = bool(request.tools) and request.tool_choice.mode != "none"
        return may_call and not has_call and not read.is_answer and bool(read.text.strip())


def _id_prefix(messages: Sequence[Message]) -> str:
    """What the ids of this reply's calls begin with: those of no other call do."""
    taken = [call.id for message in messages for call in message.calls]
    prefix = f"t{sum(message.role == 'assistant' for message in messages)}_"
    while any(call_id.startswith(prefix) for call_id in taken):
        prefix += "_"
    return prefix
