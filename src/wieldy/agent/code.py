"""Acting by code: the model of a run sees one tool, `python`, and what its code calls is a run within the run.

`CodeRules` say where code runs and how far it may go. The tools that the agent has are opened once and belong to the
code: the model sees them as typed functions in the description of `python`. Deliberately not here: what becomes of the
calls that code makes, which is what becomes of all calls (`run`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import anyio

from wieldy.agent.code_tree import CodeTools
from wieldy.agent.within import run_within
from wieldy.core.context import Context
from wieldy.core.errors import ArgumentsError, ToolError
from wieldy.core.events import CallRunning
from wieldy.core.influence import joined
from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.run.actions.code.checking import problems_of, refusal
from wieldy.run.actions.code.description import description_of
from wieldy.run.actions.code.ended import ended_from_text
from wieldy.run.actions.code.handles import HandleInterpreter, reveal_tool
from wieldy.run.actions.code.levels import MODEL_NAMES, level_of
from wieldy.run.actions.code.model import CodeModel
from wieldy.run.actions.code.namespace import Namespace
from wieldy.run.actions.code.places import Places
from wieldy.run.actions.code.prelude import prelude_of
from wieldy.run.actions.code.replay import Action, action_of
from wieldy.run.actions.code.report import failures_behind_handles, report
from wieldy.run.actions.code.tracked import TrackedInterpreter
from wieldy.run.nested import entries_within, nested_run_id
from wieldy.run.outcomes import Rest
from wieldy.run.policy import Allow, Decision, Policy, Proposal, allow_all
from wieldy.run.prices import Price
from wieldy.run.state import fold
from wieldy.sandbox import SandboxLimits
from wieldy.sandbox import open as open_sandbox
from wieldy.sandbox.tracked import TrackedLimits
from wieldy.tools import Tool, Toolset, tool

if TYPE_CHECKING:
    from wieldy.agent.code_rules import CodeRules
    from wieldy.core.events import RunEvent, RunResult
    from wieldy.core.ports import Journal
    from wieldy.core.principals import Principal
    from wieldy.run.actions.code.interpreter import Interpreter
    from wieldy.run.actions.code.levels import Level
    from wieldy.run.actions.code.stubs import Stubs
    from wieldy.run.request import RunRequest
    from wieldy.run.searching import ToolSearch
    from wieldy.run.state import RunState

PYTHON: Final = "python"
"""The tool by which a model acts."""

NOT_TRACKED: Final = "not_tracked"
"""Where the record of code says why it was not tracked, where it was to be."""

_FREE: Final = Price(input_usd_per_million=0.0, output_usd_per_million=0.0)


def acting_by_code(request: RunRequest, rules: CodeRules) -> RunRequest:
    """The request of a run whose model acts by code, made of that of one whose model would call the tools itself.

    The policy is asked about every call that code makes, and so not about code, which has no power of its own.
    """
    policy = request.policy if request.policy is allow_all else _except_for_code(request.policy)
    tools = tools_for(request.toolset, rules, search=request.search, principal=request.principal)
    request = replace(request, toolset=tools, search=None)
    return replace(request, toolset=CodeToolset(request, rules, tools), policy=policy)


def tools_for(
    toolset: Toolset, rules: CodeRules, *, search: ToolSearch | None = None, principal: Principal | None = None
) -> CodeTools:
    """What code may call: these tools, and `reveal` where code works with handles.

    Raises:
        UsageError: A tool is called `reveal` already.
    """
    control = (reveal_tool,) if rules.taint == "handles" else ()
    return CodeTools(toolset, control=control, search=search, principal=principal)


def _except_for_code(policy: Policy) -> Policy:
    def decided(proposal: Proposal) -> Decision | Awaitable[Decision]:
        return Allow() if proposal.tool.name == PYTHON else policy(proposal)

    return decided


@asynccontextmanager
async def opened(toolset: CodeTools, rules: CodeRules) -> AsyncGenerator[tuple[Stubs, Places]]:
    """The tools are open, as functions, and so are the places where code may call them.

    Raises:
        UsageError: The sandbox does not work here, or two tools have one name in Python.
    """
    limits = rules.limits or SandboxLimits()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(toolset)
        stubs = toolset.stubs
        session = await stack.enter_async_context(
            open_sandbox(rules.tier, limits=limits, packages=rules.packages, python=rules.python, image=rules.image)
        )
        yield stubs, _places(session, stubs, rules, TrackedLimits(calls=limits.calls))


def _places(session: Interpreter, stubs: Stubs, rules: CodeRules, limits: TrackedLimits) -> Places:
    interpreter = HandleInterpreter(session) if rules.taint == "handles" else session
    namespaces: dict[Level, Namespace] = {
        "handles" if rules.taint == "handles" else "run": Namespace(interpreter, prelude=prelude_of(stubs))
    }
    if rules.taint == "tracked":
        namespaces["tracked"] = Namespace(TrackedInterpreter(stubs, limits=limits), prelude="")
    return Places(namespaces, stubs=stubs, limits=limits)


def request_of(
    request: RunRequest, model: CodeModel, *, messages: tuple[Message, ...], because: str | None = None
) -> RunRequest:
    """The request of a run whose model is this code, made of that of one whose model would call the tools itself.

    Args:
        request: The other one.
        model: The code.
        messages: The code as a message; none where the run goes on.
        because: Why the code is not tracked, where it was to be; for the record.
    """
    return replace(
        request,
        model=model,
        messages=messages,
        run_id=model.run_id,
        limits=Limits(turns=None),
        prices={**request.prices, **dict.fromkeys(MODEL_NAMES.values(), _FREE)},
        metadata=request.metadata if because is None else {**(request.metadata or {}), NOT_TRACKED: because},
        is_code=True,
        tainted_by=joined(request.tainted_by, model.tainted_by),
        finish=False,
        output=None,
    )


class CodeToolset(Toolset):
    """The one tool `python`, for one run.

    Args:
        request: Of a run whose model would call the tools itself.
        rules: Where code runs.
        tools: What it may call: the request's toolset.
    """

    def __init__(self, request: RunRequest, rules: CodeRules, tools: CodeTools) -> None:
        self._request = request
        self.rules = rules
        self._callable = tools
        self._python: Tool | None = None
        super().__init__()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """None before it is opened: what the code may call is not known then."""
        return () if self._python is None else (self._python,)

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """As `opened`."""
        async with opened(self._callable, self.rules) as (stubs, places):
            self._python = _Python(self, stubs, places).tool()
            try:
                yield
            finally:
                self._python = None

    async def run(
        self, ctx: Context, code: str, namespace: Namespace, *, level: Level, because: str | None
    ) -> tuple[RunResult, CodeModel]:
        """The run of this code has ended or rests, and the model that it had."""
        request = self._request
        journal = request.journal if ctx.journal is None else ctx.journal
        run_id = nested_run_id(ctx.idempotency_key)
        model = CodeModel(
            namespace,
            level=level,
            run_id=run_id,
            started=lambda: journal.read(run_id)[0].time,
            results=request.results,
        )

        @asynccontextmanager
        async def opening(_run_id: str, begins: bool) -> AsyncGenerator[RunRequest]:
            yield request_of(request, model, messages=(Message.user(code),) if begins else (), because=because)

        def tell(event: RunEvent) -> None:
            if isinstance(event, CallRunning):
                ctx.progress(f"calls {event.call.name}")

        result = await run_within(ctx, PYTHON, opening, journal=journal, secrets=request.secrets, emit=tell)
        return result, model


class _Python:
    """The tool's code, and what it knows of the actions of its run so far."""

    def __init__(self, owner: CodeToolset, stubs: Stubs, places: Places) -> None:
        self._owner = owner
        self._stubs = stubs
        self._places = places
        self._lock = anyio.Lock()
        self._has_looked_back = False

    def tool(self) -> Tool:
        """What the model is offered."""

        async def python(code: str, ctx: Context) -> object:
            async with self._lock:  # the names are one thing
                return await self._act(code, ctx)

        declare = tool(
            name=PYTHON,
            description=description_of(self._stubs, self._owner.rules.taint),
            # What it does to the world is what the calls within do, and they are looked at one by one.
            effect="idempotent",
            retries=0,
        )
        return declare(python)

    async def _act(self, code: str, ctx: Context) -> object:
        journal = ctx.journal
        assert journal is not None
        if not self._has_looked_back:
            self._look_back(journal, ctx)
        run_id = nested_run_id(ctx.idempotency_key)
        level, because = self._level(code, journal, run_id)
        namespace = self._places.namespace(level)
        if level is None or namespace is None:
            raise ToolError(
                "This code was begun where code runs otherwise than here, and cannot go on. Write it again."
            )
        result, model = await self._owner.run(ctx, code, namespace, level=level, because=because)
        if result.stop_reason == "waiting_for_approval":
            return Rest(waiting=result.waiting)
        state = fold(journal.read(run_id))
        ended = ended_from_text(result.text)
        # Asked first: where names are lost, what is told of it may show what was read for them.
        tainted_by = self._places.tainted_by(state, level, ended)
        self._take(journal, state, is_current=model.is_live)
        return report(
            ended,
            state.calls,
            limits=self._owner.rules.limits or SandboxLimits(),
            stop_reason=state.stop_reason,
            tainted_by=tainted_by,
            failures=failures_behind_handles(state.calls) if level == "handles" else (),
            remark=_remark(state.metadata.get(NOT_TRACKED)),
        )

    def _level(self, code: str, journal: Journal, run_id: str) -> tuple[Level | None, str | None]:
        """The level at which the code runs, or was begun; and why not at the exact one, where that is so."""
        entries = journal.read(run_id)
        if entries:
            return level_of(fold(entries[:1]).model), None
        is_of_this_python = self._owner.rules.python is None
        problems = problems_of(code, self._stubs, known=self._places.names, is_of_this_python=is_of_this_python)
        if problems:
            raise ArgumentsError(refusal(problems))
        return self._places.place(code)

    def _look_back(self, journal: Journal, ctx: Context) -> None:
        """What earlier actions of this run have left, those of other processes included."""
        self._has_looked_back = True
        for call in fold(journal.read(ctx.run_id)).calls:
            if call.call.id == ctx.call_id:
                return
            entries = entries_within(journal, ctx.run_id, call) if call.tool_name == PYTHON and call.result else ()
            if entries:
                self._take(journal, fold(entries), is_current=False)

    def _take(self, journal: Journal, state: RunState, *, is_current: bool) -> None:
        level = level_of(state.model)
        if level is not None:
            self._places.take(state, level, lambda: _recorded(journal, state.run_id), is_current=is_current)


def _remark(because: object) -> str | None:
    if because is None:
        return None
    return f"This code was not tracked, so whatever it read counts as part of all that it did after that: {because}."


def _recorded(journal: Journal, run_id: str) -> Action:
    state = fold(journal.read(run_id))
    return action_of(state.messages, run_id=run_id, started=state.started)
