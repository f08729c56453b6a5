"""`wieldy run --output`: an answer that must be JSON, shown, told to programs, resumed and looked at afterwards."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Result = subprocess.CompletedProcess[str]

ORDER = '{"order": "17", "shipped": true}'
WRONG = '{"order": 17}'


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "order.json"
    properties = {"order": {"type": "string"}, "shipped": {"type": "boolean"}}
    document = {"title": "Order", "type": "object", "properties": properties, "required": list(properties)}
    path.write_text(json.dumps(document))
    return path


def lines_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_answer_is_json_and_the_record_says_what_it_must_be(
    wieldy: Callable[..., Result], serve: Callable[..., Any], schema: Path
) -> None:
    server = serve([WRONG, ORDER])

    shown = wieldy("run", "Order 17?", "--model", server.model, "--output", schema)

    assert shown.returncode == 0, shown.stderr
    assert f"\n{ORDER}\n" in shown.stdout
    assert "`shipped` is missing" in shown.stdout
    whole = wieldy("show", "last").stdout
    assert "JSON that fits a schema (Order)" in whole
    assert "which the answer is not" not in whole
    assert "`shipped` is missing" in whole


def test_programs_get_the_value_and_what_there_was_of_it_before(
    wieldy: Callable[..., Result], serve: Callable[..., Any], schema: Path
) -> None:
    server = serve([WRONG, ORDER])

    result = wieldy("run", "Order 17?", "--model", server.model, "--output", schema, "--json")

    events = lines_of(result)
    finished = events[-1]
    assert (result.returncode, finished["output"]) == (0, {"order": "17", "shipped": True})
    assert "incomplete" not in finished
    partials = [event["value"] for event in events if event["type"] == "output"]
    assert partials[-1] == finished["output"]
    assert ["`order`" in event["error"] for event in events if event["type"] == "output_refused"] == [True]

    again = wieldy("resume", finished["run_id"], "--json")
    assert lines_of(again)[-1]["output"] == finished["output"]


def test_an_answer_that_never_fits_is_a_failure_that_keeps_what_there_is(
    wieldy: Callable[..., Result], serve: Callable[..., Any], schema: Path
) -> None:
    server = serve([WRONG] * 3)

    result = wieldy("run", "Order 17?", "--model", server.model, "--output", schema, "--json")

    finished = lines_of(result)[-1]
    assert result.returncode == 1
    assert "is not what it must be" in result.stderr
    assert "Traceback" not in result.stderr
    assert (finished["stop_reason"], finished["output"]) == ("incomplete_output", None)
    assert finished["incomplete"]["partial"] == {"order": 17}
    assert "`shipped` is missing" in finished["incomplete"]["error"]
    assert "which the answer is not" in wieldy("show", "last").stdout
    assert lines_of(wieldy("resume", "last", "--json"))[-1]["incomplete"] == finished["incomplete"]


def test_a_run_that_rested_goes_on_to_what_its_answer_must_be(
    wieldy: Callable[..., Result], serve: Callable[..., Any], schema: Path, tools_file: Path
) -> None:
    server = serve([[("refund", {"order_id": "17"})], ORDER])
    options = ["--model", server.model, "--tools", tools_file, "--output", schema]

    rests = wieldy("run", "Refund 17", *options, "--pause", "--json")
    waiting = lines_of(rests)[-1]
    assert (rests.returncode, waiting["stop_reason"]) == (0, "waiting_for_approval")
    assert "output" not in waiting
    schema.unlink()  # what it must be is in the record
    [asked] = waiting["waiting"]
    assert wieldy("approve", waiting["run_id"], asked["call_id"]).returncode == 0
    resumed = wieldy("resume", "last", "--json")

    assert lines_of(resumed)[-1]["output"] == {"order": "17", "shipped": True}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("nonsense", "expected JSON"),
        ("[1]", "expected a JSON Schema"),
        ('{"type": "nonsense"}', "JSON Schema"),
    ],
)
def test_what_is_no_schema_is_wrong_use(
    wieldy: Callable[..., Result], tmp_path: Path, content: str | None, words: str
) -> None:
    path = tmp_path / "schema.json"
    if content is not None:
        path.write_text(content)

    result = wieldy("run", "?", "--model", "http://127.0.0.1:9/v1#none", "--output", path)

    assert result.returncode == 2
    assert words in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
