"""What a client asks, read from its JSON: everything is understood, told in a warning, or refused. Pure.

Deliberately not here: tools (`offered`), how the model writes (`options`), and HTTP (`application`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from wieldy.connect.serving.chat.fields import FieldError, Fields, inside, shown
from wieldy.connect.serving.chat.offered import offered_in
from wieldy.connect.serving.chat.options import options_in
from wieldy.core.errors import UsageError
from wieldy.core.history.repairing import repair
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message
from wieldy.core.outputs import JsonOutput
from wieldy.core.ports import ModelRequest
from wieldy.run.outputs import OutputReader, reader_of

if TYPE_CHECKING:
    from wieldy.core.ports import Model
    from wieldy.tools import Tool

MOST_STOPS: Final = 16
"""Texts at which an answer may be told to end."""
_OF_MESSAGES: Final = frozenset(
    {"role", "content", "tool_calls", "tool_call_id", "function_call", "reasoning_content", "reasoning"}
)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REPEATED: Final = frozenset({"name"})
"""What a message of a result says again."""


class Abilities(NamedTuple):
    """What a model can be asked for.

    Attributes:
        takes_options: Whether it is sent fields of the request that only it knows.
        takes_images: Whether it is shown images and files.
    """

    takes_options: bool
    takes_images: bool

    @classmethod
    def of(cls, model: Model) -> Abilities:
        """As the model says itself."""
        return cls(
            takes_options=bool(getattr(model, "takes_options", False)),
            takes_images=bool(getattr(model, "takes_images", True)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request of a client.

    Attributes:
        asked: What the model is asked.
        tools: Those that it may call, by name.
        output: What an answer without calls must be; None for any text.
        model: Which model the client has named, if any.
        is_streamed: Whether the answer is sent as it comes.
        has_usage: Whether the stream ends with what was used.
        warnings: What of the request was not used or was changed, a sentence each.
    """

    asked: ModelRequest
    tools: Mapping[str, Tool]
    output: OutputReader | None
    model: str | None
    is_streamed: bool
    has_usage: bool
    warnings: tuple[str, ...]


def read_request(body: JsonObject, *, abilities: Abilities) -> ChatRequest:
    """The request.

    Args:
        body: Its JSON.
        abilities: Of the model that will be asked.

    Raises:
        FieldError: It cannot be answered as it is.
    """
    fields = Fields(body)
    model = fields.take("model", str)
    messages, changes = _messages(fields, takes_images=abilities.takes_images)
    offered = offered_in(fields)
    parallel = fields.take("parallel_tool_calls", bool)
    output = _output(fields)
    is_streamed = fields.take("stream", bool) or False
    has_usage = _has_usage(fields, is_streamed=is_streamed)
    limit, stop = _limit(fields), _stop(fields)
    options, warnings = options_in(fields, passes_on=abilities.takes_options)
    asked = ModelRequest(
        messages=messages,
        tools=tuple(tool.definition for tool in offered.tools.values()),
        tool_choice=offered.choice,
        max_output_tokens=limit,
        stop=stop,
        output=None if output is None else output.output,
        parallel_calls=parallel is not False,
        options=options or None,
    )
    return ChatRequest(
        asked=asked,
        tools=offered.tools,
        output=output,
        model=model,
        is_streamed=is_streamed,
        has_usage=has_usage,
        warnings=(*changes, *warnings),
    )


def _messages(fields: Fields, *, takes_images: bool) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    items = fields.items("messages")
    if not items:
        raise FieldError("Expected 'messages' to be a list of at least one message, found none.", param="messages")
    unread = tuple(_unread(items))
    try:
        repaired = repair(items)
    except UsageError as error:
        raise FieldError(str(error), param="messages") from error
    if not takes_images and any(map(_has_media, repaired.messages)):
        raise FieldError(
            "The model is shown text only, found an image or a file. Leave it out, or ask a model that takes it.",
            param="messages",
            code="unsupported_content",
        )
    return repaired.messages, (*repaired.changes, *unread)


def _unread(items: Iterable[object]) -> Iterable[str]:
    for index, item in enumerate(items):
        for name, value in (cast("JsonObject", item) if isinstance(item, dict) else {}).items():
            is_result = isinstance(item, dict) and "tool_call_id" in item
            if value and name not in _OF_MESSAGES and not (is_result and name in _REPEATED):
                yield f"'messages[{index}].{name}' was not used."


def _has_media(message: Message) -> bool:
    result = message.result
    parts = (*message.parts, *(result.parts if result is not None else ()))
    return any(isinstance(part, ImagePart | FilePart) for part in parts)


def _output(fields: Fields) -> OutputReader | None:
    given: object = fields.anything("response_format")
    if given is None:
        return None
    inner = inside(given, path="response_format")
    match inner.anything("type"):
        case "text":
            return None
        case "json_object":
            return _reader(JsonOutput(schema={"type": "object"}))
        case "json_schema":
            described = inside(inner.anything("json_schema"), path="response_format.json_schema")
            schema = cast("JsonObject | None", described.take("schema", dict))
            name, description = described.take("name", str) or "", described.take("description", str) or ""
            return _reader(
                JsonOutput(
                    schema={} if schema is None else schema,
                    name=name if _NAME.fullmatch(name) else "answer",
                    description=description,
                )
            )
        case kind:
            raise FieldError(
                f"Expected a response format of type 'text', 'json_object' or 'json_schema', found {shown(kind)}.",
                param="response_format.type",
                code="unsupported_value",
            )


def _reader(output: JsonOutput) -> OutputReader:
    try:
        return reader_of(output)
    except UsageError as error:
        raise FieldError(str(error), param="response_format") from error


def _has_usage(fields: Fields, *, is_streamed: bool) -> bool:
    given: object = fields.anything("stream_options")
    if given is None:
        return False
    if not is_streamed:
        raise FieldError("Expected 'stream_options' only where 'stream' is true.", param="stream_options")
    return inside(given, path="stream_options").take("include_usage", bool) or False


def _limit(fields: Fields) -> int | None:
    new, old = fields.number("max_completion_tokens"), fields.number("max_tokens")
    if new is not None and old is not None and new != old:
        raise FieldError(
            f"Expected one limit on tokens, found 'max_completion_tokens' of {new} and 'max_tokens' of {old}.",
            param="max_tokens",
        )
    return old if new is None else new


def _stop(fields: Fields) -> tuple[str, ...]:
    given: JsonValue = fields.anything("stop")
    texts = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise FieldError(
            f"Expected 'stop' to be a text or a list of texts, none of them empty, found {shown(given)}.", param="stop"
        )
    if len(texts) > MOST_STOPS:
        raise FieldError(f"Expected at most {MOST_STOPS} texts in 'stop', found {len(texts)}.", param="stop")
    return tuple(cast("list[str]", texts))
