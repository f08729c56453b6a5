"""`--openapi` on the command line: what a service gives, and runs that use it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wieldy.apps.cli.described import Described
from wieldy.apps.cli.main import app
from wieldy.apps.cli.recipe import Recipe
from wieldy.sandbox import probe

sys.path.insert(0, str(Path(__file__).parents[1] / "connect" / "rest"))  # the tests have no packages
from rest_documents import body, document, operation, query
from rest_recorder import Recorder, as_json, recording

CANARY = "canary-1a2b3c4d"


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with recording() as running:
        yield running


@pytest.fixture
def spec(tmp_path: Path, recorder: Recorder) -> Path:
    schema = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
    paths = {
        **operation(
            "get", "/notes", name="list_notes", summary="All notes.", parameters=[query("q", {"type": "string"})]
        ),
        **operation("post", "/new", name="add_note", **body(schema)),
        **operation("get", "/bad", name="bad", parameters=[{"$ref": "#/nothing"}]),
    }
    scheme = {"own": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    source = document(recorder.url, paths, components={"securitySchemes": scheme}, security=[{"own": []}])
    path = tmp_path / "notes.json"
    path.write_text(json.dumps(source), encoding="utf-8")
    return path


def invoke(*arguments: str, code: int = 0, **options: Any) -> Any:
    result = CliRunner().invoke(app, list(arguments), **options)
    assert result.exit_code == code, result.output
    return result


def test_tools_are_listed_with_what_they_do_and_what_they_cost(spec: Path) -> None:
    result = invoke("tools", "--openapi", str(spec))
    assert "list_notes" in result.stdout
    assert "All notes." in result.stdout
    assert "2 tools" in result.stdout
    assert "GET /bad" in result.stderr


def test_what_code_that_looks_around_would_read_is_told(spec: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "to code that looks around: " in invoke("tools", "--openapi", str(spec)).stdout
    invoke("tools", "--openapi", str(spec), "--json")
    found = json.loads(capfd.readouterr().out)["code_tokens"]
    assert found["tools"] == 2
    assert found["servers"] < found["names"] < found["stubs"]


def test_what_a_provider_makes_of_tools_is_shown(spec: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shown = invoke("tools", "--openapi", str(spec), "--dialect", "gemini-openapi").stdout
    assert '"required":["text"]' in shown
    assert "# additionalProperties: Gemini's Schema closes no object" in shown
    assert "2 tools for gemini-openapi: 0 enforced as a whole, 2 in part, 0 without a form" in shown
    invoke("tools", "--openapi", str(spec), "--dialect", "openai-strict", "--json")
    found = json.loads(capfd.readouterr().out)
    tools = {tool["name"]: tool for tool in found["tools"]}
    assert tools["list_notes"]["schema"]["properties"]["q"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert tools["add_note"]["lost"] == tools["add_note"]["refused"] == []
    assert {"pointer": "#", "keyword": "required"} in tools["add_note"]["kept"]
    assert (found["dialect"], found["whole"], found["without_form"]) == ("openai-strict", 2, 0)


def test_a_dialect_that_is_none_is_told_before_anything_is_read() -> None:
    result = invoke("tools", "--mcp", "no-such-program-7", "--dialect", "gemin", code=2)
    assert "Did you mean 'gemini'?" in result.output


def test_machines_are_told_everything(spec: Path, recorder: Recorder, capfd: pytest.CaptureFixture[str]) -> None:
    invoke("tools", "--openapi", str(spec), "--json", "--curl")
    found = json.loads(capfd.readouterr().out)
    tools = {tool["name"]: tool for tool in found["tools"]}
    assert set(tools) == {"list_notes", "add_note"}
    assert (tools["add_note"]["effect"], tools["list_notes"]["effect"]) == ("unsafe", "read")
    assert tools["add_note"]["input_schema"]["required"] == ["text"]
    assert found["tokens"] == sum(tool["tokens"] for tool in found["tools"])
    assert found["diagnostics"][0]["place"] == "GET /bad"
    assert found["security_schemes"] == ["own"]
    assert tools["add_note"]["curl"].startswith(f"curl -X POST {recorder.url}/new")
    assert "X-Key: <own>" in tools["add_note"]["curl"]


def test_a_service_behind_a_url_is_fetched_and_filtered(
    spec: Path, recorder: Recorder, capfd: pytest.CaptureFixture[str]
) -> None:
    recorder.answer = lambda _: as_json(json.loads(spec.read_text(encoding="utf-8")))
    invoke("tools", "--openapi", f"{recorder.url}/spec", "--only", "add_*", "--json")
    found = json.loads(capfd.readouterr().out)
    assert [tool["name"] for tool in found["tools"]] == ["add_note"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tools"], "--openapi SPEC or --mcp"),
        (["tools", "--only", "x"], "that --openapi names"),
        (["tools", "--openapi", "nothing.json"], "No such file"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(arguments: list[str], words: str) -> None:
    assert words in " ".join(invoke(*arguments, code=2).stderr.split())


def test_a_credential_is_named_by_a_variable(spec: Path) -> None:
    missing = invoke("tools", "--openapi", str(spec), "--credential", "own=WIELDY_TEST_KEY", code=2)
    assert "WIELDY_TEST_KEY" in missing.stderr
    secret = invoke("tools", "--openapi", str(spec), "--credential", CANARY, code=2)
    assert CANARY not in secret.stderr


def test_code_may_call_the_service_and_its_key_is_in_no_record(
    spec: Path,
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if not any(tier.works for tier in probe()):
        pytest.skip("code cannot be isolated on this machine")
    monkeypatch.setenv("WIELDY_TEST_KEY", CANARY)
    recorder.answer = lambda request: as_json({"seen": request.header("x-key"), "q": request.query})
    code, journal = tmp_path / "code.py", tmp_path / "runs.db"
    code.write_text("result = await list_notes(q='a b')\nprint(result)\n", encoding="utf-8")
    arguments = ["--openapi", str(spec), "--credential", "own=WIELDY_TEST_KEY", "--journal", str(journal), "--json"]
    result = CliRunner().invoke(app, ["exec", str(code), *arguments])
    assert result.exit_code == 0, result.output
    assert "[secret own]" in json.loads(capfd.readouterr().out)["stdout"]
    assert recorder.last.header("x-key") == CANARY
    recorded = b"".join(file.read_bytes() for file in tmp_path.glob("runs.db*"))
    assert b"list_notes" in recorded
    assert CANARY.encode() not in recorded


def test_a_recipe_names_the_service_and_no_secret(spec: Path) -> None:
    service = Described(document=str(spec), credentials=("own=KEY",), only=("a*",), server="https://example.com")
    recipe = Recipe(model="local", openapi=service)
    assert Recipe.from_metadata(recipe.to_metadata()) == recipe
    hidden = Recipe(model="local", openapi=Described(document="https://example.com/spec?key=canary"))
    assert "canary" not in json.dumps(hidden.to_metadata())
    assert Recipe.from_metadata(hidden.to_metadata(), openapi=service) is not None
