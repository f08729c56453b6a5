"""What may be answered to calls, and the bytes that it becomes: only what was meant for the code crosses."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from wieldy.core.errors import ModelVisibleError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.sandbox.frames import item_of
from wieldy.sandbox.outcome import Failure, GuestCall, Reply

MAX_VALUE_BYTES: Final = 4_000_000
"""Of a value that is answered, as JSON in UTF-8: what is certainly no larger can be sent."""

Answer: TypeAlias = "JsonValue | Reply | Failure | ModelVisibleError"
Handler: TypeAlias = Callable[[GuestCall], Awaitable[Answer]]
"""Answers a call of the code, or raises a `ModelVisibleError`, as `ToolError` is one, to tell the code that it failed.

All calls of a batch are handled at once; the code goes on when all are answered.
"""


def reply_to_bytes(answer: Answer) -> bytes:
    """The answer as it stands in a frame.

    Raises:
        ValueError: It is no JSON, or too large. Also TypeError and RecursionError, where it holds other objects.
    """
    if isinstance(answer, ModelVisibleError):
        answer = Failure(kind=kind_of(answer), message=str(answer))
    if isinstance(answer, Failure):
        return item_of({"error": {"kind": answer.kind, "message": answer.message}})
    if isinstance(answer, Reply):
        reply: JsonObject = {"value": answer.value, "time": answer.time}
        return item_of(reply if answer.time is not None else {"value": answer.value})
    return item_of({"value": answer})


def kind_of(error: ModelVisibleError) -> str:
    """The stable word that the code reads for a failure: that of its class, `tool_timeout` for `ToolTimeoutError`."""
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
