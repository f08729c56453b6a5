"""A recorded action saved as a skill from the command line. Deliberately not here: the command (`skills`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wieldy.apps.cli.journals import find_run, open_for_reading
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.skills_folder import skills_in
from wieldy.apps.cli.skills_view import show_whole, skill_to_json
from wieldy.core.errors import SkillError, UsageError
from wieldy.core.json import parse_json

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be saved, as it was written."""

    run: str
    call: str | None
    check: str
    name: str
    description: str
    parameters: tuple[str, ...]
    function: Path | None
    journal: str | None


def save_recorded(folder: Path | None, order: Order, *, json: bool) -> None:
    """Save the skill and show it.

    Raises:
        SkillError: It cannot become one, or its check does not hold.
        UsageError: There is no such run, or a file cannot be read.
    """
    skills = skills_in(folder)
    parameters = _parameters(order.parameters)
    source = None if order.function is None else _read(order.function)
    if source is not None and (order.name or order.description):
        raise UsageError("--function brings the name and the description: leave --name and --description out.")
    if source is None and not order.name:
        raise UsageError("Name the skill with --name, or give its function with --function.")
    journal = open_for_reading(order.journal)
    run_id = find_run(journal, order.run)
    assert journal is not None  # it has the run
    skill = skills.save_action_sync(
        journal,
        run_id,
        order.call,
        check=order.check,
        name=order.name,
        description=order.description,
        parameters=parameters,
        source=source,
    )
    if json:
        print_json(skill_to_json(skill))
    else:
        show_whole(skill)


def _parameters(written: tuple[str, ...]) -> JsonObject:
    found: JsonObject = {}
    for each in written:
        name, has_value, value = each.partition("=")
        if not has_value or not name.strip() or name.strip() in found:
            raise SkillError(f"Expected --parameter NAME=VALUE, each name once, found {each!r}.")
        found[name.strip()] = _value(value)
    return found


def _value(text: str) -> JsonValue:
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise UsageError(f"{file}: the file cannot be read: {reason}") from error
