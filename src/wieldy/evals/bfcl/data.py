"""BFCL's data: tasks and their possible answers, as the benchmark ships them.

Deliberately not here: where the data comes from (`fetching`), and what a right answer is (`official`, `strict`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile
from zipfile import Path as ZipPath

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.bfcl.categories import Category, ConversationCategory, PromptedCategory
from wieldy.evals.bfcl.fetching import VERSION, WHEEL_SHA256

_FOLDER: Final = "bfcl_eval/data"


@dataclass(frozen=True, slots=True, kw_only=True)
class BfclTask:
    """One task.

    Attributes:
        messages: Role and text of each message, as the conversation begins.
        functions: The functions as the benchmark describes them, in its own words for types.
        answers: For each call that is wanted: the function's name, and for each parameter the values that are right;
            `""` among them means that it may be left out. Empty where no certain call is wanted.
    """

    id: str
    category: Category
    messages: tuple[tuple[str, str], ...]
    functions: tuple[dict[str, Any], ...]
    answers: tuple[dict[str, dict[str, list[Any]]], ...] = ()


class BfclData:
    """The data in the pinned wheel, in an installed package's folder, or in a folder of its files.

    Args:
        place: The wheel or the folder. A folder is taken as it is.
        wheel_sha256: The checksum that a wheel must have.

    Raises:
        UsageError: There is no such data, or it is another wheel.
    """

    def __init__(self, place: Path, *, wheel_sha256: str = WHEEL_SHA256) -> None:
        self.place = place
        self._folder = _data_folder(place)
        if isinstance(self._folder, Path):
            self._told = "of an installation or a folder", _digest_of(self._folder)
            return
        found = hashlib.sha256(place.read_bytes()).hexdigest()
        if found != wheel_sha256:
            raise UsageError(
                f"{place}: expected the wheel of bfcl_eval {VERSION} with sha256 {wheel_sha256}, found {found}. "
                "Leave --data out, and the right one is fetched."
            )
        self._told = VERSION, found

    @property
    def source(self) -> JsonObject:
        """What exactly was read: of a wheel its checksum, of a folder that of all its files."""
        version, sha256 = self._told
        return {"data": "bfcl_eval", "version": version, "sha256": sha256}

    def tasks(self, category: Category) -> tuple[BfclTask, ...]:
        """The tasks of a category, in the benchmark's order.

        Raises:
            UsageError: Its file is missing, or holds something else.
        """
        try:
            answers = self._answers(category)
            return tuple(_task(category, row, answers) for row in self.rows(file_of(category)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"{self.place}: expected tasks of BFCL's category {category.name!r}, found something else "
                f"({type(error).__name__}: {error})."
            ) from error

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of one of its files.

        Raises:
            UsageError: There is no such file.
            ValueError: It holds something else than lines of JSON.
        """
        return map(json.loads, filter(str.strip, self._text(name).split("\n")))

    def whole(self, name: str) -> Any:
        """What one of its files holds that is a single value of JSON.

        Raises:
            UsageError: There is no such file.
            ValueError: It holds something else.
        """
        return json.loads(self._text(name))

    def _text(self, name: str) -> str:
        file = self._folder.joinpath(name)
        if not file.is_file():
            raise UsageError(f"{self.place}: expected BFCL's file {name}, found none.")
        return file.read_text(encoding="utf-8")

    @property
    def package(self) -> Traversable:
        """The folder around the data, which is the package's if all of it is here."""
        if isinstance(self._folder, Path):
            return self._folder.resolve().parent
        return ZipPath(self._folder.root, self._folder.at.removesuffix("data/"))

    def _answers(self, category: Category) -> dict[str, list[dict[str, dict[str, list[Any]]]]]:
        if category.wanted != "calls":
            return {}
        rows = self.rows(f"possible_answer/{file_of(category)}")
        return {row["id"]: row["ground_truth"] for row in rows}


def file_of(category: Category | ConversationCategory | PromptedCategory) -> str:
    """The name of the file with a category's tasks, and of the one with their answers in its own folder."""
    return f"BFCL_v4_{category.name}.json"


def _task(category: Category, row: dict[str, Any], answers: dict[str, Any]) -> BfclTask:
    return BfclTask(
        id=row["id"],
        category=category,
        messages=tuple((message["role"], message["content"]) for message in row["question"][0]),
        functions=tuple(row["function"]),
        answers=tuple(answers[row["id"]]) if category.wanted == "calls" else (),
    )


def _digest_of(folder: Path) -> str:
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*.json"), key=lambda file: file.relative_to(folder).as_posix()):
        found.update(f"{file.relative_to(folder).as_posix()}\0{file.stat().st_size}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


def _data_folder(place: Path) -> Path | ZipPath:
    if place.is_dir():
        inside = place / _FOLDER
        return inside if inside.is_dir() else place
    try:
        folder = ZipPath(place, f"{_FOLDER}/")
    except (OSError, BadZipFile) as error:
        raise UsageError(f"{place}: expected a bfcl_eval wheel, or a folder with BFCL's data; {error}.") from error
    if not folder.exists():
        raise UsageError(f"{place}: expected a bfcl_eval wheel, which has a folder {_FOLDER}, found none in it.")
    return folder
