"""`wieldy runs` and `wieldy show` over journals that hold every kind of ending."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal, kinds
from wieldy.run.records import message_to_json, result_to_json

Result = subprocess.CompletedProcess[str]
HOSTILE = "\x1b]0;owned\x07[red]x[/red]\u202e"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Three runs: one finished, one whose process died in a call, one whose model failed."""
    file = tmp_path / "runs.db"
    with SqliteJournal(file, clock=iter(range(1_790_000_000, 1_790_001_000)).__next__) as journal:
        _finished(journal)
        _died(journal)
        _failed(journal)
    return file


def _write(journal: SqliteJournal, run_id: str, kind: str, data: JsonObject) -> None:
    journal.append(run_id, Draft(kind, data))


def _start(journal: SqliteJournal, run_id: str, prompt: str, *calls: ToolCall | InvalidToolCall) -> None:
    messages = [message_to_json(Message.system("Be brief.")), message_to_json(Message.user(prompt))]
    head: JsonObject = {"model": "local:small", "messages": [*messages], "tools": [], "limits": {}}
    _write(journal, run_id, kinds.RUN_STARTED, head)
    _write(journal, run_id, kinds.TURN_STARTED, {"turn": 1, "tool_choice": "auto", "max_output_tokens": None})
    if calls:
        _reply(journal, run_id, Message.assistant("Let me see.", calls, reasoning="Hm."))


def _reply(journal: SqliteJournal, run_id: str, message: Message) -> None:
    usage: JsonObject = {"input_tokens": 100, "output_tokens": 10, "requests": 1}
    reply: JsonObject = {"turn": 1, "message": message_to_json(message), "usage": usage, "finish": "stop"}
    _write(journal, run_id, kinds.REPLY, reply)


def _started(journal: SqliteJournal, run_id: str, call: ToolCall) -> None:
    started: JsonObject = {
        "call_id": call.id,
        "tool_name": call.name,
        "attempt": 1,
        "effect": "keyed",
        "arguments": call.arguments,
        "repairs": ["`amount`: the text became a number"],
        "idempotency_key": "k" * 32,
    }
    _write(journal, run_id, kinds.CALL_STARTED, started)


def _finished(journal: SqliteJournal) -> None:
    good = ToolCall(id="c1", name="refund", arguments={"order_id": "17", "amount": 5})
    bad = InvalidToolCall(id="c2", name="refund", text='{"order', error="cut off")
    _start(journal, "aaaa000011112222", f"Refund order 17 {HOSTILE}", good, bad)
    _started(journal, "aaaa000011112222", good)
    result = ToolResult(tool_call_id="c1", content=f"refunded\n{HOSTILE}")
    failed = ToolResult(tool_call_id="c2", content="The arguments could not be read.", is_error=True, layer="model")
    data: JsonObject = {"result": result_to_json(result), "duration_s": 0.012, "whole": "x" * 20_000}
    _write(journal, "aaaa000011112222", kinds.CALL_FINISHED, data)
    data = {"result": result_to_json(failed), "duration_s": 0.0, "detail": "the operator's detail"}
    _write(journal, "aaaa000011112222", kinds.CALL_FINISHED, data)
    _reply(journal, "aaaa000011112222", Message.assistant("Refunded."))
    _write(journal, "aaaa000011112222", kinds.RUN_FINISHED, {"stop_reason": "answered"})


def _died(journal: SqliteJournal) -> None:
    call = ToolCall(id="c1", name="charge", arguments={})
    _start(journal, "bbbb000011112222", "Charge", call)
    _started(journal, "bbbb000011112222", call)


def _failed(journal: SqliteJournal) -> None:
    _start(journal, "bbcc000011112222", "Hello")
    error: JsonObject = {"error": "ModelUnreachableError", "message": f"Nothing listens. {HOSTILE}", "detail": "trace"}
    _write(journal, "bbcc000011112222", kinds.RUN_FAILED, error)


def test_runs_lists_the_newest_first_for_machines(wieldy: Callable[..., Result], journal: Path) -> None:
    runs = [json.loads(line) for line in wieldy("runs", "--journal", journal, "--json").stdout.splitlines()]

    assert [(run["run_id"][:4], run["status"], run["calls"]) for run in runs] == [
        ("bbcc", "failed", 0),
        ("bbbb", "died", 1),
        ("aaaa", "finished", 2),
    ]
    assert runs[2]["prompt"] == f"Refund order 17 {HOSTILE}"
    assert runs[0]["error"].startswith("ModelUnreachableError: Nothing listens.")
    assert len(wieldy("runs", "--journal", journal, "--json", "--limit", "1").stdout.splitlines()) == 1


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_tables_fit_the_terminal(wieldy: Callable[..., Result], journal: Path, columns: int) -> None:
    result = wieldy("runs", "--journal", journal, COLUMNS=str(columns))

    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= columns
    assert ("local:small" in result.stdout) == (columns == 120)
    assert not set("\x1b\x07\u202e") & set(result.stdout)


def test_on_a_pipe_a_line_has_everything(wieldy: Callable[..., Result], journal: Path) -> None:
    line = wieldy("runs", "--journal", journal).stdout.splitlines()[3]

    for part in ("aaaa000011112222", "finished", "local:small", "Refund order 17"):
        assert part in line


def test_show_has_all_of_a_run(wieldy: Callable[..., Result], journal: Path) -> None:
    result = wieldy("show", "aa", "--journal", journal)

    assert result.returncode == 0, result.stderr
    for part in (
        "status   finished: the model answered",
        "system\n  Be brief.\n",
        "user\n  Refund order 17 ",
        "assistant\n  Hm.\n  Let me see.\n",
        '→ refund(order_id="17", amount=5)\n  repaired: `amount`: the text became a number\n',
        "← refunded\n  [red]x[/red]\\u202e\n",
        "12 ms · effect keyed · shortened for the model; all 20,000 characters with --json\n",
        '→ refund({"order)\n✗ The arguments could not be read.\n  did not run · failure layer model\n',
        "the operator's detail",
        "assistant\n  Refunded.\n",
    ):
        assert part in result.stdout
    assert not set("\x1b\x07\u202e") & set(result.stdout)


def test_show_says_that_an_outcome_is_not_known(wieldy: Callable[..., Result], journal: Path) -> None:
    shown = wieldy("show", "bbbb", "--journal", journal).stdout

    assert "status   died: its process ended without another word" in shown
    assert ", no outcome is recorded" in shown


def test_show_says_why_a_run_failed(wieldy: Callable[..., Result], journal: Path) -> None:
    shown = wieldy("show", "last", "--journal", journal).stdout

    assert "✗ ModelUnreachableError: Nothing listens." in shown
    assert not set("\x1b\x07\u202e") & set(shown)


def test_show_gives_machines_the_entries_as_they_are(wieldy: Callable[..., Result], journal: Path) -> None:
    entries = [json.loads(line) for line in wieldy("show", "aaaa", "--journal", journal, "--json").stdout.splitlines()]

    assert [entry["sequence"] for entry in entries] == list(range(len(entries)))
    assert entries[0]["kind"] == "run_started"
    assert {"run_id", "sequence", "kind", "time", "data", "digest"} == entries[0].keys()


@pytest.mark.parametrize(("run", "words"), [("bb", "2 runs begin with 'bb'"), ("zz", "No run's id begins with 'zz'")])
def test_show_refuses_a_run_that_is_not_clear(
    wieldy: Callable[..., Result], journal: Path, run: str, words: str
) -> None:
    result = wieldy("show", run, "--journal", journal)

    assert result.returncode == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_reading_changes_and_creates_nothing(wieldy: Callable[..., Result], journal: Path, tmp_path: Path) -> None:
    before = journal.read_bytes()
    files = _databases(tmp_path)

    assert wieldy("runs").stdout == "No run is recorded yet. Start one with `wieldy run`.\n"
    assert wieldy("runs", "--json").stdout == ""
    assert wieldy("show", "last").returncode == 2
    assert wieldy("deny", "last", "c1").returncode == 2
    assert wieldy("resume", "last").returncode == 2
    assert wieldy("verify").stdout == "No run is recorded yet.\n"
    for command in (("runs",), ("approve", "last", "c1")):
        assert wieldy(*command, "--journal", "missing.db").returncode == 2
    assert wieldy("verify", "--journal", journal).returncode == 0
    assert wieldy("runs", "--journal", journal).returncode == 0

    assert journal.read_bytes() == before
    assert _databases(tmp_path) == files


def _databases(folder: Path) -> set[Path]:
    # SQLite keeps two files of its own beside a database in this mode, also for those who only read.
    return {file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(("-wal", "-shm"))}


def test_a_file_that_is_no_journal_is_named(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("not a journal", encoding="utf-8")

    result = wieldy("runs", "--journal", "notes.db")

    assert result.returncode == 1
    assert "notes.db is not a journal" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("runs", "--journal", "notes.db"), 1, "JournalError"),
        (("show", "last", "--journal", "notes.db"), 1, "JournalError"),
        (("show", "last", "--journal", "missing.db"), 2, "UsageError"),
    ],
)
def test_machines_are_told_in_one_object_why_there_is_nothing(
    wieldy: Callable[..., Result], tmp_path: Path, arguments: tuple[str, ...], code: int, error: str
) -> None:
    (tmp_path / "notes.db").write_text("not a journal", encoding="utf-8")

    result = wieldy(*arguments, "--json")

    failure = json.loads(result.stdout)
    assert result.returncode == code
    assert (failure["type"], failure["error"]) == ("error", error)
    assert arguments[-1] in failure["message"]
    assert failure["message"] in result.stderr.replace("\n", " ")


def test_one_run_that_cannot_be_read_does_not_hide_the_others(wieldy: Callable[..., Result], journal: Path) -> None:
    with SqliteJournal(journal) as opened:
        _write(opened, "dddd000011112222", kinds.REPLY, {"nonsense": True})

    result = wieldy("runs", "--journal", journal)

    assert result.returncode == 0
    assert "unreadable" in result.stdout
    assert "aaaa000011112222" in result.stdout
    assert wieldy("show", "dddd", "--journal", journal).returncode == 1
