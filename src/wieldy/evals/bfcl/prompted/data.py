"""BFCL's tasks of format sensitivity: some tasks of Python once more, each in every form of prompt.

Deliberately not here: the forms (`forms`), and how a prompt is made (`prompt`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from wieldy.core.errors import UsageError
from wieldy.evals.bfcl.categories import CATEGORIES, PromptedCategory
from wieldy.evals.bfcl.data import BfclData, BfclTask, file_of
from wieldy.evals.bfcl.prompted.forms import FORMS, Form
from wieldy.evals.bfcl.prompted.prompt import system_prompt, with_system_prompt
from wieldy.evals.bfcl.prompts import prompts_of, python_hint

_HINTS: Final = 2
"""How often the benchmark adds its hint to the description of a function here; elsewhere it does so once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedTask:
    """A task in one form.

    Attributes:
        task: What is wanted, as in its own category.
        messages: Role and text of each message, the functions included.
    """

    id: str
    category: PromptedCategory
    task: BfclTask
    form: Form
    messages: tuple[tuple[str, str], ...]


def prompted_tasks(data: BfclData, category: PromptedCategory, *, limit: int | None = None) -> tuple[PromptedTask, ...]:
    """The tasks in the benchmark's order: every form of the first task, then every form of the next.

    Args:
        data: Where they are.
        category: Theirs.
        limit: How many tasks, each of which is there in every form; all if left out.

    Raises:
        UsageError: A file is missing, or holds something else.
    """
    try:
        wanted: Mapping[str, list[str]] = data.whole(file_of(category))
        words, hint = prompts_of(data), python_hint(data) * _HINTS
        numbers = count()
        return tuple(
            PromptedTask(
                id=f"{category.name}_{next(numbers)}:{form.name}:{task.id}",
                category=category,
                task=task,
                form=form,
                messages=tuple(with_system_prompt(task.messages, system_prompt(form, functions, words))),
            )
            for task in list(_tasks(data, wanted))[:limit]
            for functions in [_with_hint(task, hint)]
            for form in FORMS
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{data.place}: expected tasks of BFCL's category {category.name!r}, found something else "
            f"({type(error).__name__}: {error})."
        ) from error


def _tasks(data: BfclData, wanted: Mapping[str, list[str]]) -> Iterator[BfclTask]:
    for name, ids in wanted.items():
        if ids:
            yield from (task for task in data.tasks(CATEGORIES[name]) if task.id in ids)


def _with_hint(task: BfclTask, hint: str) -> list[dict[str, Any]]:
    return [{**function, "description": f"{function['description']}{hint}"} for function in task.functions]
