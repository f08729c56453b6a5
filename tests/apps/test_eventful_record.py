"""`wieldy show` over a run to which everything has happened: attempts, approvals, unknown and late outcomes, pauses."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wieldy.core.approvals import ApprovalRequest
from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.json import JsonObject
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message
from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal, kinds
from wieldy.run.records import approval_to_json, message_to_json, request_to_json, result_to_json

Result = subprocess.CompletedProcess[str]
RUN = "aaaa000011112222"
CHILD = "cccc000011112222"
KEY = CHILD + "3" * 16
CALLS = tuple(
    ToolCall(id=f"c{number}", name=name, arguments={"order_id": str(number)})
    for number, name in enumerate(("find_order", "refund", "cancel", "charge", "research", "notify"), start=1)
)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    file = tmp_path / "runs.db"
    with SqliteJournal(file, clock=iter(range(1_790_000_000, 1_790_001_000)).__next__) as journal:
        journal.append(RUN, *_beginning(), *_first_wave(), *_after_the_pause())
        journal.append(CHILD, *_child())
    return file


def _beginning() -> list[Draft]:
    reply: JsonObject = {
        "turn": 1,
        "message": message_to_json(Message.assistant("", CALLS)),
        "usage": {"input_tokens": 100, "output_tokens": 10, "requests": 1, "cost_usd": 0.0042},
        "finish": "stop",
    }
    return [
        Draft(
            kinds.RUN_STARTED,
            {
                "model": "local:small",
                "messages": [message_to_json(Message.user("Do it all."))],
                "tools": [],
                "limits": {},
                "principal": "alice",
            },
        ),
        Draft(kinds.TURN_STARTED, {"turn": 1, "tool_choice": "auto", "max_output_tokens": None}),
        Draft(kinds.REPLY, reply),
    ]


def _start(call: ToolCall, *, attempt: int = 1, effect: str = "read", key: str = "k") -> Draft:
    return Draft(
        kinds.CALL_STARTED,
        {
            "call_id": call.id,
            "tool_name": call.name,
            "attempt": attempt,
            "effect": effect,
            "arguments": call.arguments,
            "repairs": [],
            "idempotency_key": key,
        },
    )


def _finish(result: ToolResult, **more: str | bool) -> Draft:
    return Draft(kinds.CALL_FINISHED, {"result": result_to_json(result), "duration_s": 0.5, **more})


def _ask(call: ToolCall, *, expires: float | None = None) -> tuple[Draft, ApprovalRequest]:
    request = ApprovalRequest(
        run_id=RUN,
        call_id=call.id,
        tool_name=call.name,
        arguments=call.arguments,
        reason="it costs money",
        expires=expires,
    )
    return Draft(kinds.CALL_WAITING, request_to_json(request)), request


def _first_wave() -> list[Draft]:
    find, refund, cancel, _, _, notify = CALLS
    failure: JsonObject = {
        "call_id": find.id,
        "attempt": 1,
        "error": "TransientToolError",
        "message": "Come back later.",
        "wait_s": 0.25,
    }
    about_refund, refund_request = _ask(refund, expires=1_790_000_900.0)
    about_cancel, cancel_request = _ask(cancel)
    about_notify, _ = _ask(notify)
    parts = (
        ImagePart(url="data:image/png;base64,AA=="),
        FilePart(name="a.pdf", media_type="application/pdf", url="u:"),
    )
    found = ToolResult(tool_call_id=find.id, content="found", parts=parts, source="example.org", trust="untrusted")
    denied = ToolResult(tool_call_id=cancel.id, content="It was not run.", is_error=True, layer="policy")
    return [
        about_refund,
        about_cancel,
        about_notify,
        Draft(kinds.APPROVAL, approval_to_json(cancel_request.deny(by="bob", reason="not today"))),
        _finish(denied),
        _start(find),
        Draft(kinds.ATTEMPT_FAILED, failure),
        _start(find, attempt=2),
        _finish(found, answered_by="find_archived_order"),
        Draft(kinds.RUN_PAUSED, {"waiting": [refund.id, notify.id]}),
        Draft(kinds.APPROVAL, approval_to_json(refund_request.approve(by="alice"))),
    ]


def _after_the_pause() -> list[Draft]:
    _, refund, _, charge, research, _ = CALLS
    unknown = ToolResult(tool_call_id=charge.id, content="outcome unknown", is_error=True, layer="harness")
    late = ToolResult(tool_call_id=charge.id, content="charged 5")
    return [
        Draft(kinds.RUN_RESUMED, {"by": "process 17 on there", "limits": {}}),
        _start(refund, effect="keyed"),
        _finish(ToolResult(tool_call_id=refund.id, content="refunded")),
        _start(charge, effect="unsafe"),
        _finish(unknown, is_unknown=True),
        Draft(kinds.CALL_CAME_LATE, {"result": result_to_json(late)}),
        _start(research, effect="keyed", key=KEY),
        Draft(kinds.RUN_PAUSED, {"waiting": ["c6", "c1"]}),
    ]


def _child() -> list[Draft]:
    call = ToolCall(id="c1", name="publish", arguments={"title": "x"})
    request = ApprovalRequest(
        run_id=CHILD, call_id="c1", tool_name="publish", arguments=call.arguments, reason="all may see it"
    )
    return [
        Draft(
            kinds.RUN_STARTED,
            {
                "model": "local:small",
                "messages": [message_to_json(Message.user("Research."))],
                "tools": [],
                "limits": {},
                "parent": {"run_id": RUN, "call_id": "c5"},
            },
        ),
        Draft(kinds.TURN_STARTED, {"turn": 1, "tool_choice": "auto", "max_output_tokens": None}),
        Draft(
            kinds.REPLY,
            {
                "turn": 1,
                "message": message_to_json(Message.assistant("", [call])),
                "usage": {"input_tokens": 1, "output_tokens": 1, "requests": 1},
                "finish": "stop",
            },
        ),
        Draft(kinds.CALL_WAITING, request_to_json(request)),
        Draft(kinds.RUN_PAUSED, {"waiting": ["c1"]}),
    ]


def test_show_tells_everything_that_happened_to_each_call(wieldy: Callable[..., Result], journal: Path) -> None:
    shown = wieldy("show", "aaaa", "--journal", journal, TZ="UTC")

    assert shown.returncode == 0, shown.stderr
    for part in (
        "status   waiting: a person must decide on 1 call\n",
        "for      alice\n",
        "rested   2026-09-21 14:13:20, until calls are decided on\n",
        "resumed  2026-09-21 14:13:20, by process 17 on there\n",
        "1 request · 100 tokens in, 10 out · $0.0042\n",
        "  attempt 1 failed: TransientToolError: Come back later. (waited 250 ms)\n",
        "← found\n  (image: data:image/png;base64,AA==)\n  (file: a.pdf, application/pdf: u:)\n",
        "2 attempts · effect read · answered by the fallback `find_archived_order` · untrusted source example.org\n",
        "  asked 2026-09-21 14:13:20, until 2026-09-21 14:28:20: it costs money\n"
        "  approved by alice, 2026-09-21 14:13:20\n"
        "← refunded\n",
        "  denied by bob: not today, 2026-09-21 14:13:20\n✗ It was not run.\n",
        "✗ outcome unknown\n  its outcome is unknown: it may have taken place or not\n  came late: charged 5\n",
        f"  its code started run {CHILD}\n? started ",
        "? waits for a person's decision: approve or deny c6\n",
    ):
        assert part in shown.stdout


def test_show_of_a_nested_run_names_the_call_that_started_it(wieldy: Callable[..., Result], journal: Path) -> None:
    assert f"within   call c5 of run {RUN}\n" in wieldy("show", CHILD, "--journal", journal).stdout


def test_runs_tells_machines_what_waits_and_what_belongs_together(wieldy: Callable[..., Result], journal: Path) -> None:
    child, run = map(json.loads, wieldy("runs", "--journal", journal, "--json").stdout.splitlines())

    assert (run["status"], run["waiting"], run["resumed"], run["cost_usd"]) == ("waiting", ["c6"], 1, 0.0042)
    assert (child["parent"], run["parent"]) == (RUN, None)


def test_calls_of_nested_runs_wait_with_the_run_that_started_them(wieldy: Callable[..., Result], journal: Path) -> None:
    listed = json.loads(wieldy("approve", RUN, "--journal", journal, "--json").stdout)

    assert [(item["run_id"], item["call_id"]) for item in listed["waiting"]] == [(RUN, "c6"), (CHILD, "c1")]

    approved = wieldy("approve", RUN, "c1", "--journal", journal)
    assert approved.returncode == 0, approved.stderr
    assert f"c1 of run {CHILD}" in approved.stdout
    assert f"1 more call of it waits: wieldy approve {RUN} --journal " in approved.stdout

    denied = wieldy("deny", RUN, "c6", "--journal", journal, "--reason", "no", "--by", "carol")
    assert denied.stdout.startswith("Denied by carol: no\n")
    assert denied.stdout.endswith(f"Go on with the run in the program that started it: agent.resume_sync('{RUN}')\n")


def test_a_nested_run_is_resumed_with_the_one_that_started_it(wieldy: Callable[..., Result], journal: Path) -> None:
    refused = wieldy("resume", CHILD, "--journal", journal)

    assert refused.returncode == 2
    assert f"Run {CHILD} goes on with the one that started it, run {RUN}." in refused.stderr
    assert f"Run {RUN} was not started by `wieldy run`" in refused.stderr


@pytest.mark.parametrize("columns", [40, 100])
def test_for_people_the_lines_fit_the_terminal(wieldy: Callable[..., Result], journal: Path, columns: int) -> None:
    for command in (("show", RUN), ("approve", RUN), ("verify",)):
        result = wieldy(*command, "--journal", "runs.db", COLUMNS=str(columns))
        assert result.returncode == 0, result.stderr
        assert all(len(line) <= columns or " " not in line.strip() for line in result.stdout.splitlines()), (
            result.stdout
        )
        assert "\x1b" not in result.stdout
