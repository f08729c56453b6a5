"""Tools whose arguments a provider enforces: those that its dialect can express are strict, others as they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wieldy.connect.models.backends.dialects import SchemaDialect
from wieldy.connect.models.backends.strict import Strict, strict_schema
from wieldy.connect.models.backends.taken import Asked, Reading, Taken
from wieldy.core.calls import ToolDefinition

Room = Callable[[Strict], str]
"""Why a further strict tool has no room; empty if it has."""


def strict_calls(asked: Asked, *, dialect: SchemaDialect, room: Room = lambda _: "") -> Taken:
    """The tools in the dialect."""
    sent: list[ToolDefinition] = []
    dialects: dict[str, Strict] = {}
    cannot: list[str] = []
    for tool in asked.tools:
        strict = strict_schema(tool.input_schema, dialect)
        reasons = [str(entry) for entry in strict.refused] or [reason for reason in (room(strict),) if reason]
        if reasons:
            sent.append(tool)
            cannot += [f"{tool.name}: {reason}" for reason in reasons]
            continue
        dialects[tool.name] = strict
        sent.append(replace(tool, input_schema=strict.schema))
        cannot += [f"{tool.name}: {entry}" for entry in strict.unenforced]
    return Taken(
        how="native" if dialects else "prompt",
        cannot=tuple(cannot),
        tools=tuple(sent),
        strict=frozenset(dialects),
        reading=Reading(calls={name: strict for name, strict in dialects.items() if not strict.is_same}),
    )
