"""`wieldy approve` and `wieldy deny` need the journal only; what they decide on is exactly what they show."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wieldy.apps.cli.recipe import Recipe
from wieldy.connect.serving.calls import CLIENT
from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import ToolCall
from wieldy.core.messages import Message
from wieldy.core.ports import Draft
from wieldy.run.consent import Consent
from wieldy.run.journal import SqliteJournal, kinds
from wieldy.run.records import message_to_json, request_to_json

Result = subprocess.CompletedProcess[str]
RUN = "aaaa000011112222"
HOSTILE = "\x1b]0;owned\x07[red]x[/red]\u202e"
CALLS = (
    ToolCall(id="c1", name="refund", arguments={"order_id": HOSTILE, "amount": 5}),
    ToolCall(id="c2", name="charge", arguments={}),
    ToolCall(id="c3", name="find_order", arguments={}),
)


def request_of(call: ToolCall, *, expires: float | None = None) -> ApprovalRequest:
    return ApprovalRequest(
        run_id=RUN,
        call_id=call.id,
        tool_name=call.name,
        arguments=call.arguments,
        reason=f"it costs money {HOSTILE}",
        expires=expires,
    )


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A run that rests: one call waits, the time to answer about another is over, the third waits for nobody."""
    file = tmp_path / "runs.db"
    with SqliteJournal(file) as journal:
        journal.append(
            RUN,
            Draft(
                kinds.RUN_STARTED,
                {"model": "m", "messages": [message_to_json(Message.user("Go"))], "tools": [], "limits": {}},
            ),
            Draft(kinds.TURN_STARTED, {"turn": 1, "tool_choice": "auto", "max_output_tokens": None}),
            Draft(
                kinds.REPLY,
                {
                    "turn": 1,
                    "message": message_to_json(Message.assistant("", CALLS)),
                    "usage": {"input_tokens": 1, "output_tokens": 1, "requests": 1},
                    "finish": "stop",
                },
            ),
            Draft(kinds.CALL_WAITING, request_to_json(request_of(CALLS[0], expires=time.time() + 1e6))),
            Draft(kinds.CALL_WAITING, request_to_json(request_of(CALLS[1], expires=1e9))),
            Draft(kinds.RUN_PAUSED, {"waiting": ["c1", "c2"]}),
        )
    return file


def test_without_a_call_all_that_wait_are_listed_with_the_commands_to_decide(
    wieldy: Callable[..., Result], journal: Path
) -> None:
    listed = wieldy("approve", "aa", "--journal", "runs.db")

    assert listed.returncode == 0, listed.stderr
    assert '? refund(order_id="\\u001b]0;owned\\u0007[red]x[/red]\\u202e", amount=5)\n' in listed.stdout
    assert f"  call     c1 of run {RUN}\n" in listed.stdout
    assert "  why      it costs money [red]x[/red]\\u202e\n" in listed.stdout
    assert f"  digest   {request_of(CALLS[1], expires=1e9).digest[:16]}\n" in listed.stdout
    assert ": too late, it is asked again when the run is resumed\n" in listed.stdout
    assert f"  wieldy approve {RUN} c1 --journal runs.db\n  wieldy deny {RUN} c1 --journal runs.db\n" in listed.stdout
    assert not set("\x1b\x07\u202e") & set(listed.stdout)


def test_a_decision_shows_what_it_is_about_and_is_recorded_with_who_made_it(
    wieldy: Callable[..., Result], journal: Path
) -> None:
    approved = wieldy("approve", RUN, "c1", "--by", f"alice {HOSTILE}", "--journal", journal)

    assert approved.returncode == 0, approved.stderr
    assert approved.stdout.startswith("Approved by alice [red]x[/red]\\u202e\n✓ refund(")
    assert not set("\x1b\x07\u202e") & set(approved.stdout)
    with SqliteJournal(journal, read_only=True) as opened:
        last = opened.read(RUN)[-1]
        assert last.kind == kinds.APPROVAL
        assert (last.data["call_id"], last.data["is_granted"], last.data["by"]) == ("c1", True, f"alice {HOSTILE}")
        assert [request.call_id for request in Consent(opened).pending(RUN)] == ["c2"]


@pytest.mark.parametrize(
    ("command", "call", "words"),
    [
        ("approve", "c2", "has expired"),
        ("deny", "c2", "has expired"),
        ("approve", "c3", "No call 'c3' of run 'aaaa000011112222' waits for a decision; waiting: 'c1', 'c2'"),
        ("approve", "", "No call ''"),
    ],
)
def test_what_cannot_be_decided_on_is_refused_and_nothing_is_written(
    wieldy: Callable[..., Result], journal: Path, command: str, call: str, words: str
) -> None:
    refused = wieldy(command, RUN, call, "--journal", journal, "--json")

    assert refused.returncode == 2
    assert words in json.loads(refused.stdout)["message"]
    assert json.loads(refused.stdout)["error"] == "ApprovalError"
    with SqliteJournal(journal, read_only=True) as opened:
        assert len(opened.read(RUN)) == 6


def test_of_a_clients_call_the_server_goes_on_by_itself(wieldy: Callable[..., Result], journal: Path) -> None:
    with SqliteJournal(journal) as opened:
        entries = opened.read(RUN)
    journal.unlink()
    with SqliteJournal(journal) as opened:
        drafts = [Draft(entry.kind, {**entry.data, "metadata": {}}) for entry in entries]
        first = Draft(drafts[0].kind, {**drafts[0].data, "model": CLIENT})
        opened.append(RUN, first, *(draft for draft in drafts[1:] if draft.data.get("call_id") != "c2"))

    said = wieldy("approve", RUN, "c1", "--journal", journal).stdout

    assert "makes the same call again, to the same server" in " ".join(said.split())
    assert "resume" not in said


def test_a_call_is_decided_on_once(wieldy: Callable[..., Result], journal: Path) -> None:
    assert wieldy("deny", RUN, "c1", "--by", "bob", "--journal", journal).returncode == 0

    refused = wieldy("approve", RUN, "c1", "--journal", journal)

    assert refused.returncode == 2
    assert "bob said no" in refused.stderr


def test_who_decides_must_have_a_name(wieldy: Callable[..., Result], journal: Path) -> None:
    refused = wieldy("approve", RUN, "c1", "--by", " ", "--journal", journal)

    assert refused.returncode == 2
    assert "name" in refused.stderr


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (Recipe(model="local").to_metadata(), f"Go on with the run: wieldy resume {RUN} --journal runs.db"),
        ({}, f"Go on with the run in the program that started it: agent.resume_sync('{RUN}')"),
    ],
)
def test_how_a_run_goes_on_depends_on_who_has_started_it(
    wieldy: Callable[..., Result], journal: Path, metadata: dict[str, Any], words: str
) -> None:
    with SqliteJournal(journal) as opened:
        drafts = [Draft(entry.kind, {**entry.data, "metadata": metadata}) for entry in opened.read(RUN)]
    journal.unlink()
    with SqliteJournal(journal) as opened:
        opened.append(RUN, *(draft for draft in drafts if draft.data.get("call_id") != "c2"))
    assert wieldy("approve", RUN, "c1", "--journal", "runs.db").stdout.splitlines()[-1] == words
    assert wieldy("approve", RUN, "--journal", "runs.db").stdout.splitlines()[-1] == words


def test_a_clients_call_goes_on_where_it_was_made_and_nowhere_else(
    wieldy: Callable[..., Result], journal: Path
) -> None:
    with SqliteJournal(journal) as opened:
        drafts = [Draft(entry.kind, {**entry.data, "model": CLIENT}) for entry in opened.read(RUN)]
    journal.unlink()
    with SqliteJournal(journal) as opened:
        opened.append(RUN, *(draft for draft in drafts if draft.data.get("call_id") != "c2"))
    refused = wieldy("resume", RUN, "--model", "local", "--journal", "runs.db")
    assert refused.returncode == 2
    assert "only the server that it came to can go on with it" in refused.stderr
    assert (
        "makes the same call again, to the same server" in wieldy("approve", RUN, "c1", "--journal", "runs.db").stdout
    )
