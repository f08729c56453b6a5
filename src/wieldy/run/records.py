"""Messages, calls, results, questions to people and usage as the JSON that entries hold, and back.

Law: reading what was written gives an equal record. These are the journal's own words, not those of any provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.calls import InvalidToolCall, ToolCall, ToolDefinition, ToolResult
from wieldy.core.influence import Influence
from wieldy.core.limits import Limits, Usage
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, Part, ReasoningPart, TextPart
from wieldy.core.outputs import ChoiceOutput, JsonOutput, PatternOutput

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.outputs import Output
    from wieldy.core.ports import ModelReply


def message_to_json(message: Message) -> JsonObject:
    """The message with all its parts."""
    return {"role": message.role, "parts": [_part_to_json(part) for part in message.parts]}


def message_from_json(data: JsonObject) -> Message:
    """What `message_to_json` was given.

    Raises:
        KeyError, TypeError, ValueError: The data is something else.
    """
    fields: dict[str, Any] = data
    return Message(role=fields["role"], parts=tuple([_part_from_json(part) for part in fields["parts"]]))


def result_to_json(result: ToolResult) -> JsonObject:
    """The result; what is at its default is left out."""
    data: JsonObject = {"tool_call_id": result.tool_call_id, "content": result.content}
    if result.structured_content is not None:
        data["structured_content"] = result.structured_content
    if result.parts:
        data["parts"] = [_part_to_json(part) for part in result.parts]
    if result.is_error:
        data["is_error"] = True
    if result.layer is not None:
        data["layer"] = result.layer
    if result.source is not None:
        data["source"] = result.source
    if result.trust != "trusted":
        data["trust"] = result.trust
    if result.tainted_by:
        data["tainted_by"] = list(result.tainted_by)
    if result.handle is not None:
        data["handle"] = result.handle
    if result.failure is not None:
        data["failure"] = result.failure
    return data


def result_from_json(data: JsonObject) -> ToolResult:
    """What `result_to_json` was given.

    Raises:
        KeyError, TypeError: The data is something else.
    """
    # The journal is a wire: what it holds was written by `result_to_json`, which the type checker cannot know.
    fields: dict[str, Any] = {key: value for key, value in data.items() if key != "type"}
    if "parts" in fields:
        fields["parts"] = tuple(_part_from_json(part) for part in fields["parts"])
    if "tainted_by" in fields:
        fields["tainted_by"] = tuple(fields["tainted_by"])
    return ToolResult(**fields)


def reply_to_json(reply: ModelReply) -> JsonObject:
    """The reply; what is at its default is left out."""
    data: JsonObject = {
        "message": message_to_json(reply.message),
        "usage": usage_to_json(reply.usage),
        "finish": reply.finish,
    }
    if reply.forced:
        data["forced"] = list(reply.forced)
    if reply.held:
        data["held"] = True
    return data


def output_to_json(output: Output) -> JsonObject:
    """What an answer must be."""
    match output:
        case JsonOutput():
            data: JsonObject = {"type": "json", "schema": output.schema, "name": output.name}
            return {**data, "description": output.description} if output.description else data
        case ChoiceOutput():
            return {"type": "choice", "options": list(output.options)}
        case PatternOutput():
            return {"type": "pattern", "pattern": output.pattern}


def output_from_json(data: JsonObject) -> Output:
    """What `output_to_json` was given.

    Raises:
        KeyError, TypeError: The data is something else.
    """
    fields = cast("dict[str, Any]", {key: value for key, value in data.items() if key != "type"})
    match data["type"]:
        case "choice":
            return ChoiceOutput(options=tuple(fields["options"]))
        case "pattern":
            return PatternOutput(**fields)
        case _:
            return JsonOutput(**fields)


def usage_to_json(usage: Usage) -> JsonObject:
    """The usage of one reply; what is at its default is left out, except the token counts."""
    data: JsonObject = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "requests": usage.requests,
    }
    if usage.cached_input_tokens:
        data["cached_input_tokens"] = usage.cached_input_tokens
    if usage.cost_usd is not None:
        data["cost_usd"] = usage.cost_usd
    if usage.calls:
        data["calls"] = usage.calls
    return data


def usage_from_json(data: JsonObject) -> Usage:
    """What `usage_to_json` was given.

    Raises:
        TypeError: The data is something else.
    """
    fields: dict[str, Any] = data
    return Usage(**fields)


def limits_to_json(limits: Limits) -> JsonObject:
    """The limits by name; `corrections` where it is not the default, because older journals do not have it."""
    data: JsonObject = {
        "turns": limits.turns,
        "calls": limits.calls,
        "output_tokens": limits.output_tokens,
        "total_tokens": limits.total_tokens,
        "cost_usd": limits.cost_usd,
        "wall_time_s": limits.wall_time_s,
        "repeats": limits.repeats,
    }
    if limits.corrections != Limits().corrections:
        data["corrections"] = limits.corrections
    return data


def request_to_json(request: ApprovalRequest) -> JsonObject:
    """The question as it is shown, with the digest that an answer is bound to; the run is that of the entry."""
    return {
        "call_id": request.call_id,
        "tool_name": request.tool_name,
        "arguments": request.arguments,
        "reason": request.reason,
        "expires": request.expires,
        "digest": request.digest,
    }


def request_from_json(run_id: str, data: JsonObject) -> ApprovalRequest:
    """What `request_to_json` was given.

    Raises:
        KeyError, TypeError: The data is something else.
    """
    fields = cast("dict[str, Any]", data)
    names = ("call_id", "tool_name", "arguments", "reason", "expires")
    return ApprovalRequest(run_id=run_id, **{name: fields[name] for name in names})


def approval_to_json(approval: Approval) -> JsonObject:
    """The answer."""
    return {
        "call_id": approval.call_id,
        "digest": approval.digest,
        "is_granted": approval.is_granted,
        "by": approval.by,
        "reason": approval.reason,
    }


def approval_from_json(data: JsonObject) -> Approval:
    """What `approval_to_json` was given.

    Raises:
        TypeError: The data is something else.
    """
    return Approval(**cast("dict[str, Any]", data))


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
        case FilePart(name=name, media_type=media_type, url=url):
            return {"type": "file", "name": name, "media_type": media_type, "url": url}
        case ToolResult():
            return {"type": "result", **result_to_json(part)}
        case ToolCall():
            return {
                "type": "call",
                "id": part.id,
                "name": part.name,
                "arguments": part.arguments,
                "provider_id": part.provider_id,
                **({"forced": list(part.forced)} if part.forced else {}),
                **_influence_to_json(part.influence),
            }
        case InvalidToolCall():
            return {
                "type": "invalid_call",
                "id": part.id,
                "name": part.name,
                "text": part.text,
                "error": part.error,
                "provider_id": part.provider_id,
                **_influence_to_json(part.influence),
            }


def _part_from_json(data: dict[str, Any]) -> Part:
    fields: dict[str, Any] = {key: value for key, value in data.items() if key != "type"}
    if data["type"] == "result":
        return result_from_json(fields)
    if "forced" in fields:
        fields["forced"] = tuple(fields["forced"])
    if "influence" in fields:
        fields["influence"] = _influence_from_json(fields["influence"])
    return _PARTS[data["type"]](**fields)


def _influence_to_json(influence: Influence | None) -> JsonObject:
    if influence is None:
        return {}
    said: JsonObject = {
        "arguments": {path: list(sources) for path, sources in influence.arguments.items()},
        "decided_by": list(influence.decided_by),
        "survived": list(influence.survived),
    }
    return {"influence": said}


def _influence_from_json(data: dict[str, Any]) -> Influence:
    return Influence(
        arguments={path: tuple(sources) for path, sources in data["arguments"].items()},
        decided_by=tuple(data["decided_by"]),
        survived=tuple(data["survived"]),
    )


_PARTS: dict[str, Any] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "image": ImagePart,
    "file": FilePart,
    "call": ToolCall,
    "invalid_call": InvalidToolCall,
}
