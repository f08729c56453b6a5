"""A task in other words: the paraphrases that it has, and formats into which any prompt can be put.

A format changes how a request looks and nothing that it says, so what is done should stay the same. Deliberately not
here: paraphrases that a model writes, which nobody would have checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from msgspec import structs

from wieldy.core.messages import Message, TextPart, messages_from
from wieldy.evals.cases.case import VARIANT
from wieldy.evals.tasks.task import Task

if TYPE_CHECKING:
    from wieldy.agent.agent import Prompt

AS_WRITTEN: Final = "as written"

FORMATS: Final[Mapping[str, Callable[[str], str]]] = {
    "heading": lambda text: f"# Request\n\n{text}",
    "tags": lambda text: f"<request>\n{text}\n</request>",
    "json": lambda text: json.dumps({"request": text}, ensure_ascii=False),
    "quote": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
}
"""How the last message of the user can look."""


def with_variants(tasks: Iterable[Task]) -> list[Task]:
    """Each task as written, in its other words, and in each format; those of one task are one cluster."""
    return [variant for task in tasks for variant in _variants(task)]


def _variants(task: Task) -> Iterator[Task]:
    yield _as(task, task.prompt, AS_WRITTEN)
    for number, prompt in enumerate(task.variants, 1):
        yield _as(task, prompt, f"words {number}")
    for name, change in FORMATS.items():
        yield _as(task, _changed(messages_from(task.prompt), change), name)


def _as(task: Task, prompt: Prompt, name: str) -> Task:
    return replace(
        task,
        id=f"{task.id}@{name.replace(' ', '-')}",
        prompt=prompt,
        variants=(),
        cluster=task.cluster or task.id,
        axes={**task.axes, VARIANT: name},
    )


def _changed(messages: Sequence[Message], change: Callable[[str], str]) -> list[Message]:
    last = max((at for at, message in enumerate(messages) if message.role == "user"), default=-1)
    return [_in_format(message, change) if at == last else message for at, message in enumerate(messages)]


def _in_format(message: Message, change: Callable[[str], str]) -> Message:
    parts = tuple(TextPart(text=change(part.text)) if isinstance(part, TextPart) else part for part in message.parts)
    return structs.replace(message, parts=parts)
