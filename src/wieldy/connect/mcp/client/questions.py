"""What a server wants to know of a person in the middle of a call (the protocol's elicitation), and the answer.

A question is answered by a function of the program. Without one it is declined, which the server and the model are
told: a server must not learn by waiting that nobody is there. Deliberately not here: how it comes, in both eras of the
protocol (`server`).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from wieldy.core.errors import UsageError
from wieldy.schema import CompiledSchema, explain

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a server asks a person; its words are a stranger's.

    Attributes:
        server: As the program calls it; None for the only one.
        message: What is asked.
        schema: JSON Schema of an object, whose properties the person fills in; None where there is only something to
            do behind a URL.
        url: Where the person has to go to do something that the server must not see here.
    """

    server: str | None
    message: str
    schema: JsonObject | None = None
    url: str | None = None


Answerer: TypeAlias = "Callable[[Question], Awaitable[JsonObject | None] | JsonObject | None]"
"""Asks a person; gives what they filled in, empty where there is nothing to fill in, or None for no."""


def read_question(params: JsonObject, *, server: str | None) -> Question:
    """The question that the parameters of an elicitation are."""
    schema, url = params.get("requestedSchema"), params.get("url")
    return Question(
        server=server,
        message=str(params.get("message", "")),
        schema=schema if isinstance(schema, dict) else None,
        url=url if isinstance(url, str) else None,
    )


async def answered(question: Question, answerer: Answerer | None) -> JsonObject:
    """The answer in the words of the protocol.

    Raises:
        UsageError: The program's function answers what the server did not ask for.
    """
    if answerer is None:
        return {"action": "decline"}
    answer = answerer(question)
    content = await answer if inspect.isawaitable(answer) else answer
    if content is None:
        return {"action": "decline"}
    if question.schema is None:
        return {"action": "accept"}
    violations = CompiledSchema(question.schema).violations(content)
    if violations:
        raise UsageError(explain(violations, subject=f"The answers to {question.message!r:.80}"))
    return {"action": "accept", "content": content}
