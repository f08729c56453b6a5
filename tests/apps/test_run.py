"""`wieldy run` as a process of its own, against a scripted server on this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Result = subprocess.CompletedProcess[str]
ESCAPE = "\x1b"


def lines_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def assert_refused(result: Result, *words: str, code: int) -> None:
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    for word in words:
        assert word in re.sub(r"[\s│]+", " ", result.stderr)


def test_a_run_shows_its_steps_and_its_answer_and_is_recorded(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tools_file: Path
) -> None:
    server = serve([[("find_order", {"order_id": "17"})], "Order 17 is shipped."])

    shown = wieldy("run", "Where is order 17?", "--model", server.model, "--tools", tools_file)

    assert shown.returncode == 0, shown.stderr
    assert shown.stderr == ""
    assert '→ find_order(order_id="17")\n← {"order_id": "17", "status": "shipped"}  (' in shown.stdout
    assert "\n\nOrder 17 is shipped.\n\n" in shown.stdout
    assert re.search(r" · 1 call · 2 requests · 22 tokens in, 6 out · run [0-9a-f]+\n$", shown.stdout)
    assert ESCAPE not in shown.stdout

    [recorded] = lines_of(wieldy("runs", "--json"))
    assert recorded["status"] == "finished"
    assert recorded["run_id"] in shown.stdout
    whole = wieldy("show", "last").stdout
    assert "Where is order 17?" in whole
    assert '→ find_order(order_id="17")' in whole
    assert "Order 17 is shipped." in whole


def test_json_is_one_event_per_line_and_what_tools_print_goes_elsewhere(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tools_file: Path
) -> None:
    server = serve([[("refund", {"order_id": "17"}), ("find_order", {"order_id": "0"})], "Done."])

    result = wieldy("run", "Refund", "--model", server.model, "--tools", tools_file, "--yes", "--json")

    assert result.returncode == 0, result.stderr
    assert result.stderr == "refund was run\n"
    events = [event for event in lines_of(result) if event["type"] != "call_delta"]
    types = [event["type"] for event in events]
    assert types[:4] + types[8:] == ["started", "turn", "call", "call", "turn", "text", "text", "finished"]
    assert sorted(types[4:8]) == ["result", "result", "running", "running"]
    calls = {event["id"]: event for event in events if event["type"] == "call"}
    results = {event["tool_call_id"]: event for event in events if event["type"] == "result"}
    assert calls.keys() == results.keys()
    by_name = {event["name"]: event for event in results.values()}
    assert by_name["refund"]["content"] == "refunded 17"
    assert by_name["refund"]["is_error"] is False
    assert by_name["refund"]["duration_s"] > 0
    assert by_name["find_order"]["is_error"] is True
    assert by_name["find_order"]["layer"] == "tool"
    finished = events[-1]
    assert finished["text"] == "Done."
    assert finished["stop_reason"] == "answered"
    assert finished["usage"] == {
        "input_tokens": 22,
        "cached_input_tokens": 0,
        "output_tokens": 6,
        "requests": 2,
        "calls": 2,
        "cost_usd": None,
    }


def test_the_instructions_and_the_prompt_reach_the_model(
    wieldy: Callable[..., Result], serve: Callable[..., Any]
) -> None:
    server = serve(["Ja."])

    assert wieldy("run", "Ist das gut?", "--model", server.model, "--instructions", "Kurz.").returncode == 0

    assert [message["content"] for message in server.requests[0]["messages"]] == ["Kurz.", "Ist das gut?"]


@pytest.mark.parametrize(
    ("actions", "acting", "answering"),
    [
        ("react", 'Action: find_order\nAction Input: {"order_id": "17"}', "Final Answer: Shipped."),
        ("json", '{"name": "find_order", "arguments": {"order_id": "17"}}', "Shipped."),
    ],
)
def test_a_model_may_act_in_text(
    wieldy: Callable[..., Result],
    serve: Callable[..., Any],
    tools_file: Path,
    actions: str,
    acting: str,
    answering: str,
) -> None:
    server = serve([acting, answering])

    result = wieldy("run", "Where?", "--model", server.model, "--tools", tools_file, "--actions", actions, "--json")

    assert result.returncode == 0, result.stderr
    [call] = [event for event in lines_of(result) if event["type"] == "call"]
    assert (call["name"], call["arguments"]) == ("find_order", {"order_id": "17"})
    assert lines_of(result)[-1]["text"] == "Shipped."


def test_where_nobody_can_be_asked_a_call_that_changes_something_is_denied(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tools_file: Path
) -> None:
    server = serve([[("refund", {"order_id": "17"})], "I could not."])

    result = wieldy("run", "Refund", "--model", server.model, "--tools", tools_file, "--json")

    assert result.returncode == 0
    assert "refund was run" not in result.stderr
    assert 'Denied refund(order_id="17"): its effect is declared as keyed' in result.stderr
    assert "--yes" in result.stderr
    [denied] = [event for event in lines_of(result) if event["type"] == "result"]
    assert denied["is_error"] is True
    assert denied["layer"] == "policy"
    assert "a person would have to consent" in denied["content"]


@pytest.mark.parametrize(
    ("answers", "content"), [(["y"], "refunded 17"), (["what", "n"], "not run"), ([""], "not run")]
)
def test_at_a_terminal_one_is_asked_before_a_call_that_changes_something(
    at_terminal: Callable[..., Any],
    serve: Callable[..., Any],
    tools_file: Path,
    answers: list[str],
    content: str,
) -> None:
    server = serve([[("refund", {"order_id": "17"})], "The end."])
    session = at_terminal("run", "Refund", "--model", server.model, "--tools", tools_file)

    session.wait_for('refund(order_id="17")')
    for number, answer in enumerate(answers, start=1):
        session.wait_for("Run it? [y/N] ", times=number)
        session.type(f"{answer}\n")

    assert session.end() == 0
    assert "The end." in session.output
    assert content in server.requests[1]["messages"][-1]["content"]


def test_a_call_that_only_reads_is_not_asked_about(
    at_terminal: Callable[..., Any], serve: Callable[..., Any], tools_file: Path
) -> None:
    server = serve([[("find_order", {"order_id": "17"})], "Shipped."])
    session = at_terminal("run", "Where?", "--model", server.model, "--tools", tools_file)

    assert session.end() == 0
    assert "[y/N]" not in session.output
    assert ESCAPE in session.output


def test_terminals_without_colours_are_respected(at_terminal: Callable[..., Any], serve: Callable[..., Any]) -> None:
    server = serve(["Yes.", "Yes."])

    dumb = at_terminal("run", "Is it?", "--model", server.model, TERM="dumb")
    assert dumb.end() == 0
    assert ESCAPE not in dumb.output

    grey = at_terminal("run", "Is it?", "--model", server.model, NO_COLOR="1")
    assert grey.end() == 0
    assert not re.search(r"\x1b\[[\d;]*3[0-8]", grey.output)


def test_a_limit_is_a_named_outcome_and_no_failure(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tools_file: Path
) -> None:
    server = serve([[("find_order", {"order_id": "17"})], "As far as I know."])

    result = wieldy("run", "Where?", "--model", server.model, "--tools", tools_file, "--turns", "1", "--json")

    assert result.returncode == 0
    assert {"type": "limit", "reason": "turn_limit"} in lines_of(result)
    assert lines_of(result)[-1]["stop_reason"] == "turn_limit"


def test_a_model_that_fails_ends_the_run_with_a_sentence_and_the_runs_id(
    wieldy: Callable[..., Result], serve: Callable[..., Any]
) -> None:
    server = serve([401, 404])

    for_people = wieldy("run", "Hello", "--model", server.model, "--journal", "my.db")
    assert_refused(for_people, "key", "wieldy show", "--journal my.db", code=1)

    for_machines = wieldy("run", "Hello", "--model", server.model, "--json")
    assert_refused(for_machines, code=1)
    last = lines_of(for_machines)[-1]
    assert (last["type"], last["error"]) == ("error", "RequestRefusedError")
    assert last["run_id"] in for_machines.stderr


def test_wrong_usage_ends_with_2_and_says_what_is_right(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:", encoding="utf-8")

    assert_refused(wieldy("run"), "Missing argument 'PROMPT'", code=2)
    assert_refused(wieldy("run", " "), "PROMPT is empty", code=2)
    assert_refused(wieldy("run", "x", "--model", "gpt"), "openai:NAME", code=2)
    assert_refused(wieldy("run", "x", "--tools", "broken.py"), "broken.py:1: invalid syntax", code=2)
    assert_refused(wieldy("run", "x", "--turns", "0"), "--turns", code=2)
    assert_refused(wieldy("run", "x", "--actions", "dance"), "'calls', 'react', 'json', 'code'", code=2)
    assert_refused(wieldy("run", "x", "--model", "http://127.0.0.1:9/v1#m", "--time", "-1"), "--time", code=2)
    assert_refused(
        wieldy("run", "x", "--model", "http://127.0.0.1:9/v1#m", "--cost", "1"), "--cost needs the price", code=2
    )
    assert_refused(wieldy("rum", "x"), "Did you mean 'run'", code=2)


def test_debug_adds_the_traceback(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0", encoding="utf-8")

    result = wieldy("--debug", "run", "x", "--tools", "broken.py")

    assert result.returncode == 2
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" in result.stderr


def test_without_model_and_network_it_says_what_to_do(wieldy: Callable[..., Result]) -> None:
    result = wieldy("run", "Hello")

    assert_refused(result, "local:PATH.gguf", "sha256", code=1)


def test_a_journal_that_is_none_is_named(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "not.db").write_text("no database", encoding="utf-8")
    server = serve(["unheard"])

    assert_refused(wieldy("run", "x", "--model", server.model, "--journal", "not.db"), "not.db", code=1)
    assert not server.requests


@pytest.mark.skipif(sys.platform == "win32", reason="Windows interrupts a process group, not a process")
@pytest.mark.parametrize(
    ("number", "inherited"),
    [(signal.SIGINT, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_IGN)],
    ids=["ctrl-c", "asked to end", "asked to end where ctrl-c is ignored"],
)
def test_an_interrupt_ends_with_130_and_names_the_run(
    environment: dict[str, str], serve: Callable[..., Any], tmp_path: Path, number: int, inherited: Any
) -> None:
    tools = tmp_path / "slow.py"
    tools.write_text(
        "import time, wieldy\n@wieldy.tool(effect='read')\ndef wait() -> str:\n    'Wait.'\n    time.sleep(600)\n",
        encoding="utf-8",
    )
    server = serve([[("wait", {})]])
    command = ["-m", "wieldy.apps.cli.main", "run", "Wait", "--model", server.model, "--tools", str(tools), "--json"]
    with subprocess.Popen(
        [sys.executable, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        encoding="utf-8",
        # Tests may be run where interrupts are ignored, as in the background of a shell script; that is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, inherited),  # noqa: PLW1509  (one call, no lock)
    ) as process:
        try:
            assert process.stdout is not None
            events = [json.loads(process.stdout.readline())]
            while events[-1]["type"] != "running":
                events.append(json.loads(process.stdout.readline()))
            process.send_signal(number)
            rest, errors = process.communicate(timeout=30)
        finally:
            process.kill()

    run_id = events[0]["run_id"]
    assert process.returncode == 130
    assert errors == (
        f"Interrupted run {run_id}; it is recorded.\n"
        f"See what happened: wieldy show {run_id}\n"
        f"Go on with it: wieldy resume {run_id}\n"
    )
    assert json.loads(rest) == {
        "type": "error",
        "error": "Interrupted",
        "message": "The command was interrupted.",
        "run_id": run_id,
    }


LEAVING = """
import asyncio, sys
from wieldy import tool

@tool(effect="read")
def leave() -> str:
    "Leave from a thread."
    sys.exit(7)

@tool(effect="read")
async def leave_task() -> str:
    "Leave from a task of its own."
    async def out():
        sys.exit(7)
    await asyncio.gather(out())

@tool(effect="read")
async def interrupt() -> str:
    "Do what Ctrl-C does while the loop is blocked."
    raise KeyboardInterrupt

@tool(effect="read")
async def litter() -> str:
    "Leave a failing task behind."
    async def fail():
        raise ValueError("nobody waits for me")
    asyncio.create_task(fail())
    await asyncio.sleep(0)
    return "littered"
"""


@pytest.mark.parametrize(
    ("tool", "code", "last", "words"),
    [
        ("leave", 0, "finished", ""),
        ("leave_task", 1, "error", "Error: A task that a tool started raised SystemExit"),
        ("interrupt", 130, "error", "Interrupted run "),
        ("litter", 0, "finished", "Something that a tool left running failed: ValueError: nobody waits for me\n"),
    ],
)
def test_a_tool_that_leaves_ends_nothing_with_a_traceback(
    wieldy: Callable[..., Result],
    serve: Callable[..., Any],
    tmp_path: Path,
    tool: str,
    code: int,
    last: str,
    words: str,
) -> None:
    (tmp_path / "leaving.py").write_text(LEAVING, encoding="utf-8")
    server = serve([[(tool, {})], "Done."])

    result = wieldy("run", "Go", "--model", server.model, "--tools", "leaving.py", "--json")

    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert lines_of(result)[-1]["type"] == last
    assert result.stderr.startswith(words)


CRASHING = """
from wieldy import ToolError, tool

@tool(effect="read")
def crash() -> str:
    "Crash."
    raise ValueError("the \\x1b]0;owned\\x07 value")

@tool(effect="read")
def refuse() -> str:
    "Refuse."
    raise ToolError("Not today.")
"""


def test_after_a_crash_of_a_tool_the_last_line_says_where_its_traceback_is(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING, encoding="utf-8")
    server = serve([[("crash", {}), ("refuse", {}), ("crash", {})], "It does not work."])

    result = wieldy("run", "Go", "--model", server.model, "--tools", "crashing.py", "--journal", "my.db")

    assert result.returncode == 0
    told = re.fullmatch(
        r"The code of `crash` crashed; see the traceback: wieldy (show \w+ --journal my.db)\n", result.stderr
    )
    assert told, result.stderr
    shown = wieldy(*told[1].split()).stdout
    assert r'raise ValueError("the \x1b]0;owned\x07 value")' in shown
    assert f'{tmp_path / "crashing.py"}", line 7, in crash' in shown
    assert not set("\x1b\x07") & set(shown)


def test_a_tool_that_refuses_has_no_traceback_to_point_at(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING, encoding="utf-8")
    server = serve([[("refuse", {})], "Not today, then."])

    result = wieldy("run", "Go", "--model", server.model, "--tools", "crashing.py")

    assert result.stderr == ""


def test_a_reader_that_goes_away_ends_the_run_quietly(
    environment: dict[str, str], serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve(["An answer."])
    with subprocess.Popen(
        [sys.executable, "-m", "wieldy.apps.cli.main", "run", "Hello", "--model", server.model],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""

    assert process.returncode == 141


def test_untrusted_text_cannot_drive_the_terminal(
    wieldy: Callable[..., Result], serve: Callable[..., Any], tools_file: Path
) -> None:
    hostile = "\x1b]0;owned\x07[red]x[/red]\u202e"
    server = serve([[("find_order", {"order_id": hostile})], hostile])

    result = wieldy("run", "Where?", "--model", server.model, "--tools", tools_file, FORCE_COLOR="1")

    assert result.returncode == 0
    assert not set("\x07\u202e") & set(result.stdout)
    assert "\x1b]0" not in result.stdout
    assert "[red]x[/red]" in result.stdout
