"""The model without any constraint: its own template, free text, and readers that find calls in it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Any

import anyio

from wieldy import Message, ToolCall
from wieldy.connect.models.local import LocalModel
from wieldy.connect.models.spoken import Speech
from wieldy.core.ports import ModelEvent, ModelReply, ModelRequest


class Free:
    """A loaded model, unconstrained; calls are read by the parser of its chat format, as in a constrained reply."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self.name = f"free {model.name}"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The reply at once."""
        _, speech = await self._model._load()
        free = Speech(speech.writer, speech.template, constrained=False)
        now = datetime.now()
        yield await anyio.to_thread.run_sync(lambda: free.reply(request, now=now, on_delta=lambda _: False))


class Naive:
    """The usual loop around a small model: free text, and a lenient look for JSON that is a call."""

    def __init__(self, model: LocalModel) -> None:
        self._free = Free(model)
        self.name = f"naive {model.name}"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The model's reply, with calls made of what looks like one."""
        async for event in self._free.stream(request):
            if isinstance(event, ModelReply) and request.tool_choice.mode != "none":
                yield leniently(event)
            else:
                yield event


def leniently(reply: ModelReply) -> ModelReply:
    """The reply, with calls made of every JSON object that looks like one, where its format's parser found none."""
    if reply.message.calls:
        return reply
    calls = [
        ToolCall(id=f"n{index}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(json_calls(reply.message.text))
    ]
    message = Message.assistant("" if calls else reply.message.text, calls)
    return ModelReply(message=message, usage=reply.usage, finish=reply.finish)


def json_calls(text: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Every JSON object in a text that has a name and arguments."""
    decoder, position = json.JSONDecoder(), text.find("{")
    while position >= 0:
        try:
            found, end = decoder.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            if isinstance(found, dict) and isinstance(found.get("name"), str):
                arguments = found.get("arguments", found.get("parameters", {}))
                if isinstance(arguments, dict):
                    yield found["name"], arguments
        position = text.find("{", end)
