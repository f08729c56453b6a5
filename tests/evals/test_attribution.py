"""Faults are put in at the boundary itself, in real runs; the journal alone must say whose they are."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from wieldy import Agent, InvalidToolCall, Limits, Message, Principal, ToolError, Usage, tool
from wieldy.core.errors import (
    AuthenticationError,
    ModelNotAvailableError,
    ModelUnreachableError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    RunError,
    TransientToolError,
)
from wieldy.core.ports import Draft, Entry, ModelEvent, ModelReply, ModelRequest
from wieldy.evals.attribution import Fault, decisive, faults
from wieldy.run.journal import MemoryJournal, SqliteJournal, kinds
from wieldy.run.policy import Deny, Proposal
from wieldy.schema import CompiledSchema
from wieldy.testing import ScriptedModel, call, text


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
def crash(a: int) -> int:
    """Fail."""
    raise KeyError(a)


@tool(effect="read")
def refuse(a: int) -> int:
    """Say no."""
    raise ToolError(f"There is no {a}.")


@tool(effect="read", retries=1)
def flaky(a: int) -> int:
    """Never get there."""
    raise TransientToolError(f"{a} is busy")


@tool(effect="read", timeout_s=0.01)
async def slow(a: int) -> int:
    """Take for ever."""
    await anyio.sleep_forever()
    return a


@tool(effect="read", permission="sums")
def guarded(a: int) -> int:
    """Need a permission."""
    return a


class FailingModel:
    """A model whose provider fails in one way."""

    name = "failing"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        raise self._error
        yield ModelReply(message=request.messages[0], usage=Usage())


class MisreadingModel:
    """What stands between a model and us gives up on a call whose text is perfectly good."""

    name = "misreading"

    def __init__(self) -> None:
        self._asked = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self._asked += 1
        bad = InvalidToolCall(id="x", name="add", text='{"a": 1, "b": 2}', error="Could not be read.")
        message = Message.assistant("", [bad]) if self._asked == 1 else Message.assistant("I cannot.")
        yield ModelReply(message=message, usage=Usage())


class CutModel:
    """A model whose provider ends the answer by a limit of its own."""

    name = "cut"

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        del request
        yield ModelReply(message=Message.assistant("The answer is"), usage=Usage(), finish="length")


def calling(name: str, arguments: dict[str, object] | str) -> ScriptedModel:
    return ScriptedModel([[call(name, arguments)], [text("Something went wrong.")]])


def deny(proposal: Proposal) -> Deny:
    return Deny(reason=f"no {proposal.call.name} today")


NOTHING_FITS = replace(add, schema=CompiledSchema({"type": "object", "maxProperties": 0}))
"""The validator of this tool is broken: it refuses what the tool's definition promises to take."""

CASES: dict[str, tuple[Callable[[], Agent], str, str]] = {
    "malformed": (lambda: Agent(calling("add", '{"a": 1,'), tools=[add]), "model", "malformed-call"),
    "unknown tool": (lambda: Agent(calling("ad", {"a": 1}), tools=[add]), "model", "unknown-tool"),
    "bad arguments": (lambda: Agent(calling("add", {"a": "one"}), tools=[add]), "model", "bad-arguments"),
    "misread": (lambda: Agent(MisreadingModel(), tools=[add]), "harness", "parse"),
    "refused though good": (lambda: Agent(calling("add", {"a": 1, "b": 2}), [NOTHING_FITS]), "harness", "validation"),
    "crash": (lambda: Agent(calling("crash", {"a": 1}), tools=[crash]), "tool", "tool-failed"),
    "time-out": (lambda: Agent(calling("slow", {"a": 1}), tools=[slow]), "tool", "tool-failed"),
    "busy": (lambda: Agent(calling("flaky", {"a": 1}), tools=[flaky]), "tool", "tool-failed"),
    "says no": (lambda: Agent(calling("refuse", {"a": 1}), tools=[refuse]), "tool", "tool-error"),
    "policy": (lambda: Agent(calling("add", {"a": 1, "b": 2}), tools=[add], policy=deny), "policy", "denied"),
    "permission": (
        lambda: Agent(calling("guarded", {"a": 1}), tools=[guarded], principal=Principal(name="ann")),
        "policy",
        "denied",
    ),
    "turns": (
        lambda: Agent(
            ScriptedModel(lambda messages: [call("add", {"a": len(messages), "b": 2})]),
            tools=[add],
            limits=Limits(turns=3),
        ),
        "model",
        "turn_limit",
    ),
    "calls": (
        lambda: Agent(
            ScriptedModel([[call("add", {"a": 1, "b": 2}), call("add", {"a": 3, "b": 2})], [text("Enough.")]]),
            tools=[add],
            limits=Limits(calls=1),
        ),
        "model",
        "call_limit",
    ),
    "repeats": (
        lambda: Agent(ScriptedModel(lambda _: [call("add", {"a": 1, "b": 2})]), tools=[add]),
        "model",
        "repeated_call",
    ),
    "cut": (
        lambda: Agent(ScriptedModel([[text("word " * 100)]]), limits=Limits(output_tokens=10)),
        "model",
        "output_token_limit",
    ),
    "cut by the provider": (lambda: Agent(CutModel()), "model", "output_token_limit"),
    "key": (lambda: Agent(FailingModel(AuthenticationError("no key"))), "harness", "auth"),
    "refused request": (lambda: Agent(FailingModel(RequestRefusedError("no such model"))), "harness", "request"),
    "rate": (lambda: Agent(FailingModel(RateLimitError("slow down"))), "provider", "rate-limit"),
    "protocol": (lambda: Agent(FailingModel(ProviderError("HTTP 500"))), "provider", "protocol"),
    "unreachable": (lambda: Agent(FailingModel(ModelUnreachableError("no route"))), "provider", "unreachable"),
    "weights": (lambda: Agent(FailingModel(ModelNotAvailableError("no file"))), "environment", "weights"),
    "our own crash": (lambda: Agent(FailingModel(ZeroDivisionError("ours"))), "harness", "crash-of-run"),
}


async def journal_of(agent: Agent) -> Sequence[Entry]:
    with contextlib.suppress(RunError, ZeroDivisionError):
        await agent.run("Do it.")
    (run_id,) = agent.journal.run_ids()
    return agent.journal.read(run_id)


@pytest.mark.anyio
@pytest.mark.parametrize("name", CASES)
async def test_the_layer_of_a_fault_is_that_of_the_boundary_where_it_was_put_in(name: str) -> None:
    make, layer, code = CASES[name]
    entries = await journal_of(make())
    found = decisive(faults(entries))
    assert found is not None
    assert (found.layer, found.code) == (layer, code)
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


def test_no_entries_are_no_run() -> None:
    found = decisive(faults([]))
    assert found is not None
    assert (found.layer, found.code, found.evidence) == ("environment", "no-run", ())
