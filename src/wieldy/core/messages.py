"""Messages: who said what, in parts; and their OpenAI-style dictionaries.

Roles are `system`, `user`, `assistant` and `tool`; a `tool` message holds exactly one result.
Dictionaries are accepted at every public door (`messages_from`) and written by `Message.to_dict`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall, ToolResult
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, canonical_json, parse_json
from wieldy.core.media import UNKNOWN_MEDIA_TYPE, FilePart, ImagePart, media_type_in, media_type_of_name
from wieldy.core.record import Record

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


class TextPart(Record, frozen=True, kw_only=True):
    """Plain text."""

    text: str


class ReasoningPart(Record, frozen=True, kw_only=True):
    """What the model thought before it answered.

    Attributes:
        signature: An opaque token that some providers want back unchanged.
    """

    text: str
    signature: str | None = None


Part: TypeAlias = TextPart | ReasoningPart | ImagePart | FilePart | ToolCall | InvalidToolCall | ToolResult

# Asked often, and a union would be made anew each time.
_CALLS: Final = (ToolCall, InvalidToolCall)
_WITH_TEXT: Final = (TextPart, ToolResult)


class Message(Record, frozen=True, kw_only=True):
    """One message; build it with `system`, `user`, `assistant` or `tool`."""

    role: Role
    parts: tuple[Part, ...] = ()

    @classmethod
    def system(cls, text: str) -> Message:
        """A system message."""
        return cls(role="system", parts=(TextPart(text=text),))

    @classmethod
    def user(cls, text: str) -> Message:
        """A user message of plain text."""
        return cls(role="user", parts=(TextPart(text=text),))

    @classmethod
    def assistant(cls, text: str = "", calls: Sequence[AnyCall] = (), *, reasoning: str = "") -> Message:
        """An assistant message: reasoning, then text, then calls; empty ones are left out."""
        parts: list[Part] = []
        if reasoning:
            parts.append(ReasoningPart(text=reasoning))
        if text:
            parts.append(TextPart(text=text))
        return cls(role="assistant", parts=(*parts, *calls))

    @classmethod
    def tool(cls, result: ToolResult) -> Message:
        """The message that carries one result back to the model."""
        return cls(role="tool", parts=(result,))

    @property
    def text(self) -> str:
        """All text of the message; for a `tool` message the result's content."""
        return "".join(
            [
                part.content if isinstance(part, ToolResult) else part.text
                for part in self.parts
                if isinstance(part, _WITH_TEXT)
            ]
        )

    @property
    def reasoning(self) -> str:
        """All reasoning of the message."""
        return "".join(part.text for part in self.parts if isinstance(part, ReasoningPart))

    @property
    def calls(self) -> tuple[AnyCall, ...]:
        """The calls in the order in which the model wrote them."""
        return tuple([part for part in self.parts if isinstance(part, _CALLS)])

    @property
    def result(self) -> ToolResult | None:
        """The result that a `tool` message carries."""
        return next((part for part in self.parts if isinstance(part, ToolResult)), None)

    def to_dict(self) -> JsonObject:
        """The message as an OpenAI-style dictionary; arguments are JSON text, as on that wire."""
        if self.result is not None:
            return {"role": "tool", "tool_call_id": self.result.tool_call_id, "content": self.result.content}
        message: JsonObject = {"role": self.role, "content": self._content()}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [_call_to_dict(call) for call in self.calls]
        return message

    def _content(self) -> str | list[Any] | None:
        if not any(isinstance(part, ImagePart | FilePart) for part in self.parts):
            return self.text if self.text or not self.calls else None
        return [part_to_dict(part) for part in self.parts if isinstance(part, TextPart | ImagePart | FilePart)]


def part_to_dict(part: TextPart | ImagePart | FilePart) -> JsonObject:
    """The part as an OpenAI-style dictionary."""
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(url=url):
            return {"type": "image_url", "image_url": {"url": url}}
        case FilePart(name=name, url=url):
            return {"type": "file", "file": {"filename": name, "file_data": url}}


def messages_from(messages: str | Iterable[Message | Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages from a prompt, from `Message`s or from OpenAI-style dictionaries.

    Raises:
        UsageError: An item is neither, or a dictionary lacks what its role needs.
    """
    if isinstance(messages, str):
        return (Message.user(messages),)
    # Callers' conversations are untyped, and one message instead of a list is a likely mistake.
    if isinstance(messages, Mapping) or not isinstance(messages, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        found = type(cast("object", messages)).__name__
        raise UsageError(f"Expected messages as a list, or one text from the user, found {found}.")
    return tuple(
        message if isinstance(message, Message) else _message_from_dict(index, message)
        for index, message in enumerate(messages)
    )


def _message_from_dict(index: int, message: Mapping[str, Any]) -> Message:
    # The caller's dictionaries are untyped: every field is checked before it is used.
    if not isinstance(message, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"messages[{index}]: expected a Message or a dictionary, found {type(message).__name__}.")
    role = message.get("role")
    if role == "developer":
        role = "system"
    if role not in ROLES:
        raise UsageError(f"messages[{index}]: expected a role of {', '.join(ROLES)}, found {role!r}.")
    if role == "tool":
        call_id = message.get("tool_call_id")
        if not isinstance(call_id, str):
            raise UsageError(f"messages[{index}]: a tool message needs the 'tool_call_id' of the call it answers.")
        found = tuple(_content_parts(index, message))
        content = "".join(part.text for part in found if isinstance(part, TextPart))
        media = tuple(part for part in found if isinstance(part, ImagePart | FilePart))
        return Message.tool(ToolResult(tool_call_id=call_id, content=content, parts=media))
    parts = list(_content_parts(index, message))
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(reasoning, str) and reasoning:
        parts.insert(0, ReasoningPart(text=reasoning))
    calls: object = message.get("tool_calls") or []
    if not isinstance(calls, list | tuple):
        raise UsageError(f"messages[{index}]: expected 'tool_calls' to be a list, found {type(calls).__name__}.")
    parts += [_call_from_dict(index, call) for call in cast("Sequence[Any]", calls)]
    return Message(role=role, parts=tuple(parts))


def _content_parts(index: int, message: Mapping[str, Any]) -> Iterable[Part]:
    content = message.get("content")
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield TextPart(text=content)
        return
    if not isinstance(content, list):
        raise UsageError(f"messages[{index}]: expected 'content' to be text or a list, found {type(content).__name__}.")
    for part in cast("list[Any]", content):
        match part:
            case {"type": "text", "text": str(text)}:
                yield TextPart(text=text)
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                yield ImagePart(url=url)
            case {"type": "file", "file": {"file_data": str(url), **others}}:
                yield _file(others.get("filename"), url)
            case _:
                raise UsageError(
                    f"messages[{index}]: expected a part of type 'text', 'image_url' or 'file' (with 'file_data'), "
                    f"found {part!r:.200}."
                )


def _file(name: object, url: str) -> FilePart:
    known = name if isinstance(name, str) and name else "file"
    media_type = media_type_in(url) or media_type_of_name(known) or UNKNOWN_MEDIA_TYPE
    return FilePart(name=known, media_type=media_type, url=url)


def _call_from_dict(index: int, call: Any) -> AnyCall:
    match call:
        case {"id": str(call_id), "function": {"name": str(name), "arguments": arguments}}:
            pass
        case _:
            raise UsageError(
                f"messages[{index}]: expected a call with 'id' and 'function' ('name', 'arguments'), found {call!r}."
            )
    return read_call(call_id=call_id, name=name, arguments=arguments, provider_id=call_id)


def read_call(*, call_id: str, name: str, arguments: object, provider_id: str | None) -> AnyCall:
    """A call from the JSON text or the object in which a wire carries its arguments; empty text means no arguments.

    Returns an `InvalidToolCall` where the text is no JSON object, or one of which something would be lost (a key that
    stands twice, half a character), so that nothing is lost and the model can be told.
    """
    text = arguments if isinstance(arguments, str) else _text_of(arguments)
    try:
        value = parse_json(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        found = f"text that cannot be read as one ({error})"
    else:
        if isinstance(value, dict):
            members = cast("JsonObject", arguments) if isinstance(arguments, dict) else value  # in their own order
            return ToolCall(id=call_id, name=name, arguments=members, provider_id=provider_id)
        found = f"JSON that is not an object: {text[:80]}"
    return InvalidToolCall(
        id=call_id,
        name=name,
        text=text,
        error=f"The arguments of `{name}` could not be read. Expected one JSON object, found {found}.",
        provider_id=provider_id,
    )


def _text_of(arguments: object) -> str:
    try:
        return canonical_json(arguments)
    except (TypeError, ValueError, RecursionError):  # a program's own values, which no wire carries
        return repr(arguments)


def _call_to_dict(call: AnyCall) -> JsonObject:
    arguments = call.text if isinstance(call, InvalidToolCall) else json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name or "", "arguments": arguments}}
