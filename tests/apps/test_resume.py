"""`wieldy run --pause`, `approve`, `deny` and `resume`: what rests, was stopped or died goes on in a new process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wieldy import Agent, MemoryJournal
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal, kinds
from wieldy.testing import ScriptedModel, text

Result = subprocess.CompletedProcess[str]

COUNTING = '''
import os, time
from pathlib import Path
from wieldy import Context, tool

FOLDER = Path(__file__).parent

def note(name, words):
    with (FOLDER / name).open("a") as file:
        file.write(words + "\\n")

@tool(effect="keyed")
def refund(order_id: str, ctx: Context) -> str:
    """Refund an order.

    Args:
        order_id: The order's number.
    """
    note("refunds", f"{order_id} {ctx.attempt} {ctx.idempotency_key}")
    while (FOLDER / "hang").exists():
        time.sleep(0.01)
    return f"refunded {order_id}"

@tool(effect="unsafe")
def charge(order_id: str) -> str:
    """Charge for an order.

    Args:
        order_id: The order's number.
    """
    note("charges", order_id)
    while (FOLDER / "hang").exists():
        time.sleep(0.01)
    return f"charged {order_id}"

@tool(effect="read")
def find_order(order_id: str) -> str:
    """Find an order.

    Args:
        order_id: The order's number.
    """
    return f"order {order_id} is shipped"
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "counting shop.py"
    file.write_text(COUNTING, encoding="utf-8")
    return file


def lines_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def noted(shop: Path, name: str) -> list[str]:
    file = shop.parent / name
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


REFUND = [("refund", {"order_id": "17"})]


def test_a_run_that_may_pause_rests_and_names_the_commands_that_let_it_go_on(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([[("find_order", {"order_id": "17"}), *REFUND], "Refunded."])

    rested = wieldy("run", "Refund", "--model", server.model, "--tools", shop.name, "--pause", "--journal", "my.db")

    assert rested.returncode == 0
    assert '? refund(order_id="17") waits for a person\'s decision: its effect is declared as keyed\n' in rested.stdout
    assert "← order 17 is shipped" in rested.stdout  # what did not have to wait ran
    assert "\nrests because a person must decide on a call · " in rested.stdout
    assert not noted(shop, "refunds")
    lines = rested.stderr.splitlines()
    assert lines[0] == "The run rests until a person has decided:"
    approve, deny, resume = (re.search(r"wieldy (.*)", line) for line in lines[1:])
    assert approve
    assert deny
    assert resume

    listed = json.loads(wieldy("runs", "--json", "--journal", "my.db").stdout)
    assert (listed["status"], listed["waiting"]) == ("waiting", [approve[1].split()[2]])
    assert 'refund(order_id="17")' in wieldy(*approve[1].split(), "--by", "alice").stdout
    gone_on = wieldy(*resume[1].split())

    assert gone_on.returncode == 0, gone_on.stderr
    assert gone_on.stderr == ""
    assert '→ refund(order_id="17")\n← refunded 17' in gone_on.stdout
    assert "\n\nRefunded.\n\n" in gone_on.stdout
    assert " · 2 calls · 2 requests · " in gone_on.stdout
    assert len(noted(shop, "refunds")) == 1
    shown = wieldy("show", "last", "--journal", "my.db").stdout
    assert "approved by alice, " in shown
    assert "\nrested " in shown
    assert "\nresumed " in shown


def test_machines_read_what_waits_and_each_call_again_when_the_run_goes_on(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND, "Refunded."])

    rested = lines_of(wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause", "--json"))

    [waiting] = [event for event in rested if event["type"] == "waiting"]
    last = rested[-1]
    assert (last["type"], last["stop_reason"], last["text"]) == ("finished", "waiting_for_approval", "")
    assert last["waiting"] == [{key: value for key, value in waiting.items() if key not in ("type", "id")}]
    [approved] = lines_of(wieldy("approve", "last", waiting["id"], "--json", LOGNAME="alice"))
    assert (approved["is_granted"], approved["digest"], approved["left"]) == (True, waiting["digest"], 0)
    assert approved["by"] == "alice"

    events = lines_of(wieldy("resume", approved["resume"], "--json"))

    assert [event["type"] for event in events if event["type"] != "text"] == [
        "started",
        "call",
        "running",
        "result",
        "turn",
        "finished",
    ]
    assert events[1]["arguments"] == {"order_id": "17"}
    assert events[-1]["text"] == "Refunded."
    assert events[-1]["usage"]["requests"] == 2


def test_the_model_is_told_why_a_person_said_no(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND, "So be it."])
    rested = lines_of(wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause", "--json"))

    denied = wieldy(
        "deny", "last", rested[-1]["waiting"][0]["call_id"], "--reason", "the shop is closed", "--by", "bob"
    )
    gone_on = wieldy("resume", "last")

    assert denied.stdout.startswith("Denied by bob: the shop is closed\n")
    assert gone_on.returncode == 0, gone_on.stderr
    told = server.requests[-1]["messages"][-1]["content"]
    assert "bob" in told
    assert "the shop is closed" in told
    assert not noted(shop, "refunds")


def test_an_undecided_run_that_may_pause_rests_again(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND])
    wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause")

    again = wieldy("resume", "last")

    assert again.returncode == 0
    assert "rests because a person must decide" in again.stdout
    assert "wieldy approve " in again.stderr
    assert not noted(shop, "refunds")


def test_yes_lets_a_run_that_rests_go_on_without_being_asked(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND, "Refunded."])
    wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause")

    gone_on = wieldy("resume", "last", "--yes")

    assert gone_on.returncode == 0, gone_on.stderr
    assert len(noted(shop, "refunds")) == 1


def test_at_a_terminal_one_is_asked_when_a_run_that_rests_is_resumed(
    wieldy: Callable[..., Result], at_terminal: Callable[..., Any], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND, "Refunded."])
    wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause")

    session = at_terminal("resume", "last", LOGNAME="alice")
    session.wait_for("Run it? [y/N] ")
    session.type("y\n")

    assert session.end() == 0
    assert session.output.count("(its effect is declared as keyed)") == 1
    assert "refunded 17" in session.output
    entries = lines_of(wieldy("show", "last", "--json"))
    [approval] = [entry["data"] for entry in entries if entry["kind"] == "approval"]
    assert (approval["is_granted"], approval["by"]) == (True, "alice")


def test_pause_asks_nobody_also_at_a_terminal(
    at_terminal: Callable[..., Any], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND])

    session = at_terminal("run", "Refund", "--model", server.model, "--tools", shop, "--pause")

    assert session.end() == 0
    assert "[y/N]" not in session.output
    assert "waits for a person's decision" in session.output


def test_what_nobody_could_be_asked_about_is_recorded_as_denied(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND, "I could not."])

    wieldy("run", "Refund", "--model", server.model, "--tools", shop)

    assert "denied by the command line: a person would have to consent" in wieldy("show", "last").stdout


def test_a_finished_run_tells_its_answer_again_and_needs_nothing_for_it(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([[("find_order", {"order_id": "17"})], "Shipped."])
    first = lines_of(wieldy("run", "Where?", "--model", server.model, "--tools", shop, "--json"))
    shop.unlink()

    again = wieldy("resume", "last")
    for_machines = wieldy("resume", "last", "--json")

    assert again.returncode == for_machines.returncode == 0
    assert again.stdout.startswith("Shipped.\n\nthe model answered · 1 call · 2 requests · ")
    assert "was finished already" in again.stderr
    assert lines_of(for_machines) == [first[-1]]
    assert len(server.requests) == 2


def test_a_tools_file_that_is_gone_is_named(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND, "Refunded."])
    wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause")
    moved = shop.rename(shop.with_name("moved.py"))

    lost = wieldy("resume", "last", "--json")
    found = wieldy("resume", "last", "--tools", moved, "--yes")

    assert lost.returncode == 2
    assert str(shop) in lost.stderr.replace("\n", " ")
    assert "--tools" in lost.stderr
    assert [event["error"] for event in lines_of(lost)] == ["UsageError"]
    assert found.returncode == 0, found.stderr


def test_a_tool_that_is_not_there_any_more_is_told_of(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path
) -> None:
    server = serve([REFUND, "There is none."])
    wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause")
    shop.write_text('def other() -> str:\n    "Other."\n    return ""\n', encoding="utf-8")

    gone_on = wieldy("resume", "last")

    assert gone_on.returncode == 0, gone_on.stderr
    assert "`refund`" in gone_on.stderr
    assert "There is no tool `refund`" in server.requests[-1]["messages"][-1]["content"]


def test_a_run_of_another_program_goes_on_with_the_model_and_the_tools_that_are_named(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path, tmp_path: Path
) -> None:
    journal = MemoryJournal()
    agent = Agent(ScriptedModel([[text("Never heard.")]]), journal=journal)
    run_id = agent.run_sync("Hello").run_id
    with SqliteJournal(tmp_path / "my.db") as file:  # the same run, as far as its first turn
        for entry in journal.read(run_id):
            if entry.kind not in (kinds.REPLY, kinds.RUN_FINISHED):
                file.append(run_id, Draft(entry.kind, entry.data))
    server = serve(["Hello to you."])

    unknown = wieldy("resume", "last", "--journal", "my.db")
    named = wieldy("resume", "last", "--journal", "my.db", "--model", server.model)

    assert unknown.returncode == 2
    assert "--model and --tools" in unknown.stderr.replace("\n", " ")
    assert named.returncode == 0, named.stderr
    assert "Hello to you." in named.stdout


def test_a_run_that_somebody_is_at_work_on_is_left_alone(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path, tmp_path: Path
) -> None:
    server = serve([REFUND])
    wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause", "--journal", "my.db")
    with SqliteJournal(tmp_path / "my.db") as journal:
        [run_id] = journal.run_ids()
        lease = journal.lease(run_id)
        busy = wieldy("resume", "last", "--journal", "my.db", "--json")
        lease.release()

    assert busy.returncode == 1
    assert f"process {os.getpid()}" in busy.stderr.replace("\n", " ")
    assert lines_of(busy)[-1]["error"] == "RunBusyError"
    assert json.loads(wieldy("runs", "--journal", "my.db", "--json").stdout)["resumed"] == 0


def test_at_a_terminal_a_call_says_how_far_it_is(
    at_terminal: Callable[..., Any], serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(
        "from wieldy import Context, tool\n"
        "@tool(effect='read')\n"
        "def find(ctx: Context) -> str:\n"
        "    'Find.'\n"
        "    for fraction in (None, 2.0, 0.5):\n"
        "        ctx.progress('half \\x1b]0;owned\\x07 way', fraction=fraction)\n"
        "    return 'found'\n",
        encoding="utf-8",
    )
    server = serve([[("find", {})], "Found."])

    session = at_terminal("run", "Find it", "--model", server.model, "--tools", "slow.py")

    assert session.end() == 0
    assert "find 50% half" in session.output
    assert "owned" not in session.output
    assert "Found." in session.output


@pytest.fixture
def killed(environment: dict[str, str], serve: Callable[..., Any], shop: Path, tmp_path: Path) -> Callable[..., Any]:
    """Runs the command until a tool's code runs, and kills it."""

    def run(tool: str, *then: Any) -> Any:
        (tmp_path / "hang").touch()
        server = serve([[(tool, {"order_id": "17"}), ("find_order", {"order_id": "17"})], *then, "Done."])
        words = ("run", "Do it", "--model", server.model, "--tools", str(shop), "--yes", "--json")
        with subprocess.Popen(
            [sys.executable, "-m", "wieldy.apps.cli.main", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=tmp_path,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None
            while json.loads(process.stdout.readline())["type"] != "running":
                pass
            while not noted(shop, f"{tool}s"):
                pass
            process.send_signal(signal.SIGKILL)
        (tmp_path / "hang").unlink()
        return server

    return run


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_keyed_call_of_a_process_that_died_runs_again_with_the_same_key(
    wieldy: Callable[..., Result], killed: Callable[..., Any], shop: Path
) -> None:
    killed("refund")

    [run] = lines_of(wieldy("runs", "--json"))
    assert run["status"] == "died"
    assert "status   died: " in wieldy("show", "last").stdout
    gone_on = wieldy("resume", "last")

    assert gone_on.returncode == 0, gone_on.stderr
    assert '→ refund(order_id="17")  (attempt 2)\n' in gone_on.stdout
    first, second = (line.split() for line in noted(shop, "refunds"))
    assert (first[1], second[1]) == ("1", "2")
    assert first[2] == second[2]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_an_unsafe_call_of_a_process_that_died_is_not_repeated_and_the_model_is_told(
    wieldy: Callable[..., Result], killed: Callable[..., Any], shop: Path
) -> None:
    server = killed("charge")

    gone_on = wieldy("resume", "last")

    assert gone_on.returncode == 0, gone_on.stderr
    assert noted(shop, "charges") == ["17"]
    told = [message["content"] for message in server.requests[-1]["messages"] if message["role"] == "tool"]
    assert "outcome unknown" in told[0]
    assert told[1] == "order 17 is shipped"
    assert "its outcome is unknown" in wieldy("show", "last").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_yes_is_no_consent_to_repeat_what_may_have_been_done(
    wieldy: Callable[..., Result], killed: Callable[..., Any], shop: Path
) -> None:
    server = killed("charge", [("charge", {"order_id": "17"})])

    gone_on = wieldy("resume", "last", "--yes")

    assert gone_on.returncode == 0, gone_on.stderr
    assert noted(shop, "charges") == ["17"]
    assert "its outcome is unknown" in gone_on.stderr.replace("\n", " ")
    assert "--yes" not in gone_on.stderr  # which was given, and is not enough
    assert "a person would have to consent" in server.requests[-1]["messages"][-1]["content"]


def test_a_database_holds_runs_as_a_file_does_and_its_password_is_not_shown(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path, postgres: Any
) -> None:
    import psycopg

    with psycopg.connect(
        postgres.url, autocommit=True
    ) as connection:  # the other tests write to the server's first one
        connection.execute("CREATE DATABASE command_line")
    server = serve([REFUND, "Refunded."])
    database = ("--journal", postgres.url.rpartition("/")[0] + "/command_line")
    password = postgres.url.partition("@")[0].rpartition(":")[2]

    rested = wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause", *database)
    commands = (("approve", "last", "c1"), ("resume", "last"), ("runs",), ("verify",))
    told = [rested, *(wieldy(*command, *database) for command in commands)]

    assert [result.returncode for result in told] == [0] * 5, [result.stderr for result in told]
    assert "refunded 17" in told[2].stdout
    assert not any(password in result.stdout + result.stderr for result in told)
    assert "--journal postgresql://wieldy@127.0.0.1:" in rested.stderr
    unreachable = wieldy("runs", "--journal", "postgresql://me:secret@127.0.0.1:9/x", "--json")
    assert unreachable.returncode == 1
    assert "secret" not in unreachable.stderr + unreachable.stdout


def test_a_record_that_was_changed_is_not_resumed(
    wieldy: Callable[..., Result], serve: Callable[..., Any], shop: Path, tmp_path: Path
) -> None:
    import sqlite3

    server = serve([REFUND])
    wieldy("run", "Refund", "--model", server.model, "--tools", shop, "--pause", "--journal", "my.db")
    database = sqlite3.connect(tmp_path / "my.db", isolation_level=None)
    database.execute("DROP TRIGGER entries_are_never_changed")
    database.execute("UPDATE entries SET data = CAST(replace(data, '17', '99') AS BLOB) WHERE kind = 'call_waiting'")
    database.close()

    for command in (("resume", "last"), ("approve", "last", "c1")):
        refused = wieldy(*command, "--journal", "my.db")
        assert refused.returncode == 1, command
        assert "tampered with" in refused.stderr.replace("\n", " ")
    assert not noted(shop, "refunds")
