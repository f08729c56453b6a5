"""Anthropic's Messages API: `output_config.format` and strict tools, in a dialect of JSON Schema.

Answers and calls may be asked for at once. A schema without a strict form goes into the function-calling shell, where
that is the only thing to call. Sources of the limits: Anthropic's guide "Structured outputs", schema complexity.
"""

from __future__ import annotations

from typing import Final

from wieldy.connect.models.backends.dialects import ANTHROPIC as DIALECT
from wieldy.connect.models.backends.shell import in_shell
from wieldy.connect.models.backends.strict import Strict, strict_schema
from wieldy.connect.models.backends.strict_tools import strict_calls
from wieldy.connect.models.backends.taken import Asked, Backend, Reading, Taken
from wieldy.core.outputs import JsonOutput, Output, schema_of

_MOST_STRICT_TOOLS: Final = 20
_MOST_OPTIONAL: Final = 24
_MOST_UNIONS: Final = 16
"""Of all strict schemas of one request together."""


def _answer(asked: Asked, output: Output) -> Taken:
    strict = strict_schema(schema_of(output), DIALECT)
    reasons = tuple(map(str, strict.refused)) or tuple(filter(None, (_Room()(strict),)))
    if reasons and asked.may_call:
        return Taken(how="prompt", cannot=reasons)
    if reasons:
        return in_shell(asked, output)
    return Taken(
        how="native",
        fields={"output_config": {"format": {"type": "json_schema", "schema": strict.schema}}},
        cannot=tuple(map(str, strict.unenforced)),
        reading=Reading(answer=strict, is_quoted=not isinstance(output, JsonOutput)),
        is_told=True,
    )


def _calls(asked: Asked) -> Taken:
    room = _Room()
    if asked.output is not None and not asked.must_call:
        room(strict_schema(schema_of(asked.output), DIALECT))
    room.tools = 0
    return strict_calls(asked, dialect=DIALECT, room=room)


class _Room:
    """What of the limits of one request is used up."""

    def __init__(self) -> None:
        self.tools = 0
        self._optional = 0
        self._unions = 0

    def __call__(self, strict: Strict) -> str:
        if self.tools == _MOST_STRICT_TOOLS:
            return f"a request takes at most {_MOST_STRICT_TOOLS} strict tools"
        if self._optional + strict.optional > _MOST_OPTIONAL:
            return f"strict schemas of a request have at most {_MOST_OPTIONAL} properties that may be left out"
        if self._unions + strict.unions > _MOST_UNIONS:
            return f"strict schemas of a request have at most {_MOST_UNIONS} parts that are one of several schemas"
        self.tools += 1
        self._optional += strict.optional
        self._unions += strict.unions
        return ""


ANTHROPIC: Final = Backend(
    name="anthropic",
    title="Anthropic",
    answer=_answer,
    calls=_calls,
    takes_both="always",
    notes=("Models before Claude 4.5 take neither; what a server refuses is asked for once more without it.",),
)
