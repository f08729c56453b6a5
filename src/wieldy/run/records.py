"""Messages, calls, results and usage as the JSON that entries hold, and back.

Law: reading what was written gives an equal record. These are the journal's own words, not those of any provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolDefinition, ToolResult
from wieldy.core.limits import Limits, Usage
from wieldy.core.messages import ImagePart, Message, Part, ReasoningPart, TextPart

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue


def message_to_json(message: Message) -> JsonObject:
    """The message with all its parts."""
    return {"role": message.role, "parts": [_part_to_json(part) for part in message.parts]}


def message_from_json(data: JsonObject) -> Message:
    """What `message_to_json` was given.

    Raises:
        KeyError, TypeError, ValueError: The data is something else.
    """
    fields = cast("dict[str, Any]", data)
    return Message(role=fields["role"], parts=tuple(_part_from_json(part) for part in fields["parts"]))


def result_to_json(result: ToolResult) -> JsonObject:
    """The result; what is at its default is left out."""
    data: JsonObject = {"tool_call_id": result.tool_call_id, "content": result.content}
    if result.structured_content is not None:
        data["structured_content"] = result.structured_content
    if result.is_error:
        data["is_error"] = True
    if result.layer is not None:
        data["layer"] = result.layer
    return data


def result_from_json(data: JsonObject) -> ToolResult:
    """What `result_to_json` was given.

    Raises:
        KeyError, TypeError: The data is something else.
    """
    # The journal is a wire: what it holds was written by `result_to_json`, which the type checker cannot know.
    return ToolResult(**cast("dict[str, Any]", {key: value for key, value in data.items() if key != "type"}))


def usage_to_json(usage: Usage) -> JsonObject:
    """The usage of one reply."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "requests": usage.requests,
    }


def usage_from_json(data: JsonObject) -> Usage:
    """What `usage_to_json` was given.

    Raises:
        TypeError: The data is something else.
    """
    return Usage(**cast("dict[str, Any]", data))


def limits_to_json(limits: Limits) -> JsonObject:
    """The limits by name."""
    return {
        "turns": limits.turns,
        "calls": limits.calls,
        "output_tokens": limits.output_tokens,
        "wall_time_s": limits.wall_time_s,
        "repeats": limits.repeats,
    }


def definition_to_json(definition: ToolDefinition) -> JsonObject:
    """What the model is shown of a tool."""
    data: JsonObject = {
        "name": definition.name,
        "description": definition.prompt_description,
        "input_schema": definition.input_schema,
    }
    if definition.output_schema is not None:
        data["output_schema"] = definition.output_schema
    return data


def _part_to_json(part: Part) -> JsonObject:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ReasoningPart(text=text, signature=signature):
            return {"type": "reasoning", "text": text, "signature": signature}
        case ImagePart(url=url):
            return {"type": "image", "url": url}
        case ToolResult():
            return {"type": "result", **result_to_json(part)}
        case ToolCall():
            return {
                "type": "call",
                "id": part.id,
                "name": part.name,
                "arguments": part.arguments,
                "provider_id": part.provider_id,
            }
        case InvalidToolCall():
            return {
                "type": "invalid_call",
                "id": part.id,
                "name": part.name,
                "text": part.text,
                "error": part.error,
                "provider_id": part.provider_id,
            }


def _part_from_json(data: dict[str, Any]) -> Part:
    fields: dict[str, JsonValue] = {key: value for key, value in data.items() if key != "type"}
    if data["type"] == "result":
        return result_from_json(fields)
    return _PARTS[data["type"]](**fields)


_PARTS: dict[str, Any] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "image": ImagePart,
    "call": ToolCall,
    "invalid_call": InvalidToolCall,
}
