from __future__ import annotations

import json
from typing import get_args

from wieldy.apps.cli.event_json import event_to_json
from wieldy.apps.cli.json_lines import json_line
from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
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
from wieldy.core.limits import Usage
from wieldy.core.media import FilePart, ImagePart

CALL = ToolCall(id="c1", name="refund", arguments={"order_id": "17"})
REQUEST = ApprovalRequest(
    run_id="r1", call_id="c1", tool_name="refund", arguments={"order_id": "17"}, reason="it costs money", expires=9.5
)
RESTING = RunResult(
    run_id="r1",
    text="",
    stop_reason="waiting_for_approval",
    usage=Usage(input_tokens=5, cached_input_tokens=2, output_tokens=3, requests=1, cost_usd=0.25),
    messages=(),
    waiting=(REQUEST,),
)
ONE_OF_EACH: list[RunEvent] = [
    RunStarted(run_id="r1", model="local:small"),
    TurnStarted(turn=1),
    TextDelta(text="a"),
    ReasoningDelta(text="b"),
    CallDelta(index=0, name="refund", arguments="{"),
    CallStarted(call=CALL),
    CallWaiting(call=CALL, request=REQUEST),
    CallRunning(call=CALL, attempt=2),
    CallProgress(call=CALL, message="half", fraction=0.5),
    CallFinished(call=CALL, result=ToolResult(tool_call_id="c1", content="refunded"), duration_s=0.5),
    OutputDelta(value={"total": 3}),
    OutputRefused(error="Your answer is not JSON."),
    LimitReached(reason="turn_limit"),
    RunFinished(result=RESTING),
]


def test_every_event_has_a_type_of_its_own_and_is_one_line_of_json() -> None:
    assert {type(event) for event in ONE_OF_EACH} == set(get_args(RunEvent))

    objects = [json.loads(json_line(event_to_json(event))) for event in ONE_OF_EACH]

    assert [item["type"] for item in objects] == [
        "started",
        "turn",
        "text",
        "reasoning",
        "call_delta",
        "call",
        "waiting",
        "running",
        "progress",
        "result",
        "output",
        "output_refused",
        "limit",
        "finished",
    ]


def test_whatever_happens_to_a_call_carries_its_id() -> None:
    named = {item["type"]: item for item in map(event_to_json, ONE_OF_EACH)}

    assert {named[kind]["id"] for kind in ("call", "waiting", "running", "progress")} == {"c1"}
    assert named["result"]["tool_call_id"] == "c1"
    assert named["running"]["attempt"] == 2
    assert (named["progress"]["message"], named["progress"]["fraction"]) == ("half", 0.5)


def test_who_must_decide_sees_everything_that_the_answer_is_bound_to() -> None:
    asked = {
        "run_id": "r1",
        "call_id": "c1",
        "name": "refund",
        "arguments": {"order_id": "17"},
        "reason": "it costs money",
        "expires": 9.5,
        "digest": REQUEST.digest,
    }

    assert event_to_json(CallWaiting(call=CALL, request=REQUEST)) == {"type": "waiting", "id": "c1", **asked}
    assert event_to_json(RunFinished(result=RESTING))["waiting"] == [asked]


def test_a_run_that_ended_waits_for_nothing_and_tells_its_cost() -> None:
    result = RunResult(run_id="r1", text="Done.", stop_reason="answered", usage=Usage(requests=1), messages=())

    assert event_to_json(RunFinished(result=result)) == {
        "type": "finished",
        "text": "Done.",
        "run_id": "r1",
        "stop_reason": "answered",
        "usage": {
            "input_tokens": 0,
            "cached_input_tokens": 0,
            "output_tokens": 0,
            "requests": 1,
            "calls": 0,
            "cost_usd": None,
        },
    }


def test_a_call_that_could_not_be_read_has_its_text_in_place_of_arguments() -> None:
    broken = InvalidToolCall(id="c1", name=None, text='{"or', error="cut off")

    assert event_to_json(CallStarted(call=broken)) == {
        "type": "call",
        "id": "c1",
        "name": None,
        "arguments": None,
        "text": '{"or',
        "error": "cut off",
    }


def test_a_result_says_where_it_comes_from_and_has_its_images_and_files() -> None:
    result = ToolResult(
        tool_call_id="c1",
        content="two parts",
        parts=(ImagePart(url="data:,x"), FilePart(name="a.pdf", media_type="application/pdf", url="data:,y")),
        source="https://example.org",
        trust="untrusted",
        handle="c1",
    )

    item = event_to_json(CallFinished(call=CALL, result=result, duration_s=0.0))

    assert (item["source"], item["trust"], item["handle"]) == ("https://example.org", "untrusted", "c1")
    assert item["parts"] == [
        {"type": "image", "url": "data:,x"},
        {"type": "file", "url": "data:,y", "name": "a.pdf", "media_type": "application/pdf"},
    ]
