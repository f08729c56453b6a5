"""What a chat template must be told otherwise than by the usual dictionaries, in a few words each.

Deliberately not here: finding it out (`search`), and what is lost all the same (`faults`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from wieldy.core.errors import UsageError
from wieldy.formats.templates.dialect import Dialect
from wieldy.formats.templates.probes import ONE_CALL, RendersMessages, completion, reply_text

_Row: TypeAlias = tuple[Callable[[Dialect], bool], str]

_ANYWHERE: Final[tuple[_Row, ...]] = (
    (lambda dialect: not dialect.system, "system messages within the first user message"),
    (lambda dialect: dialect.parts, "content as a list of parts"),
)
_IN_CALLS: Final[tuple[_Row, ...]] = (
    (lambda dialect: dialect.tools == "bare", "tools without their OpenAI-style wrapper"),
    (lambda dialect: dialect.call_ids == "nine", "call ids of nine letters or digits"),
    (lambda dialect: dialect.call_ids == "named", "the tool's name within the call's id"),
    (lambda dialect: dialect.empty_content == "missing", "no content beside a call that has none"),
    (lambda dialect: dialect.empty_content == "null", "null as the content beside a call that has none"),
)


def needs_of(speaking: Callable[[Dialect], RendersMessages], dialect: Dialect) -> tuple[str, ...]:
    """What the template needs, given the dialect that was found for it."""
    plain = [words for holds, words in _ANYWHERE if holds(dialect)]
    if completion(speaking(dialect), ONE_CALL) is None:
        return tuple(plain)
    calls = [words for holds, words in _IN_CALLS if holds(dialect)]
    return (*plain, *calls, *_arguments_need(speaking, dialect))


def _arguments_need(speaking: Callable[[Dialect], RendersMessages], dialect: Dialect) -> tuple[str, ...]:
    """Empty where the template writes the same either way, as a few do."""
    other = replace(dialect, arguments="text" if dialect.arguments == "object" else "object")
    try:
        if reply_text(speaking(other), ONE_CALL) == reply_text(speaking(dialect), ONE_CALL):
            return ()
    except UsageError:
        pass
    return ("arguments as an object" if dialect.arguments == "object" else "arguments as JSON text",)
