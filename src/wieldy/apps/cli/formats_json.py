"""Replies and the events of reading one as JSON objects: the wire of `wieldy formats parse --json` and `--events`.

Every event has a `type`; positions and spans count characters.
"""

from __future__ import annotations

from dataclasses import asdict

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject
from wieldy.formats.events import (
    ArgumentsDelta,
    CallOpened,
    ParseEvent,
    Problem,
    Repaired,
    Reply,
    TextWasReasoning,
)


def reply_to_json(reply: Reply) -> JsonObject:
    """The reply as one JSON object."""
    return {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "calls": [call_to_json(call) for call in reply.calls],
        "problems": [_problem_to_json(problem) for problem in reply.problems],
        "repairs": [_repaired_to_json(repaired) for repaired in reply.repairs],
        "spans": [{"start": span.start, "end": span.end, "kind": span.kind} for span in reply.spans],
    }


def call_to_json(call: AnyCall) -> JsonObject:
    """A call, or the text of one that could not be read."""
    if isinstance(call, InvalidToolCall):
        return {
            "id": call.id,
            "name": call.name,
            "invalid": True,
            "text": call.text,
            "error": call.error,
            "provider_id": call.provider_id,
        }
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "provider_id": call.provider_id}


def event_to_json(event: ParseEvent) -> JsonObject:
    """One event of reading."""
    match event:
        case TextDelta():
            return {"type": "text", "text": event.text}
        case ReasoningDelta():
            return {"type": "reasoning", "text": event.text}
        case CallOpened():
            return {"type": "call_opened", **asdict(event)}
        case ArgumentsDelta():
            return {"type": "arguments", "index": event.index, "text": event.text}
        case ToolCall():
            return {"type": "call", **call_to_json(event)}
        case InvalidToolCall():
            return {"type": "invalid_call", **call_to_json(event)}
        case Problem():
            return {"type": "problem", **_problem_to_json(event)}
        case Repaired():
            return {"type": "repaired", **_repaired_to_json(event)}
        case TextWasReasoning():
            return {"type": "text_was_reasoning"}


def _problem_to_json(problem: Problem) -> JsonObject:
    return {"position": problem.position, "expected": problem.expected, "found": problem.found}


def _repaired_to_json(repaired: Repaired) -> JsonObject:
    return {
        "index": repaired.index,
        "position": repaired.position,
        "level": repaired.level,
        "changes": [asdict(change) for change in repaired.changes],
    }
