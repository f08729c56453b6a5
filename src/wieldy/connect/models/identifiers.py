"""Names and ids of calls on the wire: what a history may carry back, and what a reply may be called.

Pure. A provider wants its own ids back, some want a certain alphabet, and none takes one id twice; a model may leave
the id out, repeat it, or call a tool by a name that no provider would take.
Laws: `wire_ids` never gives two calls one id, nor does `unique_id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolChoice, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message

ANY_ID = re.compile(r".+", re.DOTALL)
SHORT_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What the strictest providers take."""

_NAME_LENGTH = 64


def wire_ids(messages: Iterable[Message], *, pattern: re.Pattern[str]) -> dict[str, str]:
    """For each call's id the one to send: the provider's own where it is known, fits and is not used yet; else ours."""
    chosen: dict[str, str] = {}
    used: set[str] = set()
    for call in (call for message in messages for call in message.calls):
        candidates = [
            candidate for candidate in (call.provider_id, call.id) if candidate and pattern.fullmatch(candidate)
        ]
        wire_id = next((candidate for candidate in candidates if candidate not in used), None)
        chosen[call.id] = wire_id or unique_id(None, used)
        used.add(chosen[call.id])
    return chosen


def ids_in(messages: Sequence[Message]) -> set[str]:
    """Every id by which a call in these messages is known."""
    calls = [call for message in messages for call in message.calls]
    return {call.id for call in calls} | {call.provider_id for call in calls if call.provider_id}


def unique_id(wanted: str | None, taken: set[str]) -> str:
    """The wanted id if it is free, else one made from it; the same every time for the same arguments."""
    if wanted and wanted not in taken:
        return wanted
    stem = wanted or "call"
    number = len(taken) + 1
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"


def wire_name(name: str | None) -> str:
    """A tool's name that every provider takes; a good one is unchanged."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name or "")[:_NAME_LENGTH] or "unknown"


def wire_arguments(call: AnyCall) -> JsonObject:
    """A call's arguments as the object that providers demand; unreadable text is kept in one field of it."""
    return {"unreadable_arguments": call.text} if isinstance(call, InvalidToolCall) else call.arguments


def chosen_tool(choice: ToolChoice, tools: Sequence[ToolDefinition]) -> str:
    """The name of the tool that must be called.

    Raises:
        UsageError: It is not among the tools.
    """
    name = choice.name
    names = [definition.name for definition in tools]
    if name is None or name not in names:
        raise UsageError(f"ToolChoice(mode='tool'): expected one of {', '.join(names)}, found {name!r}")
    return name
