"""OpenAI-style dictionaries of other programs, which may lack ids or be older than ids.

What is missing becomes the empty id, which `repairing` mends; everything else is read by `messages_from`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from wieldy.core.messages import Message, messages_from


def read_foreign(messages: Iterable[Message | Mapping[str, Any]]) -> tuple[Message, ...]:
    """The messages, one for each item.

    Raises:
        UsageError: An item is no message.
    """
    given: Any = messages  # a text, one message alone, or what is no list: all read or refused in one place
    if isinstance(messages, str | Mapping) or not hasattr(messages, "__iter__"):
        return messages_from(given)
    return messages_from([_with_ids(item) if isinstance(item, Mapping) else item for item in messages])


def _with_ids(message: Mapping[str, Any]) -> dict[str, Any]:
    filled = dict(message)
    if filled.get("role") in ("tool", "function"):
        filled |= {"role": "tool", "tool_call_id": _text(filled.get("tool_call_id"))}
    function: object = filled.get("function_call")
    calls: object = filled.get("tool_calls") or ([{"function": function}] if function else [])
    if isinstance(calls, list):
        filled["tool_calls"] = [_with_id(call) for call in cast("list[object]", calls)]
    return filled


def _with_id(call: object) -> object:
    if not isinstance(call, Mapping):
        return call
    given = cast("Mapping[str, object]", call)
    return {**given, "id": _text(given.get("id"))}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
