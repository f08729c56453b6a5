"""An agent: a model, tools and rules, ready to be run as often and as concurrently as one likes.

This is assembly only: it turns what a program says into a `RunRequest` and opens what the run needs. What happens in a
run is in `run.loop`, what a single setting means in `parts`. Deliberately not here: anything that a run remembers; that
is in the journal.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from wieldy.agent.parts import (
    Actions,
    ForcedCalls,
    Strategy,
    acting,
    acting_with,
    code_rules,
    journal_of,
    led,
    resolved,
    runs_forced,
    skills_of,
    wanted,
)
from wieldy.agent.waiting import wait_for
from wieldy.agent.within import run_within
from wieldy.core.context import Context
from wieldy.core.errors import UsageError
from wieldy.core.history import check_history
from wieldy.core.limits import Limits
from wieldy.core.messages import Message, messages_from
from wieldy.core.outputs import Incomplete
from wieldy.run.budget import check_limits
from wieldy.run.consent import Consent
from wieldy.run.events import events_of
from wieldy.run.journal import check_run_id
from wieldy.run.loop import Emit, nothing, resume, run
from wieldy.run.nested import RunStoppedError
from wieldy.run.outcomes import Rest
from wieldy.run.policy import Approver, Policy, allow_all
from wieldy.run.prices import PRICES, Prices, check_prices
from wieldy.run.request import RunRequest
from wieldy.run.results import ResultRules, check_secrets
from wieldy.run.results.masks import Mask
from wieldy.tools import Tool, Toolset, tool, tools_from
from wieldy.tools.present import Sourced

if TYPE_CHECKING:
    from wieldy.agent.code_rules import CodeRules
    from wieldy.agent.skills import Skills
    from wieldy.core.approvals import Approval, ApprovalRequest
    from wieldy.core.events import RunEvent, RunResult
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal, Model
    from wieldy.core.principals import Principal
    from wieldy.run.outputs import OutputSpec
    from wieldy.run.searching import ToolSearch

Prompt: TypeAlias = str | Iterable[Message | Mapping[str, Any]]
"""What a run starts from: the user's words, or a conversation as `Message`s or OpenAI-style dictionaries."""

_DEFAULT_LIMITS = Limits()
_DEFAULT_RESULTS = ResultRules()


class Agent:
    """A model that may use tools.

    An agent holds no state of its runs and may run several at once.

    Args:
        model: A model, or a string that names one, such as `local` or `openai:NAME`.
        tools: Functions, `Tool`s and `Toolset`s. What a toolset holds open is opened for each run and closed after it.
        instructions: The system message. A conversation that brings its own keeps it instead.
        journal: Where runs are recorded: a journal, the path of a file, or a `postgresql://` URL; without one they are
            kept in memory, in `agent.journal`, for as long as the agent lives.
        limits: How far a run may go.
        policy: Asked before every call; without one every call is allowed.
        approver: Asked at once where the policy wants a person's consent; without one the run waits for `approve`.
        principal: On whose behalf runs act; tools that need a permission run only with it.
        secrets: By name, for tools to take by `ctx.secret(name)`; masked wherever they would be shown or recorded.
        results: How results are shown to the model.
        prices: What models cost, by name, for `usage.cost_usd` and `Limits(cost_usd=...)`.
        actions: How the model acts: `calls` by its own tool calls, `react` and `json` in text that any chat model can
            write, `code` in Python that calls the tools as functions, in an isolated sandbox.
        code: Where that code runs, and how far it may go.
        skills: Code that has succeeded before, offered as tools beside the others: `Skills`, or their folder.
        finish: Whether the model may also end a run by a call of `finish`.
        output: What the answer must be, and `result.output` then is: a Pydantic model, a dataclass, a TypedDict or
            another type that JSON can carry; a JSON Schema; a list of options, an `Enum` or a `Literal`; a compiled
            regular expression. None for any text.
        search: When the model has to search for its tools instead of being shown all of them; None for never.
        forced_calls: Whether calls are run whose arguments the limit on output tokens decided, not the model.
        strategy: How the model is led: `guided` asks a local model one small question after the other, `native` lets
            the model say everything itself. Without one: `guided` where the model can be, else `native`.
        metadata: Recorded with each run, for the program's own use; JSON.

    Raises:
        UsageError: One of these cannot be used.
        JournalError: The file cannot be used as a journal.
    """

    def __init__(  # noqa: PLR0913 - one parameter for each thing that a run can be given
        self,
        model: Model | str,
        tools: Iterable[Tool | Toolset | Callable[..., object]] = (),
        *,
        instructions: str | None = None,
        journal: Journal | Path | str | None = None,
        limits: Limits = _DEFAULT_LIMITS,
        policy: Policy | None = None,
        approver: Approver | None = None,
        principal: Principal | None = None,
        secrets: Mapping[str, str] | None = None,
        results: ResultRules = _DEFAULT_RESULTS,
        prices: Prices | None = None,
        actions: Actions = "calls",
        code: CodeRules | None = None,
        skills: Skills | Path | str | None = None,
        finish: bool = False,
        output: OutputSpec = None,
        search: ToolSearch | None = None,
        forced_calls: ForcedCalls = "refuse",
        strategy: Strategy | None = None,
        metadata: JsonObject | None = None,
    ) -> None:
        check_limits(limits)
        self.toolset = tools_from(tools)
        self._connected = resolved(model)
        self.model = acting(led(self._connected, strategy, actions), actions)
        self.journal = journal_of(journal)
        self._consent = Consent(self.journal)
        self.limits = limits
        self._instructions = instructions
        self._policy = allow_all if policy is None else policy
        self._approver = approver
        self._principal = principal
        self._secrets = dict(secrets or {})
        check_secrets(self._secrets)
        self._mask = Mask(self._secrets)
        self._results = results
        self._prices = PRICES if prices is None else {**PRICES, **prices}
        check_prices(self._prices)
        self._finish = finish
        self._wanted = wanted(output)
        self._search = search
        self._runs_forced = runs_forced(forced_calls)
        self._metadata = metadata
        self._code = code_rules(code, actions)
        self._skills = skills_of(skills)

    async def run(self, prompt: Prompt) -> RunResult:
        """The model's answer, after as many calls as it took.

        Raises:
            UsageError: The prompt is no prompt and no history that can be answered.
            RunError: The model could not answer, or the journal could not be written.
        """
        return await self._run(self._messages(prompt), nothing)

    def stream(self, prompt: Prompt) -> AsyncGenerator[RunEvent]:
        """What happens, as it happens; the last event, `RunFinished`, carries the result.

        Leaving the iteration early ends the run.

        Raises:
            UsageError: The prompt is no prompt and no history that can be answered.
            RunError: While iterating: the model could not answer, or the journal could not be written.
        """
        messages = self._messages(prompt)
        return events_of(lambda emit: self._run(messages, emit))

    def run_sync(self, prompt: Prompt) -> RunResult:
        """`run` for programs that are not asynchronous.

        Raises:
            UsageError: As `run`; also where an event loop is running already.
            RunError: As `run`.
        """
        return wait_for(partial(self.run, prompt), called="run_sync", instead="agent.run")

    async def resume(self, run_id: str) -> RunResult:
        """The answer of a run that was stopped, crashed or waits for a decision, after whatever was left of it.

        What was done is not done again: see `Tool.effect`. A run that is over gives its result again.

        Raises:
            UsageError: The journal has no such run, or this is no run's id.
            RunError: As `run`; also where another process is at work on it, or its record was changed.
        """
        check_run_id(run_id)
        return await self._resume(run_id, nothing)

    def stream_resumed(self, run_id: str) -> AsyncGenerator[RunEvent]:
        """What happens in a resumed run, as `stream` tells it.

        Raises:
            UsageError: This is no run's id; while iterating: the journal has no such run.
            RunError: While iterating: as `resume`.
        """
        check_run_id(run_id)
        return events_of(lambda emit: self._resume(run_id, emit))

    def resume_sync(self, run_id: str) -> RunResult:
        """`resume` for programs that are not asynchronous.

        Raises:
            UsageError: As `resume`; also where an event loop is running already.
            RunError: As `resume`.
        """
        return wait_for(partial(self.resume, run_id), called="resume_sync", instead="agent.resume")

    def pending(self, run_id: str) -> tuple[ApprovalRequest, ...]:
        """The calls that wait for a person: the run's own, in the model's order, then those of runs within it.

        Raises:
            UsageError: The journal has no such run.
            JournalError: The journal cannot be read, or was changed.
        """
        return self._consent.pending(run_id)

    def approve(self, run_id: str, call_id: str, *, by: str, digest: str | None = None) -> Approval:
        """The call may run with the arguments that were shown; it does when the run is resumed.

        Args:
            run_id: The run.
            call_id: The call that waits.
            by: Who consents.
            digest: Of the request that they were shown; None to consent to what waits now.

        Raises:
            ApprovalError: No such call waits, the time is over, or something else was shown.
            UsageError: The journal has no such run.
            JournalError: The journal cannot be read or written, or was changed.
        """
        return self._consent.answer(run_id, call_id, is_granted=True, by=self._masked(by), digest=digest)

    def deny(self, run_id: str, call_id: str, *, by: str, reason: str = "") -> Approval:
        """The call must not run, and the model is told why when the run is resumed.

        Raises:
            ApprovalError, UsageError, JournalError: As `approve`.
        """
        said = self._masked(reason)
        return self._consent.answer(run_id, call_id, is_granted=False, by=self._masked(by), reason=said)

    def _masked(self, text: str) -> str:
        # Not every program is checked for its types; who reads the text says what is wrong with it.
        return self._mask.text(text) if isinstance(text, str) else text  # pyright: ignore[reportUnnecessaryIsInstance]

    def as_tool(self, name: str, description: str) -> Tool:
        """A tool whose call is a run of this agent; its one argument is the prompt, its result the answer or `output`.

        The nested run is recorded beside the one that started it, is kept to what is left of its limits at each
        moment, acts on behalf of the same principal, counts towards its usage as it goes, and keeps its secrets out of
        the record without having them. If the program dies, it is resumed with it.
        """
        reads_only = all(each.effect == "read" for each in self.toolset.tools)

        async def nested(prompt: str, ctx: Context) -> object:
            return await self._nested(name, prompt, ctx)

        # A second attempt is for another process: in this one it would charge again what the first one has charged.
        declare = tool(name=name, description=description, effect="read" if reads_only else "keyed", retries=0)
        return declare(nested)

    async def _nested(self, name: str, prompt: str, ctx: Context) -> object:
        result = await run_within(
            ctx, name, partial(self._opened_within, prompt), journal=self.journal, secrets=self._secrets
        )
        if result.stop_reason == "waiting_for_approval":
            return Rest(waiting=result.waiting)
        if not result.text and result.stop_reason not in ("answered", "finished"):
            raise RunStoppedError(
                f"`{name}` ended without an answer ({result.stop_reason}). Answer from what is known."
            )
        if isinstance(result.output, Incomplete):
            raise RunStoppedError(
                f"`{name}` ended without an answer of the form that it must have ({result.stop_reason}). Answer from "
                "what is known."
            )
        answer = result.text if self._wanted is None else result.output
        # What the nested run read may have shaped its answer, and what it was asked.
        return Sourced(answer, source=name, trust="untrusted" if result.is_tainted else "trusted")

    @asynccontextmanager
    async def _opened_within(self, prompt: str, run_id: str, begins: bool) -> AsyncGenerator[RunRequest]:
        async with AsyncExitStack() as opened:
            yield await self._open(opened, run_id=run_id, messages=self._messages(prompt) if begins else ())

    async def _run(self, messages: tuple[Message, ...], emit: Emit) -> RunResult:
        async with AsyncExitStack() as opened:
            return await run(await self._open(opened, messages=messages), emit)

    async def _resume(self, run_id: str, emit: Emit) -> RunResult:
        async with AsyncExitStack() as opened:
            return await resume(await self._open(opened, run_id=run_id), emit)

    async def _open(
        self,
        opened: AsyncExitStack,
        *,
        messages: tuple[Message, ...] = (),
        run_id: str | None = None,
    ) -> RunRequest:
        # Connections that a model or a toolset keeps are opened once for the whole run.
        request = acting_with(self._request(), code=self._code, skills=self._skills)
        for resource in (self._connected, request.toolset):
            if isinstance(resource, AbstractAsyncContextManager):
                await opened.enter_async_context(resource)
        return replace(request, messages=messages, run_id=request.run_id if run_id is None else run_id)

    def _request(self) -> RunRequest:
        return RunRequest(
            model=self.model,
            toolset=self.toolset,
            journal=self.journal,
            limits=self.limits,
            policy=self._policy,
            approver=self._approver,
            principal=self._principal,
            secrets=self._secrets,
            results=self._results,
            prices=self._prices,
            finish=self._finish,
            output=self._wanted,
            search=self._search,
            runs_forced=self._runs_forced,
            metadata=self._metadata,
        )

    def _messages(self, prompt: Prompt) -> tuple[Message, ...]:
        # Not every program is checked for its types.
        if not isinstance(prompt, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Expected a prompt as text or as a list of messages, found {type(prompt).__name__}.")
        messages = messages_from(prompt)
        if self._instructions and not any(message.role == "system" for message in messages[:1]):
            messages = (Message.system(self._instructions), *messages)
        check_history(messages)
        return messages
