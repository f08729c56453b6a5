"""BFCL's data: tasks and their possible answers, as the benchmark ships them.

Deliberately not here: where the data comes from (`fetching`), and what a right answer is (`official`, `strict`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile
from zipfile import Path as ZipPath

from wieldy.core.errors import UsageError
from wieldy.evals.bfcl.categories import Category

_FOLDER: Final = "bfcl_eval/data"
_PREFIX: Final = "BFCL_v4_"


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
    """The data in a wheel, in an installed package's folder, or in a folder of its files.

    Raises:
        UsageError: There is no such data.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self._folder = _data_folder(place)

    def tasks(self, category: Category) -> tuple[BfclTask, ...]:
        """The tasks of a category, in the benchmark's order.

        Raises:
            UsageError: Its file is missing, or holds something else.
        """
        try:
            answers = self._answers(category)
            return tuple(_task(category, row, answers) for row in self._rows(f"{_PREFIX}{category.name}.json"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"{self.place}: expected tasks of BFCL's category {category.name!r}, found something else "
                f"({type(error).__name__}: {error})."
            ) from error

    def _answers(self, category: Category) -> dict[str, list[dict[str, dict[str, list[Any]]]]]:
        if category.wanted != "calls":
            return {}
        rows = self._rows(f"possible_answer/{_PREFIX}{category.name}.json")
        return {row["id"]: row["ground_truth"] for row in rows}

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        file = self._folder.joinpath(name)
        if not file.is_file():
            raise UsageError(f"{self.place}: expected BFCL's file {name}, found none.")
        return map(json.loads, filter(str.strip, file.read_text(encoding="utf-8").split("\n")))


def _task(category: Category, row: dict[str, Any], answers: dict[str, Any]) -> BfclTask:
    return BfclTask(
        id=row["id"],
        category=category,
        messages=tuple((message["role"], message["content"]) for message in row["question"][0]),
        functions=tuple(row["function"]),
        answers=tuple(answers[row["id"]]) if category.wanted == "calls" else (),
    )


def _data_folder(place: Path) -> Traversable:
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
