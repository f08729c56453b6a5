"""Which skills a command means: their folder, and a skill by its name. Deliberately not here: showing them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wieldy.agent.skills import Skills
from wieldy.apps.cli.journals import default_journal
from wieldy.core.errors import SkillError

if TYPE_CHECKING:
    from wieldy.run.actions.code.skills.skill import Skill


def skills_in(folder: Path | None) -> Skills:
    """The skills of the folder, or of the default one.

    Raises:
        UsageError: There is something else than a folder.
    """
    return Skills(default_journal().parent / "skills" if folder is None else folder)


def named(title: str) -> tuple[str, int | None]:
    """The name and the version that a person wrote, the version if they wrote one.

    Raises:
        SkillError: What they wrote as a version is none.
    """
    name, has_version, version = title.partition("@")
    if not has_version:
        return name, None
    if not version.isascii() or not version.isdecimal() or not 0 < len(version) < 10:
        raise SkillError(f"Expected NAME or NAME@VERSION, such as late_total@2, found {title!r}.")
    return name, int(version)


def skill_named(skills: Skills, title: str) -> Skill:
    """The skill that a person means.

    Raises:
        SkillError: There is none, or its file is damaged.
    """
    return skills.store.get(*named(title))
