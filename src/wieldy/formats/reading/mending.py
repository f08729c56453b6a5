"""Calls whose JSON is nearly right, read with repair where the format or the caller allows it.

A call is only mended when its text is there to its end: what merely stopped stays an `InvalidToolCall`, for no one
knows how it would have gone on. What was changed is told as `Repaired`, before the `ToolCall`.
Deliberately not here: the repair itself (`schema.repair`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.events import Repaired
from wieldy.formats.reading.sink import OpenCall
from wieldy.schema.compiled import CompiledSchema
from wieldy.schema.repair import JsonRepairError, RepairedJson, RepairLevel, read_json, refuse_other_types


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What a JSON value says as a call; the name is None where it stands elsewhere."""

    name: str | None
    arguments: JsonObject
    provider_id: str | None = None


@runtime_checkable
class SaysCall(Protocol):
    """A node whose text is one JSON value."""

    def meant(self, value: JsonValue) -> Meant | None:
        """The call that the value is; None if it is none."""
        ...


def mend(call: OpenCall, text: str, *, node: SaysCall, level: RepairLevel, is_cut: bool) -> bool:
    """Whether the text could be read with repair; the call is closed then.

    Args:
        call: The call that could not be read strictly.
        text: Its JSON, from `call.arguments_position` on.
        node: What reads a call from a value.
        level: The highest level that may be tried; 1 tries nothing.
        is_cut: Whether the text ended before anything said that the call is over.
    """
    if level == 1:
        return False
    try:
        repaired = read_json(text, level=level)
    except JsonRepairError:
        return False
    if is_cut and any(change.kind == "missing closer" for change in repaired.changes):
        return False
    meant = node.meant(repaired.value)
    return meant is not None and settle(call, text, repaired, meant)


def settle(call: OpenCall, text: str, repaired: RepairedJson, meant: Meant) -> bool:
    """Whether the call is what was meant: not if it has another name, or a type that its schema does not allow."""
    name = call.name or meant.name
    if name is None or (meant.name is not None and meant.name != name):
        return False
    if repaired.level > 1 and _is_of_other_type(text, replace(repaired, value=meant.arguments), call.schema(name)):
        return False
    position = call.arguments_position
    if repaired.changes:
        changes = tuple(replace(change, position=position + change.position) for change in repaired.changes)
        call.repaired(Repaired(index=call.index, position=position, level=repaired.level, changes=changes))
    call.finish(name, meant.arguments, meant.provider_id)
    return True


def _is_of_other_type(text: str, repaired: RepairedJson, schema: JsonObject | None) -> bool:
    if schema is None:
        return False
    try:
        refuse_other_types(text, repaired, CompiledSchema(schema))
    except JsonRepairError:
        return True
    except UsageError:  # a schema that is not in order says nothing
        return False
    return False
