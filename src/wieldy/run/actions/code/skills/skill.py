"""What is kept of a skill, and the text of the file that keeps it.

Law: `skill_from_text(skill_to_text(skill))` is an equal skill; a text in which anything was changed is refused.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

import msgspec

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import SkillError
from wieldy.core.json import JsonObject, canonical_json, digest, is_json, parse_json
from wieldy.core.record import Record
from wieldy.run.records import definition_to_json
from wieldy.tools.names import check_name

MAX_FILE_BYTES: Final = 2_000_000
"""Of one skill, its example included; an example with larger results shows no more than a smaller one."""

SAVE_SKILL: Final = "save_skill"
"""The tool by which a model saves a skill."""

_FORMAT: Final = 1
_TAKEN: Final = frozenset({SAVE_SKILL, "python", "finish", "read_result"})
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,59}")


class RecordedCall(Record, frozen=True, kw_only=True):
    """A call that the example's code made, and what came of it.

    Attributes:
        name: The tool.
        arguments: As the code gave them.
        value: What it brought.
        failure: Of a call that failed, the kind that code is told.
        message: And the text.
    """

    name: str
    # JSON here and below; a recursive type cannot be read from a file by its annotation.
    arguments: dict[str, Any]
    value: Any = None
    failure: str | None = None
    message: str = ""

    @property
    def key(self) -> str:
        """Equal for calls that ask for the same."""
        return canonical_json([self.name, self.arguments])


class Example(Record, frozen=True, kw_only=True):
    """One run of the skill's function, as it was recorded.

    Attributes:
        arguments: That it was given.
        calls: That it made, in order.
        value: What it returned.
        run_id: From which its chance follows.
        started: Where its clock stood, in seconds since the epoch.
    """

    arguments: dict[str, Any]
    calls: tuple[RecordedCall, ...]
    value: Any
    run_id: str
    started: float


class ToolRecord(Record, frozen=True, kw_only=True):
    """A tool that the skill calls, as it was defined when the skill was saved.

    Attributes:
        definition: Name, description and schemas, as a model was shown them.
    """

    definition: dict[str, Any]

    @property
    def name(self) -> str:
        """By which it is called."""
        return str(self.definition["name"])

    @property
    def digest(self) -> str:
        """Equal exactly for equal definitions."""
        return digest(self.definition)

    @property
    def shown(self) -> ToolDefinition:
        """As a definition; the description holds whatever else was said."""
        return ToolDefinition(
            name=self.name,
            description=str(self.definition.get("description", "")),
            input_schema=self.definition["input_schema"],
            output_schema=self.definition.get("output_schema"),
        )


def tool_record(definition: ToolDefinition) -> ToolRecord:
    """What is kept of a tool."""
    return ToolRecord(definition=definition_to_json(definition))


class Skill(Record, frozen=True, kw_only=True):
    """A function that a model may call, with the proof that it works.

    Attributes:
        name: Of the function and of the tool that it becomes.
        version: From 1; 0 while it is in no store.
        source: Python: the function, and the imports and types that it needs.
        tools: That it may call; no others can be reached from it.
        example: That the check was made with.
        check: Python: an expression that is true, or statements that raise nothing, where `result` is the value.
        tainted_by: The untrusted sources that may have shaped its source.
        origin: The run and the call that it was made from; empty if it was written by hand.
    """

    name: str
    version: int = 0
    source: str
    tools: tuple[ToolRecord, ...]
    example: Example
    check: str
    tainted_by: tuple[str, ...] = ()
    origin: str = ""

    @property
    def title(self) -> str:
        """Name and version, as people write them."""
        return f"{self.name}@{self.version}"


def check_skill_name(name: str) -> str:
    """The name, found to be one that every provider, Python and every file system takes.

    Raises:
        SkillError: It is not.
    """
    if not _NAME.fullmatch(name) or name in _TAKEN:
        raise SkillError(
            f"Expected a skill's name to be 1 to 60 of a-z, 0-9 and '_' with a letter first, and none of "
            f"{', '.join(sorted(_TAKEN))}; found {name[:80]!r}."
        )
    return name


def skill_to_data(skill: Skill) -> JsonObject:
    """The skill as JSON."""
    return _plain(skill)


def skill_to_text(skill: Skill) -> str:
    """The skill as the text of its file.

    Raises:
        SkillError: It holds what JSON has not, or too much.
    """
    data = skill_to_data(skill)
    if not is_json(data):
        raise SkillError(f"Expected arguments and results of the skill {skill.name!r} as JSON, found something else.")
    text = canonical_json({"format": _FORMAT, "digest": digest(data), "skill": data})
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise SkillError(f"The skill {skill.name!r} holds half a character, which no file takes: {error}") from error
    if size > MAX_FILE_BYTES:
        raise SkillError(
            f"The skill {skill.name!r} with its example takes {size:,} bytes, and may take {MAX_FILE_BYTES:,}. Record "
            "an example whose calls bring less."
        )
    return text


def _check_definition(definition: dict[str, Any]) -> None:
    kinds = {"name": str, "description": str, "input_schema": dict, "output_schema": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(definition.get(name, kind()), kind)]
    check_name(definition.get("name"), subject="a tool that it calls", error=SkillError)
    if wrong or "input_schema" not in definition:
        raise SkillError(f"the definition of the tool {definition['name']} cannot be read ({', '.join(wrong)})")


def _plain(part: object) -> Any:
    if isinstance(part, Record):
        return {name: _plain(getattr(part, name)) for name in part.__struct_fields__}
    return list(map(_plain, cast("tuple[object, ...]", part))) if isinstance(part, tuple) else part


def skill_from_text(text: str) -> Skill:
    """The skill that the text of a file is.

    Raises:
        SkillError: It is none, or was changed after it was written; the text says what is wrong.
    """
    try:
        kept: Any = parse_json(text)
        if kept["format"] != _FORMAT:
            raise SkillError(f"it is of format {kept['format']!r}, and this version reads {_FORMAT}")
        if kept["digest"] != digest(kept["skill"]):
            raise SkillError("it was changed after it was written")
        skill = msgspec.convert(kept["skill"], Skill)
        for each in skill.tools:
            _check_definition(each.definition)
        check_skill_name(skill.name)
    except (KeyError, TypeError, IndexError) as error:
        raise SkillError(f"a part of it is missing ({error!r})") from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise SkillError(f"it cannot be read: {error}") from error
    return skill
