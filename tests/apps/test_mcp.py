"""Servers of tools on the command line: what they give, runs with them, questions to who sits at the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

PROGRAM = Path(__file__).parents[1] / "connect" / "mcp" / "server_program.py"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A file that names a trusted server."""
    entry = {"command": sys.executable, "args": [str(PROGRAM), "stdio"], "trusted": True}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"shop": entry}}))
    return path


def test_what_a_server_gives_is_shown(wieldy: Any, config: Path) -> None:
    shown = wieldy("tools", "--mcp", config)
    assert shown.returncode == 0
    assert "shop__echo" in shown.stdout
    assert "read (declared)" in shown.stdout
    assert "unsafe (derived)" in shown.stdout
    assert "tokens in every request" in shown.stdout


def test_machines_get_one_object(wieldy: Any, config: Path) -> None:
    found = json.loads(wieldy("tools", "--mcp", config, "--json").stdout)
    tools = {tool["name"]: tool for tool in found["tools"]}
    assert tools["shop__echo"]["effect"] == "read"
    assert tools["shop__data"]["output_schema"]["required"] == ["n"]
    assert tools["shop__echo"]["input_schema"]["type"] == "object"
    assert found["tokens"] == sum(tool["tokens"] for tool in found["tools"])
    assert found["notices"] == []
    assert found["servers"][0]["calls_itself"] == "tests 1"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 2, "--mcp"),
        (("--mcp", "no-such-program-7 --x"), 2, "no-such-program-7"),
        (("--mcp", "no-such-file.json"), 2, "no-such-file.json"),
        (("--mcp", "http://127.0.0.1:9/mcp"), 1, "cannot be reached"),
    ],
)
def test_what_does_not_work_is_said_in_a_sentence(
    wieldy: Any, arguments: tuple[str, ...], status: int, said: str
) -> None:
    failed = wieldy("tools", *arguments)
    assert failed.returncode == status
    assert said in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_run_calls_tools_of_a_server_and_is_resumed_with_them(
    wieldy: Any, serve: Callable[..., Any], config: Path, tmp_path: Path
) -> None:
    model = serve([[("shop__echo", {"text": "hi"})], [("shop__count", {})], "done", "done"]).model
    journal = tmp_path / "runs.db"
    first = wieldy("run", "go", "--model", model, "--mcp", config, "--journal", journal, "--pause", "--json", stdin="")
    events = [json.loads(line) for line in first.stdout.splitlines()]
    assert next(event for event in events if event["type"] == "result")["content"] == "hi"
    run_id = events[-1]["run_id"]
    waiting = events[-1]["waiting"][0]["call_id"]
    assert wieldy("approve", run_id, waiting, "--journal", journal).returncode == 0
    # Nothing is said of tools that are missing, though none is known before the server was reached.
    resumed = wieldy("resume", run_id, "--journal", journal)
    assert resumed.returncode == 0
    assert "these files do not hold" not in resumed.stderr
    assert "done" in resumed.stdout


def test_code_calls_tools_of_a_server(wieldy: Any, config: Path, tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text("(await shop__data())['n'] + 1")
    ran = wieldy("exec", code, "--mcp", config, "--json")
    assert json.loads(ran.stdout)["value"] == 8, ran.stdout + ran.stderr


def test_a_person_at_the_terminal_fills_in_what_a_server_asks(
    at_terminal: Callable[..., Any], serve: Callable[..., Any], config: Path
) -> None:
    model = serve([[("shop__ask", {})], "done"]).model
    session = at_terminal("run", "go", "--model", model, "--mcp", config, "--yes")
    session.wait_for("Which size?")
    session.wait_for("Answer it? [y/N]")
    session.type("y\n")
    session.wait_for("size (")
    session.type("large\n")
    session.wait_for("size (", times=2)
    session.type("41\n")
    session.wait_for("accept {'size': 41}")
    assert session.end() == 0


def test_where_nobody_sits_there_it_is_declined_and_said(wieldy: Any, serve: Callable[..., Any], config: Path) -> None:
    model = serve([[("shop__ask", {})], "done"]).model
    ran = wieldy("run", "go", "--model", model, "--mcp", config, "--yes")
    assert ran.returncode == 0
    assert "Which size?" in ran.stderr
    assert "it was declined" in ran.stderr
    assert "decline" in ran.stdout


def test_with_pause_the_question_waits_for_approval(
    wieldy: Any, serve: Callable[..., Any], config: Path, tmp_path: Path
) -> None:
    model = serve([[("shop__confirm", {})], "done"]).model
    journal = tmp_path / "runs.db"
    first = wieldy(
        *("run", "go", "--model", model, "--mcp", config, "--journal", journal, "--yes", "--pause", "--json")
    )
    (waiting,) = json.loads(first.stdout.splitlines()[-1])["waiting"]
    assert waiting["arguments"]["question"] == "Delete all?"
    assert wieldy("approve", waiting["run_id"], waiting["call_id"], "--journal", journal).returncode == 0
    resumed = wieldy("resume", "last", "--journal", journal)
    assert "accept {'sure': True, 'why': 'tidy'}" in resumed.stdout, resumed.stdout + resumed.stderr
