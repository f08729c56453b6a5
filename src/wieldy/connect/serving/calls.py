"""A call that a client makes is a run whose model asks for just this call: the client takes the model's part.

So what holds for every run holds for a client's call: validation, permissions, policy, approvals, retries by effect, a
journal that says on whose behalf, secrets masked, limits. The run ends with the call. Deliberately not here: how calls
come in and results go out (`connect.mcp.server`, `rest`).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.errors import JournalError, OutcomeUnknownError, RunError
from wieldy.core.limits import Limits, Usage
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply
from wieldy.run.journal import MemoryJournal, kinds
from wieldy.run.loop import nothing, resume, run
from wieldy.run.policy import Policy, allow_all
from wieldy.run.request import RunRequest, new_run_id
from wieldy.run.results import ResultRules
from wieldy.schema import nearest_names
from wieldy.tools import Tool, Toolset

if TYPE_CHECKING:
    from wieldy.core.approvals import ApprovalRequest
    from wieldy.core.events import RunEvent, RunResult
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal, ModelEvent, ModelRequest
    from wieldy.core.principals import Principal

CLIENT: Final = "client"
"""What stands in the journal where a model's name does."""

_FEW: Final = 10
"""So many tools are all named to a client that calls another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRules:
    """What clients' calls are kept to.

    Attributes:
        policy: Asked before every call.
        journal: Where each call is recorded, as a run of its own; None to keep no record.
        limits: How far one call may go.
        results: How large results may be; their text is not cut.
        secrets: By name, for tools to take.
        masked: By name: in no result, no record and no event, and for no tool to take.
    """

    policy: Policy = allow_all
    journal: Journal | None = None
    limits: Limits = field(default_factory=Limits)
    results: ResultRules = field(default_factory=ResultRules)
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    masked: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of a client's call.

    Attributes:
        run_id: Of the run that it was.
        result: The one result; None while a person must decide.
        waiting: What they must decide on.
    """

    run_id: str
    result: ToolResult | None
    waiting: tuple[ApprovalRequest, ...] = ()


async def answer(
    name: str,
    arguments: JsonObject,
    tools: Mapping[str, Tool],
    rules: CallRules,
    *,
    principal: Principal | None = None,
    emit: Callable[[RunEvent], None] = nothing,
) -> Answered:
    """The call has its one result, or a person must decide first; whatever is wrong with it is a result too.

    Args:
        name: Of the tool, as the client wrote it.
        arguments: As the client wrote them.
        tools: What may be called, by name; open.
        rules: What the call is kept to.
        principal: On whose behalf it is made.
        emit: Hears what happens meanwhile.

    Raises:
        RunError: The call could not be recorded, and nothing was done.
    """
    request = _request(name, arguments, tools, rules, principal, run_id=new_run_id())
    said = f"{'A client' if principal is None else principal.name} calls `{name}`."
    request = replace(request, messages=(Message.user(said),))
    return await _recorded(run(request, emit), request)


async def go_on(
    run_id: str,
    name: str,
    arguments: JsonObject,
    tools: Mapping[str, Tool],
    rules: CallRules,
    *,
    principal: Principal | None = None,
    emit: Callable[[RunEvent], None] = nothing,
) -> Answered:
    """What came of the call after a person was asked, if they have decided.

    Raises:
        UsageError: There is no such run.
        RunError: It cannot go on, and nothing was done.
    """
    request = _request(name, arguments, tools, rules, principal, run_id=run_id)
    return await _recorded(resume(request, emit), request)


async def _recorded(running: Awaitable[RunResult], request: RunRequest) -> Answered:
    """What came of it; where the tool's code has begun and its end cannot be recorded, that nobody knows."""
    try:
        return _answered(await running)
    except RunError:
        if not _has_begun(request):
            raise
        logging.getLogger(__name__).exception("The outcome of a call could not be recorded.")
    assert request.only_call is not None
    text = (
        f"`{request.only_call.name}`: outcome unknown. It was started, and how it ended could not be recorded. Do not "
        "take it for done or undone: check if you can, or say so."
    )
    result = ToolResult(
        tool_call_id="call", content=text, is_error=True, layer=OutcomeUnknownError.layer, failure="unknown"
    )
    return Answered(run_id=request.run_id, result=result)


def _has_begun(request: RunRequest) -> bool:
    """Whether the code of a tool may have been run, as far as can be read."""
    try:
        return any(entry.kind == kinds.CALL_STARTED for entry in request.journal.read(request.run_id))
    except JournalError:
        return True


class _Client:
    """Who takes the model's part: it has made its call already, and asks for nothing more."""

    name = CLIENT

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Nothing: no run of one call asks."""
        del request
        yield ModelReply(message=Message.assistant(), usage=Usage())


def _request(
    name: str,
    arguments: JsonObject,
    tools: Mapping[str, Tool],
    rules: CallRules,
    principal: Principal | None,
    *,
    run_id: str,
) -> RunRequest:
    needed = _needed(name, tools)
    return RunRequest(
        model=_Client(),
        only_call=ToolCall(id="call", name=name, arguments=arguments),
        beside=len(tools) - len(needed),
        toolset=Toolset(needed),
        journal=MemoryJournal() if rules.journal is None else rules.journal,
        policy=rules.policy,
        limits=rules.limits,
        results=rules.results,
        principal=principal,
        secrets=rules.secrets,
        masked=rules.masked,
        prices={},
        is_code=True,  # a program reads the results: whole, and without remarks to a model
        run_id=run_id,
    )


def _needed(name: str, tools: Mapping[str, Tool]) -> list[Tool]:
    """The tools that the call is about: every run's record says what there was, and all of them would be too much."""
    found = tools.get(name)
    if found is None and len(tools) <= _FEW:
        return list(tools.values())
    if found is None:
        return [tools[near] for near in nearest_names(name, list(tools), most=3)]
    other = tools.get(found.fallback or "")
    return [found] if other is None or other is found else [found, other]


def _answered(result: RunResult) -> Answered:
    found = next((message.result for message in result.messages if message.result is not None), None)
    return Answered(run_id=result.run_id, result=found, waiting=result.waiting)
