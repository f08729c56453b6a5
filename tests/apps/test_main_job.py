"""The main job from end to end: one command, several calls, an error among them, an answer, and a record of it all."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Result = subprocess.CompletedProcess[str]
TOOLS = Path(__file__).parents[2] / "examples" / "everyday" / "tools.py"
PROMPT = "How many degrees warmer is it in Cairo than in Oslo?"
ANSWER = "In Cairo it is 33 °C warmer than in Oslo."
SCRIPT = [
    [("get_weather", {"city": "Cairo"}), ("get_weather", {"city": "Atlantis"}), ("get_weather", {"city": "Oslo"})],
    [("calculate", {"expression": "29 - (-4)"})],
    ANSWER,
]


def lines_of(result: Result) -> list[dict[str, Any]]:
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def of_type(events: list[dict[str, Any]], type_: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == type_]


def test_a_question_is_answered_by_calls_and_everything_that_was_shown_is_recorded(
    wieldy: Callable[..., Result], serve: Callable[..., Any]
) -> None:
    server = serve(SCRIPT)

    events = lines_of(wieldy("run", PROMPT, "--model", server.model, "--tools", TOOLS, "--json"))
    [listed] = lines_of(wieldy("runs", "--json"))
    entries = lines_of(wieldy("show", "last", "--json"))

    # What was done: three calls of one turn, of which one fails alone, and a fourth that builds on them.
    results = {result["tool_call_id"]: result for result in of_type(events, "result")}
    calls = of_type(events, "call")
    assert [(call["name"], call["arguments"]) for call in calls] == [call for turn in SCRIPT[:2] for call in turn]
    assert [results[call["id"]]["is_error"] for call in calls] == [False, True, False, False]
    assert results[calls[0]["id"]]["structured_content"]["temperature_c"] == 29
    assert "Known cities: Amsterdam, Berlin" in results[calls[1]["id"]]["content"]
    assert results[calls[3]["id"]]["content"] == "33"

    # What the model was told: each result once, under the call's id, in the order of the calls.
    told = [message for message in server.requests[-1]["messages"] if message["role"] == "tool"]
    assert [message["content"] for message in told] == [results[call["id"]]["content"] for call in calls]
    assert len(server.requests) == len(SCRIPT)

    # What is said of it afterwards.
    finished = events[-1]
    assert (finished["type"], finished["text"], finished["stop_reason"]) == ("finished", ANSWER, "answered")
    assert "".join(event["text"] for event in of_type(events, "text")) == ANSWER
    run_id = finished["run_id"]
    assert {entry["run_id"] for entry in entries} == {listed["run_id"], events[0]["run_id"]} == {run_id}
    assert (listed["status"], listed["prompt"], listed["stop_reason"]) == ("finished", PROMPT, "answered")
    assert (listed["turns"], listed["calls"]) == (len(SCRIPT), len(calls))
    assert [entry["sequence"] for entry in entries] == list(range(len(entries)))
    started = [entry["data"]["call_id"] for entry in entries if entry["kind"] == "call_started"]
    assert started == [call["id"] for call in calls]
    recorded = [entry["data"]["result"] for entry in entries if entry["kind"] == "call_finished"]
    assert {result["tool_call_id"]: result["content"] for result in recorded} == {
        call_id: result["content"] for call_id, result in results.items()
    }
    assert [entry["kind"] for entry in entries][-2:] == ["reply", "run_finished"]
    replies = [entry["data"] for entry in entries if entry["kind"] == "reply"]
    assert replies[-1]["message"]["parts"] == [{"type": "text", "text": ANSWER}]
    assert sum(reply["usage"]["output_tokens"] for reply in replies) == finished["usage"]["output_tokens"]


def test_a_person_reads_the_same_as_a_machine(wieldy: Callable[..., Result], serve: Callable[..., Any]) -> None:
    shown = wieldy("run", PROMPT, "--model", serve(SCRIPT).model, "--tools", TOOLS)
    recorded = wieldy("show", "last")

    for result in (shown, recorded):
        assert result.returncode == 0, result.stderr
        words = " ".join(result.stdout.split())
        for city in ("Cairo", "Atlantis", "Oslo"):
            assert f'→ get_weather(city="{city}")' in words
        assert "No weather is known for 'Atlantis'" in words
        assert ANSWER in words
