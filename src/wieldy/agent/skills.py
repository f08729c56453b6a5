"""A folder of skills: saved with a check that holds, checked again, and chosen for a model.

Saving and checking run a skill's function in the sandbox with its recorded example, so that no effect is made.
Deliberately not here: how that is done (`skill_workshop`), how a skill runs as a tool (`skill_tools`), and the files
(`run.actions.code.skills`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from wieldy.agent.code_rules import CodeRules
from wieldy.agent.skill_workshop import Workshop, workshop
from wieldy.agent.waiting import wait_for
from wieldy.core.errors import SkillError
from wieldy.run.actions.code.handles import REVEAL
from wieldy.run.actions.code.names import tool_identifier
from wieldy.run.actions.code.skills.declaring import nothing, tool_of
from wieldy.run.actions.code.skills.functions import function_in, tools_named_in
from wieldy.run.actions.code.skills.recorded import recorded_action
from wieldy.run.actions.code.skills.skill import Example, RecordedCall, Skill, ToolRecord, tool_record
from wieldy.run.actions.code.skills.snippets import function_from
from wieldy.run.actions.code.skills.store import Kept, SkillStore
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.run.request import new_run_id
from wieldy.tools import tools_from

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.influence import Sources
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal
    from wieldy.tools.toolset import ToolLike

_UNKNOWN: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A skill that a model is not offered.

    Attributes:
        title: Its name and version, or its file.
        reason: Why, and what to do.
    """

    title: str
    reason: str


class Skills:
    """The skills in a folder.

    Args:
        folder: Where they are; it is made when the first one is saved.
        code: Where their code runs, and how far it may go; None for where the code of the agent runs that is offered
            them, and else for the strongest way that works.
        may_save: Whether models that are offered these skills may save others, by a tool `save_skill`.

    Raises:
        UsageError: There is something else than a folder.
    """

    def __init__(self, folder: Path | str, *, code: CodeRules | None = None, may_save: bool = False) -> None:
        self.store = SkillStore(folder)
        self.code = code
        self.may_save = may_save

    def __repr__(self) -> str:
        return f"Skills({str(self.store.folder)!r})"

    def rules(self, code: CodeRules | None = None) -> CodeRules:
        """Where their code runs, beside an agent whose code runs there."""
        return self.code or code or CodeRules()

    def kept(self) -> Kept:
        """Every version that is there, and the files that cannot be read."""
        return self.store.kept()

    def chosen(self, definitions: Iterable[ToolDefinition]) -> tuple[tuple[Skill, ...], tuple[LeftOut, ...]]:
        """The skills that can be offered beside these tools, each in its newest version, and the others."""
        kept = self.kept()
        records = {definition.name: tool_record(definition) for definition in definitions}
        reasons = {skill.title: why_not(skill, records) for skill in kept.newest}
        left_out = [LeftOut(title=title, reason=reason) for title, reason in reasons.items() if reason is not None]
        left_out += [LeftOut(title=str(each.path), reason=each.reason) for each in kept.damaged]
        return tuple(skill for skill in kept.newest if reasons[skill.title] is None), tuple(left_out)

    def remove(self, name: str, version: int | None = None) -> tuple[int, ...]:
        """The versions that are gone now: the one that is named, or all.

        Raises:
            SkillError: There is none.
        """
        return self.store.remove(name, version)

    async def save(
        self,
        source: str,
        *,
        arguments: JsonObject,
        check: str,
        tools: Iterable[ToolLike] = (),
        calls: Iterable[RecordedCall] = (),
        value: Any = _UNKNOWN,
    ) -> Skill:
        """The skill, with its version, once its check holds.

        Args:
            source: Python: one function with types and a docstring, and the imports, types and helpers (`_name`) that
                it needs. It may call the tools.
            arguments: Of its example.
            check: An expression that is true of `result`, or statements that raise nothing.
            tools: That it may call.
            calls: That it makes with the example's arguments, and what they brought; none other is made.
            value: That it returns then; if left out, whatever it does.

        Raises:
            SkillError: It cannot become a skill, or its example or check does not hold; the text says what differs.
            UsageError: The sandbox does not work here.
        """
        example = Example(
            arguments=arguments,
            calls=tuple(calls),
            value=None if value is _UNKNOWN else value,
            run_id=new_run_id(),
            started=0.0,
        )
        async with tools_from(tools) as toolset:
            records = [tool_record(definition) for definition in toolset.definitions]
        draft = self.draft(source, records, example=example, check=check)
        async with workshop(self.rules()) as shop:
            if value is _UNKNOWN:
                completed = await shop.with_example(draft, example.calls)
                # The calls stay as they were given, so that one which is not made is told of.
                draft = replace(draft, example=replace(example, value=completed.example.value))
            return await self.add(draft, shop)

    async def save_action(
        self,
        journal: Journal,
        run_id: str,
        call_id: str | None = None,
        *,
        check: str,
        name: str = "",
        description: str = "",
        parameters: JsonObject | None = None,
        source: str | None = None,
    ) -> Skill:
        """The skill that is made of a recorded action by code, once its check holds.

        Args:
            journal: Where the action is recorded.
            run_id: Of the run.
            call_id: That ran the code; may be left out where only one did.
            check: As `save` takes it.
            name: Of the skill.
            description: What it does.
            parameters: By name, the values that they had in the action: names of earlier actions, names that are
                given a literal, or new names for literals that stand in the code.
            source: The function, if it is not to be made of the action's code; it then has name and description, and
                `parameters` are its arguments in the example.

        Raises:
            SkillError: As `save`; also where the action did not come to its end.
            JournalError: The journal cannot be read.
            UsageError: The sandbox does not work here.
        """
        action = recorded_action(journal, run_id, call_id)
        tainted_by: Sources = ()
        if source is None:
            stubs = stubs_of(tool.shown for tool in action.tools)
            source = function_from(
                action.code,
                name=name,
                description=description,
                parameters=parameters or {},
                value=action.value,
                tools=frozenset(stubs.by_identifier),
            )
            tainted_by = action.tainted_by
        example = Example(
            arguments=parameters or {},
            calls=action.calls,
            value=action.value,
            run_id=action.run_id,
            started=action.started,
        )
        draft = self.draft(source, action.tools, example=example, check=check)
        async with workshop(self.rules()) as shop:
            return await self.add(replace(draft, origin=action.origin, tainted_by=tainted_by), shop)

    def draft(self, source: str, tools: Sequence[ToolRecord], *, example: Example, check: str) -> Skill:
        """What is to become a skill: the function with those of the tools that it names or has called.

        Raises:
            SkillError: The source is not about one function that can be called, or a tool has its name.
        """
        draft = _draft_of(source, tools, example=example, check=check)
        named = [tool for tool in tools if tool_identifier(tool.name) == draft.name]
        kept = self._as_tools() if named else []
        if any(tool not in kept for tool in named):
            raise SkillError(
                f"A tool is called `{draft.name}`, and beside it a skill of that name would not be offered: take "
                "another name."
            )
        return draft

    def _as_tools(self) -> list[ToolRecord]:
        """What is known of the tools that the skills become, in every version that can become one."""
        found: list[ToolRecord] = []
        for skill in self.kept().skills:
            with suppress(SkillError):
                found.append(tool_record(tool_of(skill, function_in(skill.source), nothing).definition))
        return found

    async def add(self, draft: Skill, shop: Workshop) -> Skill:
        """The draft is kept, once its check holds.

        Raises:
            SkillError: It does not.
        """
        kept = self._as_tools()
        called = [f"`{tool.name}`" for tool in draft.tools if tool in kept]
        if called:
            raise SkillError(
                f"`{draft.name}` calls {', '.join(called)}. A skill calls no other: write into it what that does."
            )
        await shop.check(draft)
        return self.store.add(draft)

    async def check(self, *skills: Skill) -> dict[str, str | None]:
        """Of each skill, by name and version, what is wrong with it; None if its example and its check hold.

        Raises:
            UsageError: The sandbox does not work here.
        """
        found: dict[str, str | None] = {}
        async with workshop(self.rules()) as shop:
            for skill in skills:
                try:
                    await shop.check(skill)
                except SkillError as error:
                    found[skill.title] = str(error)
                else:
                    found[skill.title] = None
        return found

    def save_sync(self, source: str, **settings: Any) -> Skill:
        """`save` for programs that are not asynchronous.

        Raises:
            UsageError: As `save`; also where an event loop is running already.
        """
        return wait_for(partial(self.save, source, **settings), called="save_sync", instead="skills.save")

    def save_action_sync(self, journal: Journal, run_id: str, call_id: str | None = None, **settings: Any) -> Skill:
        """`save_action` for programs that are not asynchronous.

        Raises:
            UsageError: As `save_action`; also where an event loop is running already.
        """
        work = partial(self.save_action, journal, run_id, call_id, **settings)
        return wait_for(work, called="save_action_sync", instead="skills.save_action")

    def check_sync(self, *skills: Skill) -> dict[str, str | None]:
        """`check` for programs that are not asynchronous.

        Raises:
            UsageError: As `check`; also where an event loop is running already.
        """
        return wait_for(partial(self.check, *skills), called="check_sync", instead="skills.check")


def _draft_of(source: str, tools: Sequence[ToolRecord], *, example: Example, check: str) -> Skill:
    function = function_in(source)
    called = {call.name for call in example.calls}
    # Of thousands of tools a source names few, and only those are looked at as functions.
    near = [
        each for each in tools if each.name in called or each.name in source or tool_identifier(each.name) in source
    ]
    called |= set(tools_named_in(source, stubs_of(tool.shown for tool in near)))
    needed = tuple(tool for tool in near if tool.name in called)
    if any(tool.name == REVEAL for tool in needed):
        raise SkillError(f"A skill gets values and no handles: write `{function.name}` without `{REVEAL}`.")
    return Skill(name=function.name, source=source, tools=needed, example=example, check=check)


def why_not(skill: Skill, tools: Mapping[str, ToolRecord]) -> str | None:
    """Why the skill cannot be offered beside these tools; None if it can."""
    missing = [f"`{tool.name}`" for tool in skill.tools if tool.name not in tools]
    changed = [f"`{tool.name}`" for tool in skill.tools if tool.name in tools and tool != tools[tool.name]]
    if missing:
        return f"it calls {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not among the tools"
    if changed:
        return (
            f"{', '.join(changed)} {'is' if len(changed) == 1 else 'are'} defined otherwise than when it was saved; "
            "save it again"
        )
    if any(tool_identifier(name) == skill.name for name in tools):
        return "a tool has its name"
    try:
        tool_of(skill, function_in(skill.source), nothing)
    except SkillError as error:
        return f"its function cannot be used: {error}"
    return None
