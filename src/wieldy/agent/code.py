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

from wieldy.agent.within import run_within
from wieldy.core.context import Context
from wieldy.core.errors import ArgumentsError
from wieldy.core.events import CallRunning
from wieldy.core.influence import joined
from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.run.actions.code.checking import names_left, problems_of, refusal
from wieldy.run.actions.code.ended import ended_from_text
from wieldy.run.actions.code.model import NAME, CodeModel
from wieldy.run.actions.code.namespace import Namespace
from wieldy.run.actions.code.prelude import prelude_of
from wieldy.run.actions.code.replay import Action, action_of
from wieldy.run.actions.code.report import report
from wieldy.run.actions.code.stubs import Stubs, stubs_of
from wieldy.run.nested import entries_within, nested_run_id
from wieldy.run.outcomes import Rest
from wieldy.run.policy import Allow, Decision, Policy, Proposal, allow_all
from wieldy.run.prices import Price
from wieldy.run.state import fold
from wieldy.sandbox import SandboxLimits
from wieldy.sandbox import open as open_sandbox
from wieldy.tools import Tool, Toolset, tool

if TYPE_CHECKING:
    from wieldy.agent.code_rules import CodeRules
    from wieldy.core.events import RunEvent, RunResult
    from wieldy.core.ports import Journal
    from wieldy.run.request import RunRequest
    from wieldy.run.state import RunState

PYTHON: Final = "python"
"""The tool by which a model acts."""

_FREE: Final = Price(input_usd_per_million=0.0, output_usd_per_million=0.0)
_DESCRIPTION: Final = (
    "Run Python code in an isolated sandbox: no network, no files of the host. The functions below are there already; "
    "calling them is the only way to reach anything outside. `await` them (top-level `await` works), run independent "
    "calls together with `await asyncio.gather(...)`, or use `NAME.sync(...)` where you cannot await. They return "
    'data: `x.a` and `x["a"]` both work. A call that fails raises `ToolError`, with `.kind` (arguments, denied, '
    "timeout, unknown, transient, crashed, too_large, tool) and a message. What you get back is the value of the last "
    "line and what was printed; so filter and sum up in code, and return only what you need. Names that you assign are "
    "kept for your next code."
)


def acting_by_code(request: RunRequest, rules: CodeRules) -> RunRequest:
    """The request of a run whose model acts by code, made of that of one whose model would call the tools itself.

    The policy is asked about every call that code makes, and so not about code, which has no power of its own.
    """
    policy = request.policy if request.policy is allow_all else _except_for_code(request.policy)
    return replace(request, toolset=CodeToolset(request, rules), policy=policy)


def _except_for_code(policy: Policy) -> Policy:
    def decided(proposal: Proposal) -> Decision | Awaitable[Decision]:
        return Allow() if proposal.tool.name == PYTHON else policy(proposal)

    return decided


@asynccontextmanager
async def opened(toolset: Toolset, rules: CodeRules) -> AsyncGenerator[tuple[Stubs, Namespace]]:
    """The tools are open, as functions, and a sandbox in which code may call them.

    Raises:
        UsageError: The sandbox does not work here, or two tools have one name in Python.
    """
    limits = rules.limits or SandboxLimits()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(toolset)
        stubs = stubs_of(toolset.definitions)
        session = await stack.enter_async_context(
            open_sandbox(rules.tier, limits=limits, packages=rules.packages, python=rules.python)
        )
        yield stubs, Namespace(session, prelude=prelude_of(stubs))


def request_of(request: RunRequest, model: CodeModel, *, messages: tuple[Message, ...]) -> RunRequest:
    """The request of a run whose model is this code, made of that of one whose model would call the tools itself."""
    return replace(
        request,
        model=model,
        messages=messages,
        run_id=model.run_id,
        limits=Limits(turns=None),
        prices={**request.prices, NAME: _FREE},
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
    """

    def __init__(self, request: RunRequest, rules: CodeRules) -> None:
        self._request = request
        self.rules = rules
        self._python: Tool | None = None
        super().__init__()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """None before it is opened: what the code may call is not known then."""
        return () if self._python is None else (self._python,)

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """As `opened`."""
        async with opened(self._request.toolset, self.rules) as (stubs, namespace):
            self._python = _Python(self, stubs, namespace).tool()
            try:
                yield
            finally:
                self._python = None

    async def run(self, ctx: Context, code: str, namespace: Namespace) -> tuple[RunResult, CodeModel]:
        """The run of this code has ended or rests, and the model that it had."""
        request = self._request
        journal = request.journal if ctx.journal is None else ctx.journal
        run_id = nested_run_id(ctx.idempotency_key)
        model = CodeModel(
            namespace, run_id=run_id, started=lambda: journal.read(run_id)[0].time, results=request.results
        )

        @asynccontextmanager
        async def opening(_run_id: str, begins: bool) -> AsyncGenerator[RunRequest]:
            yield request_of(request, model, messages=(Message.user(code),) if begins else ())

        def tell(event: RunEvent) -> None:
            if isinstance(event, CallRunning):
                ctx.progress(f"calls {event.call.name}")

        result = await run_within(ctx, PYTHON, opening, journal=journal, secrets=request.secrets, emit=tell)
        return result, model


class _Python:
    """The tool's code, and what it knows of the actions of its run so far."""

    def __init__(self, owner: CodeToolset, stubs: Stubs, namespace: Namespace) -> None:
        self._owner = owner
        self._stubs = stubs
        self._namespace = namespace
        self._names = set[str]()
        self._lock = anyio.Lock()
        self._has_looked_back = False

    def tool(self) -> Tool:
        """What the model is offered."""

        async def python(code: str, ctx: Context) -> object:
            async with self._lock:  # the names are one thing
                return await self._act(code, ctx)

        declare = tool(
            name=PYTHON,
            description="\n\n".join([_DESCRIPTION, self._stubs.text or "There are no functions."]),
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
        if not journal.read(run_id):
            problems = problems_of(
                code, self._stubs, known=self._names, is_of_this_python=self._owner.rules.python is None
            )
            if problems:
                raise ArgumentsError(refusal(problems))
        result, model = await self._owner.run(ctx, code, self._namespace)
        if result.stop_reason == "waiting_for_approval":
            return Rest(waiting=result.waiting)
        state = fold(journal.read(run_id))
        ended = ended_from_text(result.text)
        self._take(journal, state, is_current=model.is_live)
        return report(
            ended,
            state.calls,
            limits=self._owner.rules.limits or SandboxLimits(),
            stop_reason=state.stop_reason,
            tainted_by=joined(state.tainted_by, self._namespace.tainted_by),
        )

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
        ended = ended_from_text(state.text)
        if ended is None:
            return
        if ended.has_lost_names:
            self._namespace.forget()
            self._names.clear()
        if ended.keeps_names:
            self._names |= names_left(state.prompt)
            self._namespace.add(
                lambda: _recorded(journal, state.run_id), tainted_by=state.tainted_by, is_current=is_current
            )


def _recorded(journal: Journal, run_id: str) -> Action:
    state = fold(journal.read(run_id))
    return action_of(state.messages, run_id=run_id, started=state.started)
