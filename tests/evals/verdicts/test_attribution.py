"""Faults are put in at the boundary itself, in real runs; the journal alone must say whose they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from fault_cases import CASES, FailingModel, add, journal_of
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Agent, tool
from wieldy.core.errors import ContentFilterError, RequestRefusedError
from wieldy.core.ports import Draft, Entry
from wieldy.evals.verdicts.attribution import Fault, decisive, faults
from wieldy.run.journal import MemoryJournal, SqliteJournal, kinds
from wieldy.testing import ScriptedModel, call, text


@pytest.mark.anyio
@pytest.mark.parametrize("notes", [0, 2])
@pytest.mark.parametrize("name", CASES)
async def test_the_layer_of_a_fault_is_that_of_the_boundary_where_it_was_put_in(name: str, notes: int) -> None:
    case = CASES[name]
    entries = await journal_of(case.agent(notes))
    found = decisive(faults(entries))
    assert found is not None
    assert (found.layer, found.code) == (case.layer, case.code)
    assert found.evidence
    assert set(found.evidence) <= {entry.sequence for entry in entries}


@pytest.mark.anyio
async def test_a_run_without_faults_has_none() -> None:
    agent = Agent(ScriptedModel([[call("add", {"a": 1, "b": 2}), call("add", {"a": "3", "b": 4})], [text("3")]]), [add])
    assert faults(await journal_of(agent)) == ()


@pytest.mark.anyio
async def test_a_fault_is_recovered_where_the_same_tool_does_its_work_later() -> None:
    turns = [[call("add", {"a": "one"})], [call("add", {"a": 1, "b": 2})], [text("3")]]
    found = faults(await journal_of(Agent(ScriptedModel(turns), [add])))
    assert [(fault.code, fault.is_recovered) for fault in found] == [("bad-arguments", True)]
    assert decisive(found) is None


@pytest.mark.anyio
async def test_a_run_that_is_stopped_was_stopped_by_its_environment() -> None:
    started = anyio.Event()

    @tool(effect="read")
    async def wait() -> str:
        """Wait."""
        started.set()
        await anyio.sleep_forever()
        return ""

    agent = Agent(ScriptedModel([[call("wait", {})]]), [wait])
    async with anyio.create_task_group() as group:
        group.start_soon(agent.run, "Wait.")
        await started.wait()
        group.cancel_scope.cancel()
    (run_id,) = agent.journal.run_ids()
    found = decisive(faults(agent.journal.read(run_id)))
    assert found is not None
    assert (found.layer, found.code) == ("environment", "interrupted")


def test_a_run_whose_process_died_was_ended_by_its_environment(tmp_path: Path) -> None:
    program = """
import os, sys
from wieldy import Agent, tool
from wieldy.testing import ScriptedModel, call

@tool(effect="read")
def die() -> str:
    "Die."
    os._exit(9)

Agent(ScriptedModel([[call("die", {})]]), [die], journal=sys.argv[1]).run_sync("Die.")
"""
    path = tmp_path / "runs.db"
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == 9
    journal = SqliteJournal(path, read_only=True)
    (run_id,) = journal.run_ids()
    found = decisive(faults(journal.read(run_id)))
    assert found is not None
    assert (found.layer, found.code) == ("environment", "died")


@pytest.mark.anyio
async def test_what_was_never_written_and_what_nobody_asked_for_is_ours() -> None:
    entries = await journal_of(Agent(ScriptedModel([[call("add", {"a": 1, "b": 2})], [text("3")]]), [add]))

    def faults_with(change: Callable[[Entry], list[Entry]]) -> list[Fault]:
        journal = MemoryJournal()
        drafts = [Draft(made.kind, made.data) for entry in entries for made in change(entry)]
        return list(faults(journal.append("changed", *drafts)))

    def twice(entry: Entry) -> list[Entry]:
        return [entry, entry] if entry.kind == kinds.CALL_FINISHED else [entry]

    def of_a_stranger(entry: Entry) -> list[Entry]:
        if entry.kind != kinds.CALL_FINISHED:
            return [entry]
        return [entry._replace(data={**entry.data, "result": {"tool_call_id": "other", "content": "3"}})]

    def changed(entry: Entry) -> list[Entry]:
        if entry.kind != kinds.CALL_STARTED:
            return [entry]
        return [entry._replace(data={**entry.data, "arguments": {"a": 1, "b": 3}})]

    assert [fault.code for fault in faults_with(twice)] == ["id"]
    assert [fault.code for fault in faults_with(of_a_stranger)] == ["id", "id"]  # and the call has no answer
    assert [fault.code for fault in faults_with(changed)] == ["validation"]
    for change in (twice, of_a_stranger, changed):
        assert {fault.layer for fault in faults_with(change)} == {"harness"}
        assert decisive(faults_with(change)) is not None  # a call does not make good what is wrong with itself


@pytest.mark.anyio
async def test_what_a_content_filter_stops_is_the_provider_s_and_what_a_server_refuses_is_ours() -> None:
    told = list[tuple[str, str]]()
    for error in (ContentFilterError("stopped"), RequestRefusedError("no such model")):
        found = decisive(faults(await journal_of(Agent(FailingModel(error), [add]))))
        assert found is not None
        told.append((found.layer, found.code))
    assert told == [("provider", "content-filter"), ("harness", "request")]


def test_no_entries_are_no_run() -> None:
    found = decisive(faults([]))
    assert found is not None
    assert (found.layer, found.code, found.evidence) == ("environment", "no-run", ())


@tool(effect="read")
def status(id: str) -> str:
    """How far an order is, but for those that are lost."""
    if id == "17":
        raise RuntimeError("lost")
    return "shipped"


@given(st.lists(st.lists(st.sampled_from(["17", "18", "19"]), min_size=1, max_size=3), min_size=1, max_size=3))
def test_a_crash_is_not_made_good_by_what_the_tool_did_for_something_else(replies: list[list[str]]) -> None:
    turns = [[call("status", {"id": each}) for each in reply] for reply in replies]
    agent = Agent(ScriptedModel([*turns, [text("one is shipped")]]), [status])
    found = decisive(faults(anyio.run(journal_of, agent)))
    crashed = any("17" in reply for reply in replies)
    assert (None if found is None else (found.layer, found.code)) == (("tool", "tool-failed") if crashed else None)


@pytest.mark.anyio
@pytest.mark.parametrize("is_at_once", [False, True])
async def test_a_crash_is_made_good_by_the_same_call(is_at_once: bool) -> None:
    times = list[int]()

    @tool(effect="read")
    def once(a: int) -> int:
        """Fail the first time."""
        times.append(a)
        if len(times) == 1:
            raise RuntimeError("not yet")
        return a

    made = [call("once", {"a": 1}), call("once", {"a": 1})]
    turns = [made] if is_at_once else [[each] for each in made]
    found = faults(await journal_of(Agent(ScriptedModel([*turns, [text("1")]]), [once])))
    assert [(fault.code, fault.is_recovered) for fault in found] == [("tool-failed", True)]
    assert decisive(found) is None
