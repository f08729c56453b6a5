"""Skills as the tools of one run: each call of one is a run within the run whose model is the skill's function.

So what a skill calls goes the way of all calls, and only to the tools that it was saved with. The skill itself is a
tool like others: the policy is asked about it. Deliberately not here: which skills there are (`skills`).
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from wieldy.agent.code import request_of
from wieldy.agent.skill_workshop import Workshop, workshop
from wieldy.agent.skills import Skills
from wieldy.agent.within import run_within
from wieldy.core.context import Context
from wieldy.core.errors import SkillError, SkillNotOfferedWarning, ToolError
from wieldy.core.events import CallRunning
from wieldy.core.influence import joined
from wieldy.core.json import canonical_json
from wieldy.core.messages import Message
from wieldy.run.actions.code.ended import Ended, ended_from_text
from wieldy.run.actions.code.model import CodeModel
from wieldy.run.actions.code.namespace import Namespace
from wieldy.run.actions.code.prelude import prelude_of
from wieldy.run.actions.code.report import calls_made, why_ended
from wieldy.run.actions.code.skills.declaring import tool_of
from wieldy.run.actions.code.skills.functions import Function, function_in
from wieldy.run.actions.code.skills.recorded import calls_around
from wieldy.run.actions.code.skills.skill import SAVE_SKILL, Example, Skill, tool_record
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.run.nested import nested_run_id
from wieldy.run.outcomes import Rest
from wieldy.run.state import fold
from wieldy.tools import Tool, Toolset, tool
from wieldy.tools.present import Presented

if TYPE_CHECKING:
    from wieldy.agent.code_rules import CodeRules
    from wieldy.core.events import RunEvent
    from wieldy.core.ports import Entry, Journal
    from wieldy.run.request import RunRequest
    from wieldy.run.state import RunState


class SkillToolset(Toolset):
    """The tools of a run, and the skills that can be offered beside them.

    Args:
        request: Of the run, with its tools.
        skills: Looked at when this is opened; a warning tells of those that are not offered.
        code: Where the code of the agent runs, if it acts by code.
    """

    def __init__(self, request: RunRequest, skills: Skills, code: CodeRules | None) -> None:
        self._request = request
        self._inner = request.toolset
        self._skills = skills
        self._rules = skills.rules(code)
        self._offered: tuple[Tool, ...] = ()
        self._shop: Workshop | None = None
        super().__init__([request.toolset])

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Those of the run first."""
        return (*super().tools, *self._offered)

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """The tools are open, and so is a sandbox, if there is something to be run in it.

        Raises:
            UsageError: The sandbox does not work here.
        """
        async with super().hold():
            chosen, left_out = self._skills.chosen(self._inner.definitions)
            for each in left_out:
                told = f"The skill {each.title} is not offered: {each.reason}."
                warnings.warn(told, SkillNotOfferedWarning, stacklevel=2)
            if not chosen and not self._skills.may_save:
                yield
                return
            async with workshop(self._rules) as shop:
                self._shop = shop
                self._offered = tuple(self._tool(skill) for skill in chosen)
                try:
                    yield
                finally:
                    self._offered, self._shop = (), None

    def _tool(self, skill: Skill) -> Tool:
        function = function_in(skill.source)

        async def use(given: Mapping[str, Any], context: Context) -> object:
            return await self._use(skill, function, given, context)

        return tool_of(skill, function, use)

    async def _use(self, skill: Skill, function: Function, given: Mapping[str, Any], ctx: Context) -> object:
        shop, request = self._shop, self._request
        assert shop is not None
        journal: Journal = request.journal if ctx.journal is None else ctx.journal
        run_id = nested_run_id(ctx.idempotency_key)
        names = _tools_of(journal.read(run_id)) or {each.name for each in skill.tools}
        toolset = self._inner.filtered(lambda each: each.name in names)
        namespace = Namespace(shop.interpreter, prelude=prelude_of(stubs_of(toolset.definitions)))
        model = CodeModel(
            namespace, run_id=run_id, started=lambda: journal.read(run_id)[0].time, results=request.results
        )
        code = function.called(skill.source, given)
        own = replace(request, toolset=toolset, tainted_by=joined(request.tainted_by, skill.tainted_by))

        @asynccontextmanager
        async def opening(_run_id: str, begins: bool) -> AsyncGenerator[RunRequest]:
            yield request_of(own, model, messages=(Message.user(code),) if begins else ())

        def tell(event: RunEvent) -> None:
            if isinstance(event, CallRunning):
                ctx.progress(f"calls {event.call.name}")

        async with shop.lock:
            result = await run_within(ctx, skill.name, opening, journal=journal, secrets=request.secrets, emit=tell)
        if result.stop_reason == "waiting_for_approval":
            return Rest(waiting=result.waiting)
        return self._presented(skill, ended_from_text(result.text), fold(journal.read(run_id)), shop)

    def _presented(self, skill: Skill, ended: Ended | None, state: RunState, shop: Workshop) -> Presented:
        is_good = ended is not None and ended.status == "done" and ended.value_repr is None
        value = ended.value if ended is not None and is_good else None
        return Presented(
            text=_told(value)
            if is_good
            else "\n".join([_failure(skill, ended, state, shop), *calls_made(state.calls)]),
            structured=value,
            trust="untrusted" if state.is_tainted else "trusted",
            tainted_by=state.tainted_by,
            is_error=not is_good,
        )

    def saving(self) -> Tool:
        """The tool by which a model saves a skill; it works while this is open."""

        async def save_skill(  # noqa: D417 - the context is no argument of a model's
            function: str, arguments: dict[str, Any], check: str, ctx: Context
        ) -> str:
            """Save a Python function that worked as a skill: a tool that can be called in later runs.

            The function is tried with the example's arguments. Its calls are answered from the calls that this run has
            made already, with the same arguments; no call is made again, and one that was not made before is refused.

            Args:
                function: Python source of one function (`async def` if it calls tools) with a name, a type for each
                    parameter and for what it returns, and a docstring that says what it does. Imports stand above it.
                arguments: Of the example, by parameter.
                check: A Python expression about `result`, what the function returned, that is true if it is right.
            """
            try:
                saved = await self._save(function, arguments, check, ctx)
            except SkillError as error:
                raise ToolError(f"The skill was not saved. {error}") from error
            return f"Saved as {saved.title}. It is offered in the runs that begin after this."

        return tool(name=SAVE_SKILL, effect="unsafe", retries=0)(save_skill)

    async def _save(self, source: str, arguments: dict[str, Any], check: str, ctx: Context) -> Skill:
        shop, journal = self._shop, self._request.journal if ctx.journal is None else ctx.journal
        assert shop is not None
        pool = calls_around(journal, ctx.run_id)
        example = Example(arguments=arguments, calls=(), value=None, run_id=ctx.run_id, started=0.0)
        records = [tool_record(definition) for definition in self._inner.definitions]
        draft = self._skills.draft(source, records, example=example, check=check)
        tried = await shop.with_example(draft, pool)
        # Once more with what it has called, so that tools which it names by a value are among its own.
        drafted = self._skills.draft(source, records, example=tried.example, check=check)
        origin = f"{ctx.run_id} {ctx.call_id}"
        return await self._skills.add(_as_made(drafted, origin=origin, tainted_by=ctx.tainted_by), shop)


def offering(request: RunRequest, skills: Skills, code: CodeRules | None) -> tuple[RunRequest, Tool | None]:
    """The request of a run that is offered skills, made of that of one that is not; and the tool that saves others."""
    toolset = SkillToolset(request, skills, code)
    return replace(request, toolset=toolset), toolset.saving() if skills.may_save else None


def _tools_of(entries: Sequence[Entry]) -> set[str]:
    """What a run that was begun by this or an earlier version could call."""
    tools = cast("list[dict[str, str]]", entries[0].data.get("tools") or []) if entries else []  # as `run_started` is
    return {each["name"] for each in tools}


def _as_made(skill: Skill, *, origin: str, tainted_by: tuple[str, ...]) -> Skill:
    return replace(skill, origin=origin, tainted_by=tainted_by)


def _told(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _failure(skill: Skill, ended: Ended | None, state: RunState, shop: Workshop) -> str:
    if ended is None or ended.status == "limit":
        why = f"its run has reached a limit ({state.stop_reason or 'unknown'})"
    elif ended.value_repr is not None:
        why = f"it returned what JSON has not: {ended.value_repr[:200]}"
    elif ended.status == "diverged":
        why = (
            f"run again after a restart, it did something else than before, so nothing further was run. {ended.because}"
        )
    else:
        why = ended.error or why_ended(ended, shop.limits)
    return f"The skill `{skill.name}` did not come to its end: {why.strip()}"
