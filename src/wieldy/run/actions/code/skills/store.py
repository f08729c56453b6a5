"""Skills in a folder: one file for each version, `NAME.VERSION.json`.

Laws: whenever a writer is stopped, what was there before is there; two writers get two versions; a file that cannot be
read is told of and keeps no other from being read; whatever a skill is called, its file is in the folder. A version is
never changed; a new one is written beside it. Deliberately not here: whether a skill works (`trial`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final

from msgspec.structs import replace

from wieldy.core.errors import SkillError, UsageError
from wieldy.run.actions.code.skills.skill import (
    MAX_FILE_BYTES,
    Skill,
    check_skill_name,
    skill_from_text,
    skill_to_text,
)

_FILE: Final = re.compile(r"([a-z][a-z0-9_]{0,59})\.([1-9][0-9]{0,8})\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFile:
    """A file that should be a skill and cannot be read as one."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is in a folder.

    Attributes:
        skills: Every version that can be read, by name, the oldest version first.
        damaged: Files that cannot be read.
    """

    skills: tuple[Skill, ...]
    damaged: tuple[DamagedFile, ...]

    @property
    def newest(self) -> tuple[Skill, ...]:
        """Of each skill its newest version."""
        return tuple({skill.name: skill for skill in self.skills}.values())


class SkillStore:
    """A folder of skills; it is made when the first one is added.

    Args:
        folder: Where they are.

    Raises:
        UsageError: There is something else than a folder.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).expanduser()
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{self.folder}: expected a folder of skills, found a file.")

    def __repr__(self) -> str:
        return f"SkillStore({str(self.folder)!r})"

    def kept(self) -> Kept:
        """All that is there."""
        skills: list[Skill] = []
        damaged: list[DamagedFile] = []
        for name, version in sorted(self._versions()):
            path = self._path(name, version)
            try:
                skills.append(_read(path, name, version))
            except FileNotFoundError:
                continue  # removed meanwhile
            except (SkillError, OSError) as error:
                damaged.append(DamagedFile(path=path, reason=str(error)))
        return Kept(skills=tuple(skills), damaged=tuple(damaged))

    def get(self, name: str, version: int | None = None) -> Skill:
        """The skill, in its newest version that can be read if none is named.

        Raises:
            SkillError: There is none, or its file is damaged.
        """
        versions = self._versions_of(name)
        if version is not None:
            if version not in versions:
                raise self._not_there(name, version)
            return self._read_named(name, version)
        kept = self.kept()
        found = next((skill for skill in kept.newest if skill.name == name), None)
        if found is not None:
            return found
        if versions:
            return self._read_named(name, max(versions))
        raise self._not_there(name, None)

    def add(self, skill: Skill) -> Skill:
        """The skill with the version under which it is kept now: one more than the highest there was.

        Raises:
            SkillError: It cannot be kept: its name, or its size.
            OSError: The folder cannot be written.
        """
        check_skill_name(skill.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        while True:
            added = replace(skill, version=max(self._versions_of(skill.name), default=0) + 1)
            if self._write(added):
                return added

    def remove(self, name: str, version: int | None = None) -> tuple[int, ...]:
        """The versions that are gone now: the one that is named, or all.

        Raises:
            SkillError: There is none.
            OSError: The folder cannot be written.
        """
        there = self._versions_of(name)
        wanted = there if version is None else [each for each in there if each == version]
        if not wanted:
            raise self._not_there(name, version)
        for each in wanted:
            self._path(name, each).unlink(missing_ok=True)
        return tuple(wanted)

    def _versions(self) -> Iterator[tuple[str, int]]:
        try:
            names = os.listdir(self.folder)  # noqa: PTH208 - names are looked at, not paths
        except FileNotFoundError:
            return
        for name in names:
            if found := _FILE.fullmatch(name):
                yield found[1], int(found[2])

    def _versions_of(self, name: str) -> list[int]:
        check_skill_name(name)
        return sorted(version for each, version in self._versions() if each == name)

    def _path(self, name: str, version: int) -> Path:
        return self.folder / f"{name}.{version}.json"

    def _read_named(self, name: str, version: int) -> Skill:
        path = self._path(name, version)
        try:
            return _read(path, name, version)
        except FileNotFoundError:
            raise self._not_there(name, version) from None
        except (SkillError, OSError) as error:
            raise SkillError(f"{path}: the skill cannot be used: {error}. Remove it, or save it again.") from error

    def _not_there(self, name: str, version: int | None) -> SkillError:
        there = [f"{each}@{number}" for each, number in sorted(self._versions())]
        wanted = name if version is None else f"{name}@{version}"
        return SkillError(f"There is no skill {wanted} in {self.folder}; there is {', '.join(there) or 'none'}.")

    def _write(self, skill: Skill) -> bool:
        """Whether the file is there; not if somebody else was faster with this version."""
        text = skill_to_text(skill)
        partial = self.folder / f".{skill.name}.{token_hex(8)}"
        try:
            with partial.open("x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            # A second name for a file that is whole: it is there at once, and never in the place of another.
            os.link(partial, self._path(skill.name, skill.version))
        except FileExistsError:
            return False
        finally:
            partial.unlink(missing_ok=True)
        self._make_last()
        return True

    def _make_last(self) -> None:
        if os.name != "posix":  # folders cannot be opened there, and need not be
            return
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(path: Path, name: str, version: int) -> Skill:
    if not path.is_file() or path.is_symlink():
        if path.exists() or path.is_symlink():
            raise SkillError("expected a file, found something else")
        raise FileNotFoundError(path)
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise SkillError(f"expected at most {MAX_FILE_BYTES:,} bytes, found more")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise SkillError("it is no text in UTF-8") from error
    skill = skill_from_text(text)
    if (skill.name, skill.version) != (name, version):
        raise SkillError(f"it holds {skill.title}, and its name says {name}@{version}")
    return skill
