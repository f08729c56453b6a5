"""Probes: small conversations that show how a chat template writes a reply.

A reply's text is what the template adds when the reply follows: the rendering with it, less the rendering up to the
generation prompt. Deliberately not here: what follows from it (`faults`, `detection`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from wieldy.core.calls import ToolCall, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.messages import Message

PROBE_TIME: Final = datetime(2026, 1, 2, 3, 4, 5)
"""What probed templates are told of the clock: the same every time, so that probing always says the same."""

_QUESTION: Final = "What is the weather in Paris?"
_MARK: Final = "@@"
"""The words of a reply without calls: no template's markup begins with them."""

_MARKUP_BEGUN: Final = re.compile(r"[<\[][^\s<>\[\]]{0,40}\Z")
_MARKUP_GOES_ON: Final = re.compile(r"[^\s<>\[\]]*[>\]]")


class RendersMessages(Protocol):
    """What probing needs of a template; `ChatTemplate` is the one in use."""

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolDefinition],
        generation_prompt: bool,
        lossy: bool,
        now: datetime | None,
    ) -> str:
        """The conversation as text.

        Raises:
            UsageError: The template refuses the messages.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A reply to the same question, and the tools that were on offer."""

    name: str
    reply: Message
    tools: tuple[ToolDefinition, ...]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The reply's calls."""
        return tuple(call for call in self.reply.calls if isinstance(call, ToolCall))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyText:
    """How a template writes a reply.

    Attributes:
        prompt: All that stands before it; the end of it may have opened the reasoning already.
        text: What the model would have written, without the end of its turn.
        end: What ends the turn, as after a reply of plain text; empty where this reply ends otherwise.
    """

    prompt: str
    text: str
    end: str


def _tool(name: str, description: str, **properties: JsonValue) -> ToolDefinition:
    required: list[JsonValue] = []
    required.extend(list(properties)[:1])
    schema: JsonObject = {"type": "object", "properties": properties, "required": required}
    return ToolDefinition(name=name, description=description, input_schema=schema)


def _reply(*calls: tuple[str, JsonObject], text: str = "", reasoning: str = "") -> Message:
    made = [ToolCall(id=f"call_{i}", name=name, arguments=a) for i, (name, a) in enumerate(calls, 1)]
    return Message.assistant(text, made, reasoning=reasoning)


_GET_WEATHER: Final = _tool(
    "get_weather",
    "The weather of the coming days",
    city={"type": "string", "description": "Where"},
    days={"type": "integer", "description": "How many days"},
)
_ADD: Final = _tool(
    "add",
    "Adds two numbers",
    a={"type": "number", "description": "The first"},
    b={"type": "number", "description": "The second"},
)
_LIST_FILES: Final = _tool("list_files", "Lists all files")
_CONVERT: Final = _tool(
    "convert",
    "Converts values",
    text={"type": "string", "description": "A text"},
    count={"type": "integer", "description": "A count"},
    ratio={"type": "number", "description": "A ratio"},
    on={"type": "boolean", "description": "A switch"},
    tags={"type": "array", "items": {"type": "string"}, "description": "Texts"},
    nested={"type": "object", "description": "An object"},
)
TOOLS: Final = (_GET_WEATHER, _ADD, _LIST_FILES)

_WEATHER: Final[tuple[str, JsonObject]] = ("get_weather", {"city": "Paris", "days": 2})
_SUM: Final[tuple[str, JsonObject]] = ("add", {"a": 1, "b": 2.5})
_TYPES: Final[JsonObject] = {"text": "two words", "count": 2, "ratio": 1.5, "on": True, "tags": ["a", "b c"]}
_NESTED: Final[JsonObject] = {"text": "x", "nested": {"k": "v", "n": [1, {"z": "deep"}]}}

ONE_CALL: Final = Probe(name="one call", reply=_reply(_WEATHER), tools=TOOLS)
TWO_CALLS: Final = Probe(name="two calls", reply=_reply(_WEATHER, _SUM), tools=TOOLS)
TEXT_AND_CALL: Final = Probe(
    name="text beside a call", reply=_reply(_WEATHER, text="Let me look at the forecast."), tools=TOOLS
)
REASONING_AND_CALL: Final = Probe(
    name="reasoning and a call", reply=_reply(_WEATHER, reasoning="They ask about the weather."), tools=TOOLS
)
NO_ARGUMENTS: Final = Probe(name="a call without arguments", reply=_reply(("list_files", {})), tools=TOOLS)
NUMBER_AS_TEXT: Final = Probe(
    name="text that looks like a number", reply=_reply(("get_weather", {"city": "75001", "days": 2})), tools=TOOLS
)
TYPES: Final = Probe(name="values of all types", reply=_reply(("convert", _TYPES)), tools=(*TOOLS, _CONVERT))
NESTED: Final = Probe(name="nested values", reply=_reply(("convert", _NESTED)), tools=(*TOOLS, _CONVERT))
UNICODE: Final = Probe(
    name="text beyond ASCII", reply=_reply(("get_weather", {"city": "Köln 東京 🙂", "days": 1})), tools=TOOLS
)

PROBES: Final = (
    ONE_CALL,
    TWO_CALLS,
    TEXT_AND_CALL,
    REASONING_AND_CALL,
    NO_ARGUMENTS,
    NUMBER_AS_TEXT,
    TYPES,
    NESTED,
    UNICODE,
)


def question() -> Message:
    """What every probe answers."""
    return Message.user(_QUESTION)


def completion(template: RendersMessages, probe: Probe) -> str | None:
    """What the model would have written to give the probe's reply; None if the template cannot show it.

    That is so if it refuses the messages, or if a call's name or one of the texts in its arguments is not there.
    """
    try:
        written = reply_text(template, probe)
    except UsageError:
        return None
    return written.text if holds_calls(written.text, probe.calls) else None


def reply_text(template: RendersMessages, probe: Probe) -> ReplyText:
    """How the template writes the probe's reply, be it whole or not.

    Raises:
        UsageError: The template refuses the messages.
    """
    prompt = _render(template, probe.tools)
    whole = _render(template, probe.tools, probe.reply)
    try:
        plain = _render(template, probe.tools, Message.assistant(_MARK))
    except UsageError:
        plain = ""
    start = len(prompt) if whole.startswith(prompt) else _divergence(whole, prompt, plain)
    text, end = whole[start:], plain.rpartition(_MARK)[2]
    if not text.endswith(end):
        end = ""
    return ReplyText(prompt=whole[:start], text=text.removesuffix(end), end=end)


def holds_calls(text: str, calls: Sequence[ToolCall]) -> bool:
    """Whether each call's name and every text in its arguments is somewhere in the text."""
    return all(not missing_of(call, text) for call in calls)


def missing_of(call: ToolCall, text: str) -> tuple[str, ...]:
    """What of a call is not in the text: its name, or texts in its arguments, however they are escaped."""
    wanted = (call.name, *_texts(call.arguments))
    return tuple(piece for piece in wanted if not any(spelling in text for spelling in _spellings(piece)))


def _render(template: RendersMessages, tools: Sequence[ToolDefinition], *reply: Message) -> str:
    return template.render([question(), *reply], tools=tools, generation_prompt=not reply, lossy=True, now=PROBE_TIME)


def _divergence(whole: str, prompt: str, plain: str) -> int:
    """Where the reply begins if the prompt is not how the conversation goes on.

    Templates open turns otherwise in history, or leave out of it what they prefill: then the reply begins where it
    differs from a reply of plain text. But not in the middle of markup.
    """
    start = shared_length(whole, prompt)
    if plain and prompt[start:].strip():
        start = shared_length(whole, plain)
    begun = _MARKUP_BEGUN.search(whole[:start])
    return begun.start() if begun and _MARKUP_GOES_ON.match(whole, start) else start


def shared_length(left: str, right: str) -> int:
    """How many characters two texts have in common from their beginning; cost: linear."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _texts(value: JsonValue) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in _texts(item)]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case _:
            return []


def _spellings(text: str) -> tuple[str, ...]:
    return text, _inner(text), _inner(text, ascii_only=True), repr(text)[1:-1]


def _inner(text: str, *, ascii_only: bool = False) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]
