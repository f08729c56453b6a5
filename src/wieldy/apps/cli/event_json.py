"""Run events as JSON objects, one type for each event: the wire of `wieldy run --json`.

Every object has a `type`. A `call` is answered by exactly one `result` whose `tool_call_id` is the call's `id`, unless
the run rests before that. Between the two may stand `waiting`, and `running` and `progress`, which carry the same `id`.
The last object is `finished`, or `error` if the run could not go on. Deliberately not here: a run that is only told of
afterwards, which has its journal's entries (`show`).
"""

from __future__ import annotations

from wieldy.apps.cli.failures import failure_to_json
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import AnyCall, InvalidToolCall, ToolResult
from wieldy.core.events import (
    CallDelta,
    CallFinished,
    CallProgress,
    CallRunning,
    CallStarted,
    CallWaiting,
    LimitReached,
    OutputDelta,
    OutputRefused,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunResult,
    RunStarted,
    TextDelta,
    TurnStarted,
)
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.limits import Usage
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.outputs import Incomplete


class JsonEvents:
    """Writes one line of JSON for each event; standard output is its own from the beginning to `close`."""

    def __init__(self) -> None:
        self._lines = JsonLines()
        self._called: set[str] = set()

    def show(self, event: RunEvent) -> None:
        """Write the event."""
        if isinstance(event, CallStarted | CallWaiting | CallRunning | CallProgress | CallFinished):
            self._introduce(event.call, is_new=isinstance(event, CallStarted))
        self._lines.write(event_to_json(event))

    def _introduce(self, call: AnyCall, *, is_new: bool) -> None:
        # A resumed run deals with calls that another process has heard of; who reads this one has not.
        if call.id not in self._called and not is_new:
            self._lines.write(_call(call))
        self._called.add(call.id)

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
        case OutputDelta():
            return {"type": "output", "value": event.value}
        case OutputRefused():
            return {"type": "output_refused", "error": event.error}
        case LimitReached():
            return {"type": "limit", "reason": event.reason}
        case RunFinished():
            return result_to_json(event.result)
        case _:
            return _of_call(event)


def _of_call(
    event: CallDelta | CallStarted | CallWaiting | CallRunning | CallProgress | CallFinished,
) -> JsonObject:
    match event:
        case CallDelta():
            return {"type": "call_delta", "index": event.index, "name": event.name, "arguments": event.arguments}
        case CallStarted():
            return _call(event.call)
        case CallWaiting():
            return {"type": "waiting", "id": event.call.id, **request_to_json(event.request)}
        case CallRunning():
            return {"type": "running", "id": event.call.id, "name": event.call.name, "attempt": event.attempt}
        case CallProgress():
            words: JsonObject = {"message": event.message, "fraction": event.fraction}
            return {"type": "progress", "id": event.call.id, "name": event.call.name, **words}
        case CallFinished():
            return _outcome(event)


def error_to_json(error: BaseException, *, run_id: str | None) -> JsonObject:
    """The last line of a run that could not go on."""
    return {**failure_to_json(error), "run_id": run_id}


def _call(call: AnyCall) -> JsonObject:
    if isinstance(call, InvalidToolCall):
        unread: JsonObject = {"text": call.text, "error": call.error}
        return {"type": "call", "id": call.id, "name": call.name, "arguments": None, **unread}
    return {"type": "call", "id": call.id, "name": call.name, "arguments": call.arguments}


def _outcome(event: CallFinished) -> JsonObject:
    result = event.result
    return {
        "type": "result",
        "tool_call_id": result.tool_call_id,
        "name": event.call.name,
        "content": result.content,
        "structured_content": result.structured_content,
        "parts": _parts(result),
        "is_error": result.is_error,
        "layer": result.layer,
        "source": result.source,
        "trust": result.trust,
        "handle": result.handle,
        "duration_s": round(event.duration_s, 6),
    }


def _parts(result: ToolResult) -> list[JsonValue]:
    return [_part(part) for part in result.parts]


def _part(part: ImagePart | FilePart) -> JsonObject:
    if isinstance(part, ImagePart):
        return {"type": "image", "url": part.url}
    return {"type": "file", "url": part.url, "name": part.name, "media_type": part.media_type}


def request_to_json(request: ApprovalRequest) -> JsonObject:
    """What a person must decide on; `digest` is what their answer is bound to."""
    return {
        "run_id": request.run_id,
        "call_id": request.call_id,
        "name": request.tool_name,
        "arguments": request.arguments,
        "reason": request.reason,
        "expires": request.expires,
        "digest": request.digest,
    }


def result_to_json(result: RunResult) -> JsonObject:
    """The last line of a run that ended or rests; `waiting` is there if it rests, `output` if one was wanted."""
    ended: JsonObject = {
        "type": "finished",
        "text": result.text,
        "run_id": result.run_id,
        "stop_reason": result.stop_reason,
        "usage": usage_to_json(result.usage),
    }
    if result.output is not None:
        ended.update(_output(result))
    if result.stop_reason == "waiting_for_approval":
        ended["waiting"] = [request_to_json(request) for request in result.waiting]
    return ended


def _output(result: RunResult) -> JsonObject:
    """What there is of an answer that must be something, and what of it the token budget decided."""
    value = result.output
    if isinstance(value, Incomplete):
        return {"output": None, "incomplete": {"error": value.error, "partial": value.partial}}
    found: JsonObject = {"output": value}
    return {**found, "forced": list(result.forced)} if result.closed_by_budget else found


def usage_to_json(usage: Usage) -> JsonObject:
    """What a run used; `cost_usd` is null where a price is not known."""
    return {
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "requests": usage.requests,
        "calls": usage.calls,
        "cost_usd": usage.cost_usd,
    }
