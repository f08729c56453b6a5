"""Skills for people and for machines: listed, shown, checked, removed.

Deliberately not here: the commands (`skills`), and saving (`skills_saving`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from wieldy.agent.skills import why_not
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.json_lines import JsonLines, print_json
from wieldy.apps.cli.skills_folder import named, skill_named, skills_in
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.apps.cli.untrusted import code_text, neutralise, one_line
from wieldy.core.errors import SkillError
from wieldy.core.json import canonical_json
from wieldy.run.actions.code.skills.functions import function_in
from wieldy.run.actions.code.skills.skill import ToolRecord, skill_to_data, tool_record

if TYPE_CHECKING:
    from wieldy.agent.skills import Skills
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.run.actions.code.skills.skill import RecordedCall, Skill
    from wieldy.run.actions.code.skills.store import DamagedFile, Kept


def list_skills(folder: Path | None, tools_files: Sequence[Path], *, json: bool) -> None:
    """Print the skills, newest versions first named, with what keeps each from being offered.

    Raises:
        UsageError: A file of tools cannot be loaded.
    """
    skills = skills_in(folder)
    records = _records(tools_files, json=json)
    kept = skills.kept()
    if json:
        print_json(_kept_to_json(skills, kept, records))
        return
    for skill in kept.newest:
        _show_line(skill, kept, _reason(skill, records))
    for damaged in kept.damaged:
        note(f"{damaged.path}: the skill cannot be used: {damaged.reason}.")
    if not kept.newest:
        out().block(Text(f"There is no skill in {skills.store.folder}. Save one with `wieldy skills save`."))


def show_skill(folder: Path | None, title: str, *, json: bool) -> None:
    """Print all of a skill.

    Raises:
        SkillError: There is none, or its file is damaged.
    """
    skill = skill_named(skills_in(folder), title)
    if json:
        print_json(skill_to_json(skill))
    else:
        show_whole(skill)


def check_skills(folder: Path | None, titles: Sequence[str], tools_files: Sequence[Path], *, json: bool) -> bool:
    """Print what is wrong with the skills, and return whether nothing is.

    Raises:
        SkillError: One that is named is not there.
        UsageError: A file of tools cannot be loaded, or no code can be run here.
    """
    skills = skills_in(folder)
    records = _records(tools_files, json=json)
    kept = skills.kept()
    chosen = [skill_named(skills, title) for title in titles] if titles else list(kept.newest)
    damaged = () if titles else kept.damaged
    found = skills.check_sync(*chosen) if chosen else {}
    reasons = {skill.title: found[skill.title] or _reason(skill, records) for skill in chosen}
    is_good = not damaged and not any(reasons.values())
    if json:
        print_json({"ok": is_good, "skills": _reasons_to_json(reasons), "damaged": _damaged_to_json(damaged)})
        return is_good
    for title, reason in reasons.items():
        text = f"{title}: {'holds' if reason is None else reason}"
        out().block_of_words(Text(neutralise(text), style="green" if reason is None else "red"))
    for each in damaged:
        out().block_of_words(Text(neutralise(f"{each.path}: {each.reason}"), style="red"))
    if not reasons and not damaged:
        out().block(Text(f"There is no skill in {skills.store.folder}."))
    return is_good


def remove_skill(folder: Path | None, title: str, *, every: bool, json: bool) -> None:
    """Remove a version, or all, and say which.

    Raises:
        SkillError: There is none, or it is not said which.
    """
    name, version = named(title)
    if every == (version is not None):
        raise SkillError(f"Expected NAME@VERSION, or NAME with --all, found {title!r}{' with --all' if every else ''}.")
    removed = skills_in(folder).remove(name, version)
    if json:
        print_json({"name": name, "removed": list(removed)})
    else:
        out().block(Text(f"Removed {', '.join(f'{name}@{each}' for each in removed)}."))


def show_whole(skill: Skill) -> None:
    """Print all of a skill."""
    function, terminal = function_in(skill.source), out()
    terminal.block(Text(skill.title, style="bold"))
    if skill.origin:
        terminal.block(Text(neutralise(f"made from {skill.origin}"), style="dim"))
    if skill.tainted_by:
        terminal.block(
            Text(neutralise(f"untrusted sources may have shaped it: {', '.join(skill.tainted_by)}"), style="yellow")
        )
    terminal.print()
    terminal.block(Text(code_text(skill.source.strip("\n"))))
    terminal.print()
    for tool in skill.tools:
        terminal.block(Text(f"calls {tool.name} (definition {tool.digest[:12]})"))
    example = skill.example
    shown = ", ".join(f"{name}={canonical_json(value)}" for name, value in example.arguments.items())
    terminal.block(Text(code_text(f"example: {function.name}({shown}) is {canonical_json(example.value)}")))
    for call in example.calls:
        terminal.block(Text(neutralise(_call_words(call))), first="  ", rest="    ")
    terminal.block(Text(code_text(f"check: {skill.check.strip()}")), rest="  ")


def skill_to_json(skill: Skill) -> JsonObject:
    """All of a skill as one JSON object; the tools with the digests of their definitions."""
    return {
        **skill_to_data(skill),
        "description": function_in(skill.source).documentation,
        "tools": [{"name": tool.name, "digest": tool.digest, "definition": tool.definition} for tool in skill.tools],
    }


def _records(files: Sequence[Path], *, json: bool) -> dict[str, ToolRecord] | None:
    """The tools of the files, by name; None if no file was named."""
    if not files:
        return None
    if json:
        with JsonLines():  # what the files print goes to standard error
            return anyio.run(_load, files)
    return anyio.run(_load, files)


async def _load(files: Sequence[Path]) -> dict[str, ToolRecord]:
    async with load_tools(files) as toolset:
        return {definition.name: tool_record(definition) for definition in toolset.definitions}


def _reason(skill: Skill, records: dict[str, ToolRecord] | None) -> str | None:
    return None if records is None else why_not(skill, records)


def _show_line(skill: Skill, kept: Kept, reason: str | None) -> None:
    older = [str(each.version) for each in kept.skills if each.name == skill.name and each != skill]
    terminal = out()
    head = Text.assemble((skill.title, "bold"), f" (also {', '.join(older)})" if older else "")
    terminal.block(Text.assemble(head, "  ", one_line(_description(skill), limit=200)), rest="  ")
    calls = ", ".join(tool.name for tool in skill.tools)
    terminal.block(Text(f"calls {calls}" if calls else "calls no tool", style="dim"), first="  ", rest="  ")
    if reason is not None:
        terminal.block(Text(neutralise(f"not offered: {reason}"), style="yellow"), first="  ", rest="  ")


def _description(skill: Skill) -> str:
    try:
        return function_in(skill.source).documentation.partition("\n\n")[0]
    except SkillError as error:  # another version of Wieldy may have read it
        return str(error)


def _call_words(call: RecordedCall) -> str:
    came = canonical_json(call.value) if call.failure is None else f"{call.failure}: {call.message}"
    return one_line(f"{call.name}({canonical_json(call.arguments)}) brought {came}", limit=300)


def _kept_to_json(skills: Skills, kept: Kept, records: dict[str, ToolRecord] | None) -> JsonObject:
    return {
        "folder": str(skills.store.folder),
        "skills": [_line_to_json(skill, kept, records) for skill in kept.newest],
        "damaged": _damaged_to_json(kept.damaged),
    }


def _line_to_json(skill: Skill, kept: Kept, records: dict[str, ToolRecord] | None) -> JsonObject:
    reason = _reason(skill, records)
    return {
        "name": skill.name,
        "version": skill.version,
        "versions": [each.version for each in kept.skills if each.name == skill.name],
        "description": _description(skill),
        "tools": [tool.name for tool in skill.tools],
        "tainted_by": list(skill.tainted_by),
        "offered": None if records is None else reason is None,
        "reason": reason,
    }


def _reasons_to_json(reasons: dict[str, str | None]) -> list[JsonValue]:
    return [{"skill": title, "ok": reason is None, "reason": reason} for title, reason in reasons.items()]


def _damaged_to_json(damaged: Sequence[DamagedFile]) -> list[JsonValue]:
    return [{"file": str(each.path), "reason": each.reason} for each in damaged]
