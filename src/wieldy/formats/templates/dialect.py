"""How one chat template wants to be told of a conversation: the points on which templates differ.

Few templates take every spelling of the same messages: some need a call's arguments as an object and some as JSON text,
some break on an empty content and some on a missing one. A `Dialect` is one combination; `written` tells a
conversation in it. Deliberately not here: which combination a template wants (`template`), and running it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.history import results_in_order_of_calls
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, TextPart

AnyTool: TypeAlias = ToolDefinition | Mapping[str, Any]
"""A tool, or the OpenAI-style dictionary of one."""

_NINE: Final = re.compile(r"[A-Za-z0-9]{9}")
_KIMI: Final = re.compile(r"functions\.[^:]+:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One way of telling a template what was said.

    Attributes:
        arguments: A call's arguments as an object, or as the JSON text that the OpenAI-style wire carries.
        empty_content: The content of a message that says nothing beside its calls.
        call_ids: Any text; nine letters or digits; or `functions.NAME:N`, where the id is what carries the name.
        tools: As OpenAI-style dictionaries, or only what stands under their `function`.
        parts: Whether content is a list of parts also where it is only text.
        system: Whether there is a system role; without it the text begins the first user message.
    """

    arguments: Literal["object", "text"] = "object"
    empty_content: Literal["empty", "missing", "null"] = "empty"
    call_ids: Literal["any", "nine", "named"] = "any"
    tools: Literal["wrapped", "bare"] = "wrapped"
    parts: bool = False
    system: bool = True


def tools_written(tools: Sequence[AnyTool], dialect: Dialect) -> list[Any]:
    """The tools as the dictionaries that the template reads."""
    wrapped = [_tool(tool) for tool in tools]
    return wrapped if dialect.tools == "wrapped" else [tool.get("function", tool) for tool in wrapped]


def messages_written(messages: Sequence[Message], dialect: Dialect) -> list[dict[str, Any]]:
    """The messages as the dictionaries that the template reads.

    Raises:
        UsageError: A message holds a file, which no template knows.
    """
    _check_no_files(messages)
    ordered = results_in_order_of_calls(messages)
    told = ordered if dialect.system else _without_system(ordered)
    ids, names = _call_ids(messages, dialect), {call.id: call.name or "" for m in messages for call in m.calls}
    return [_message(message, dialect, ids, names) for message in told]


def _check_no_files(messages: Sequence[Message]) -> None:
    for index, message in enumerate(messages):
        file = next((part for part in message.parts if isinstance(part, FilePart)), None)
        if file is not None:
            raise UsageError(
                f"messages[{index}]: expected text or images, found the file {file.name!r}, which no chat template can "
                "write. Put its words into the message."
            )


def _tool(tool: AnyTool) -> Mapping[str, Any]:
    if not isinstance(tool, ToolDefinition):
        return tool
    function = {"name": tool.name, "description": tool.prompt_description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _without_system(messages: Sequence[Message]) -> Sequence[Message]:
    if not messages or messages[0].role != "system":
        return messages
    system, *rest = messages
    if not rest or rest[0].role != "user":
        return [Message(role="user", parts=system.parts), *rest]
    return [Message(role="user", parts=(TextPart(text=f"{system.text}\n\n"), *rest[0].parts)), *rest[1:]]


def _message(message: Message, dialect: Dialect, ids: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role}
    if message.result is not None:
        call_id = message.result.tool_call_id
        written["tool_call_id"] = ids.get(call_id, call_id)
        if call_id in names:
            written["name"] = names[call_id]
    calls = [call for call in message.calls if _is_telling(call, dialect)]
    content = _content(message, dialect)
    if content or not calls or dialect.empty_content == "empty":
        written["content"] = content
    elif dialect.empty_content == "null":
        written["content"] = None
    if message.reasoning:
        # Two names for the same, as transformers gives them: templates read one or the other.
        written |= {"reasoning_content": message.reasoning, "thinking": message.reasoning}
    if calls:
        written["tool_calls"] = [_call(call, dialect, ids) for call in calls]
    return written


def _content(message: Message, dialect: Dialect) -> str | list[Any]:
    # What a model wrote instead of a readable call is still what it wrote.
    unreadable = [
        call.text for call in message.calls if isinstance(call, InvalidToolCall) and not _is_telling(call, dialect)
    ]
    if not dialect.parts and not any(isinstance(part, ImagePart) for part in message.parts):
        return "\n".join(text for text in (message.text, *unreadable) if text)
    parts = [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else {"type": "image", "image": part.url}
        for part in message.parts
        if isinstance(part, TextPart | ImagePart)
    ]
    texts = [message.result.content] if message.result is not None else unreadable
    return [*parts, *({"type": "text", "text": text} for text in texts)]


def _is_telling(call: AnyCall, dialect: Dialect) -> bool:
    """Whether the template can be told of the call as a call: text that is no object fits only where text is wanted."""
    return not isinstance(call, InvalidToolCall) or (call.name is not None and dialect.arguments == "text")


def _call(call: AnyCall, dialect: Dialect, ids: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(call, InvalidToolCall):
        arguments: object = call.text
    elif dialect.arguments == "text":
        arguments = json.dumps(call.arguments, ensure_ascii=False)
    else:
        arguments = call.arguments
    return {"id": ids[call.id], "type": "function", "function": {"name": call.name or "", "arguments": arguments}}


def _call_ids(messages: Sequence[Message], dialect: Dialect) -> dict[str, str]:
    """What each call's id is called on this template's wire; the model's own id where it fits."""
    calls = [call for message in messages for call in message.calls]
    return dict(_ID_WRITERS[dialect.call_ids](calls))


def _any_ids(calls: Sequence[AnyCall]) -> Iterable[tuple[str, str]]:
    return ((call.id, call.provider_id or call.id) for call in calls)


def _nine_ids(calls: Sequence[AnyCall]) -> Iterable[tuple[str, str]]:
    wire = {call.id: _fitting(call, _NINE) for call in calls}
    taken, number = set(wire.values()), 0
    for call in calls:
        while wire[call.id] is None:
            number += 1
            if (candidate := f"call{number:05d}") not in taken:
                wire[call.id] = candidate
    return ((call_id, wire_id or "") for call_id, wire_id in wire.items())


def _named_ids(calls: Sequence[AnyCall]) -> Iterable[tuple[str, str]]:
    # The index counts the calls of the whole conversation.
    return (
        (call.id, _fitting(call, _KIMI, name=call.name) or f"functions.{call.name}:{index}")
        for index, call in enumerate(calls)
    )


def _fitting(call: AnyCall, pattern: re.Pattern[str], *, name: str | None = None) -> str | None:
    for candidate in (call.provider_id, call.id):
        if candidate and pattern.fullmatch(candidate) and (name is None or f".{name}:" in candidate):
            return candidate
    return None


_ID_WRITERS: Final[Mapping[str, Callable[[Sequence[AnyCall]], Iterable[tuple[str, str]]]]] = {
    "any": _any_ids,
    "nine": _nine_ids,
    "named": _named_ids,
}
