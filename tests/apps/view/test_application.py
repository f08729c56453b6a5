"""What the page's data say of a journal, and what a decision in it does."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from view_journals import DAMAGED, HOSTILE

from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal, kinds
from wieldy.run.state import fold

from .conftest import told

pytestmark = pytest.mark.anyio
Made = tuple[Path, dict[str, str]]


def rows_of(listed: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["run_id"]: row for group in listed["groups"] for row in group["rows"]}


async def test_what_is_said_of_runs_is_what_their_entries_add_up_to(journal: Made, seen: Callable[..., Any]) -> None:
    file, made = journal
    recorded = SqliteJournal(file, read_only=True)
    async with seen(file).client() as http:
        listed = await told(http, "runs")
        rows = rows_of(listed)
        assert set(rows) == set(recorded.run_ids())
        assert (listed["total"], listed["looked_at"], listed["after"]) == (len(rows), len(rows), None)
        for run_id in recorded.run_ids():
            if run_id == DAMAGED:
                continue
            entries = recorded.read(run_id)
            state, row = fold(entries), rows[run_id]
            assert (row["status"], row["turns"], row["calls"]) == (state.status, state.turns, len(state.calls))
            assert (row["started"], row["ended"], row["stop_reason"]) == (state.started, state.ended, state.stop_reason)
            assert (row["input_tokens"], row["output_tokens"]) == (state.usage.input_tokens, state.usage.output_tokens)
            assert row["failed_calls"] == sum(bool(call.result and call.result.is_error) for call in state.calls)
            assert state.prompt.startswith(row["prompt"])
            assert row["parent"] == (state.parent.run_id if state.parent else None)
            run = await told(http, "run", id=run_id)
            assert {name: value for name, value in run["row"].items() if name != "depth"} == {
                name: value for name, value in row.items() if name != "depth"
            }
            assert run["check"] == {"entries": len(entries), "digest": entries[-1].digest, "finding": None}
        inner = next(run_id for run_id, row in rows.items() if row["parent"] == made["outer"])
        assert (rows[made["outer"]]["depth"], rows[inner]["depth"]) == (0, 1)


async def test_entries_are_shown_as_they_are_whatever_they_are(journal: Made, seen: Callable[..., Any]) -> None:
    file, made = journal
    recorded = SqliteJournal(file, read_only=True)
    async with seen(file).client() as http:
        for run_id in (made["hostile"], DAMAGED):
            shown = (await told(http, "entries", id=run_id))["entries"]
            assert [{**each, "data": json.loads(each["data"]), "run_id": run_id} for each in shown] == [
                entry._asdict() for entry in recorded.read(run_id)
            ]
        part = await told(http, "entries", id=made["hostile"], start=2, count=3)
        assert [each["sequence"] for each in part["entries"]] == [2, 3, 4]
        run = await told(http, "run", id=DAMAGED)
        assert run["row"]["status"] == "unreadable"
        (steps,) = [each["steps"] for each in run["runs"]]
        assert [step["entry"] for step in steps] == [0, 1]
        assert json.loads(steps[1]["detail"]) == {"x": [HOSTILE]}
        for nobody in ("../../etc/passwd", "", "nothing"):
            assert (await http.get("/api/run", params={"id": nobody})).status_code == 400


async def test_lists_are_narrowed_and_a_run_stands_with_the_one_that_fits(
    journal: Made, seen: Callable[..., Any]
) -> None:
    file, made = journal
    async with seen(file).client() as http:

        async def found(**wanted: str) -> set[str]:
            return {group["rows"][0]["run_id"] for group in (await told(http, "runs", **wanted))["groups"]}

        assert await found(status="waiting") == {made["waiting"]}
        assert await found(status="failures") == {made["failing"], DAMAGED}
        assert await found(text="ORDER 17?") == {made["plain"]}
        assert await found(tool="page") == {made["hostile"], made["long"], made["outer"]}
        assert await found(tool="page", text="read the page.") == {made["outer"]}
        assert await found(text="nothing has this") == set()


async def test_nothing_is_sent_again_until_the_journal_has_something_new(own: Made, seen: Callable[..., Any]) -> None:
    file, made = own
    async with seen(file).client() as http:
        for route, parameters in (("runs", {}), ("run", {"id": made["waiting"]})):
            first = await told(http, route, **parameters)
            assert await told(http, route, known=first["version"], **parameters) == {"version": first["version"]}
        with SqliteJournal(file) as writing:
            lease = writing.lease(made["waiting"])
            writing.append(made["waiting"], Draft(kinds.RUN_RESUMED, {"by": "a test", "limits": {}}))
            again = await told(http, "run", id=made["waiting"], known=first["version"])
            assert (again["row"]["status"], again["row"]["resumed"]) == ("running", 1)
            assert again["holder"]
            assert again["runs"][0]["faults"] == []
            assert rows_of(await told(http, "runs"))[made["waiting"]]["status"] == "running"
            lease.release()
        (fault,) = (await told(http, "run", id=made["waiting"]))["runs"][0]["faults"]
        assert fault["text"].startswith("died")
        assert rows_of(await told(http, "runs"))[made["waiting"]]["status"] == "died"


async def test_a_decision_counts_for_exactly_what_was_shown(own: Made, seen: Callable[..., Any]) -> None:
    file, made = own
    before = file.read_bytes()
    recorded = SqliteJournal(file, read_only=True)
    (shown,) = (state := fold(recorded.read(made["waiting"]))).waiting
    decision = {"run_id": shown.run_id, "call_id": shown.call_id, "is_granted": False, "reason": "Too much."}
    here = {"origin": "http://127.0.0.1:5000"}
    async with seen(file).client() as http:
        (request,) = (await told(http, "runs"))["waiting"]
        assert (request["digest"], json.loads(request["arguments"])) == (shown.digest, shown.arguments)
        assert request["approve"] == f"wieldy approve {shown.run_id} {shown.call_id} --journal runs.db"
        refused = await http.post("/api/decide", json={**decision, "digest": shown.digest}, headers=here)
        assert refused.status_code == 400
        assert "--allow-decisions" in refused.text
    async with seen(file, decides=True).client() as http:
        for body in ({**decision, "digest": "0" * 64}, {**decision, "digest": shown.digest, "call_id": "other"}):
            assert (await http.post("/api/decide", json=body, headers=here)).status_code == 409
        for nonsense in (b"", b"[]", b"{", b"\xff", json.dumps({**decision, "digest": 5}).encode()):
            headers = {**here, "content-type": "application/json"}
            assert (await http.post("/api/decide", content=nonsense, headers=headers)).status_code == 400
        assert (await http.post("/api/decide", content=b"{}", headers=here)).status_code == 415
        large = await http.post(
            "/api/decide", content=b" " * 70_000, headers={**here, "content-type": "application/json"}
        )
        assert large.status_code == 413
        assert file.read_bytes() == before
        answer = await http.post("/api/decide", json={**decision, "digest": shown.digest}, headers=here)
        assert answer.status_code == 200, answer.text
        assert "agent.resume_sync" in answer.json()["next"]
        (entry,) = recorded.read(made["waiting"], start=len(recorded.read(made["waiting"])) - 1)
        assert entry.kind == kinds.APPROVAL
        assert entry.data == {
            "call_id": shown.call_id,
            "digest": shown.digest,
            "is_granted": False,
            "by": "anna",
            "reason": "Too much.",
        }
        assert (await told(http, "runs"))["waiting"] == []
        again = await http.post("/api/decide", json={**decision, "digest": shown.digest}, headers=here)
        assert again.status_code == 409
    assert state.status == "waiting"


async def test_what_is_redacted_is_in_no_answer_and_cannot_be_found(journal: Made, seen: Callable[..., Any]) -> None:
    file, made = journal
    async with seen(file, redact=("order 17", "gnihtemos", "find_order")).client() as http:
        answers = [
            await http.get(f"/api/{route}", params={"id": run_id})
            for route in ("run", "entries")
            for run_id in made.values()
        ]
        answers += [await http.get("/api/runs")]
        for answer in answers:
            assert answer.status_code == 200
            assert "[redacted]" in answer.text or "long page" in answer.text or "Have it read" in answer.text
            assert not [secret for secret in ("order 17", "gnihtemos", "find_order") if secret in answer.text]
        assert (await told(http, "runs", text="order 17"))["groups"] == []


async def test_a_changed_entry_is_said_to_be_changed(own: Made, seen: Callable[..., Any]) -> None:
    file, made = own
    with sqlite3.connect(file) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("UPDATE entries SET time = time + 1 WHERE run_id = ? AND sequence = 2", (made["plain"],))
        connection.execute("UPDATE entries SET data = x'00' WHERE run_id = ? AND sequence = 2", (made["long"],))
    connection.close()
    async with seen(file).client() as http:
        assert "entry 2 (reply) was changed" in (await told(http, "run", id=made["plain"]))["check"]["finding"]
        broken = await told(http, "run", id=made["long"])
        assert (broken["row"]["status"], broken["runs"][0]["steps"]) == ("unreadable", [])
        assert "cannot be shown" in broken["notes"][0]
        assert rows_of(await told(http, "runs"))[made["plain"]]["status"] == "finished"
