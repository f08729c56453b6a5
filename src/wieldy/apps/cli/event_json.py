"""Run events as JSON objects, one type for each event: the wire of `wieldy run --json`.

Every object has a `type`. A `call` is answered by exactly one `result` whose `tool_call_id` is the call's `id`. The
last object is `finished`, or `error` if the run could not go on.
"""

from __future__ import annotations

from wieldy.apps.cli.failures import failure_to_json
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.core.calls import AnyCall, InvalidToolCall
from wieldy.core.events import (
    CallFinished,
    CallStarted,
    LimitReached,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunResult,
    RunStarted,
    TextDelta,
    TurnStarted,
)
from wieldy.core.json import JsonObject


class JsonEvents:
    """Writes one line of JSON for each event; standard output is its own from the beginning to `close`."""

    def __init__(self) -> None:
        self._lines = JsonLines()

    def show(self, event: RunEvent) -> None:
        """Write the event."""
        self._lines.write(event_to_json(event))

    def fail(self, error: BaseException, *, run_id: str | None) -> None:
        """Write the last line of a run that could not go on."""
        self._lines.write(error_to_json(error, run_id=run_id))

    def make_room(self) -> None:
        """Nothing to do: lines are always whole."""

    def close(self) -> None:
        """Give standard output back; calling it again does nothing."""
        self._lines.close()


def event_to_json(event: RunEvent) -> JsonObject:
    """The event as one JSON object."""
    match event:
        case RunStarted():
            return {"type": "started", "run_id": event.run_id, "model": event.model}
        case TurnStarted():
            return {"type": "turn", "turn": event.turn}
        case TextDelta():
            return {"type": "text", "text": event.text}
        case ReasoningDelta():
            return {"type": "reasoning", "text": event.text}
        case CallStarted():
            return _call(event.call)
        case CallFinished():
            return _result(event)
        case LimitReached():
            return {"type": "limit", "reason": event.reason}
        case RunFinished():
            return _finished(event.result)


def error_to_json(error: BaseException, *, run_id: str | None) -> JsonObject:
    """The last line of a run that could not go on."""
    return {**failure_to_json(error), "run_id": run_id}


def _call(call: AnyCall) -> JsonObject:
    if isinstance(call, InvalidToolCall):
        unread: JsonObject = {"text": call.text, "error": call.error}
        return {"type": "call", "id": call.id, "name": call.name, "arguments": None, **unread}
    return {"type": "call", "id": call.id, "name": call.name, "arguments": call.arguments}


def _result(event: CallFinished) -> JsonObject:
    result = event.result
    return {
        "type": "result",
        "tool_call_id": result.tool_call_id,
        "name": event.call.name,
        "content": result.content,
        "structured_content": result.structured_content,
        "is_error": result.is_error,
        "layer": result.layer,
        "duration_s": round(event.duration_s, 6),
    }


def _finished(result: RunResult) -> JsonObject:
    usage = result.usage
    return {
        "type": "finished",
        "text": result.text,
        "run_id": result.run_id,
        "stop_reason": result.stop_reason,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "requests": usage.requests,
        },
    }
