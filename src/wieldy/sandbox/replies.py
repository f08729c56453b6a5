"""What handlers of calls may answer, and the frames that it becomes: only what was meant for the code crosses."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from wieldy.core.errors import ModelVisibleError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.sandbox.outcome import GuestCall, Pause, Reply

Answer: TypeAlias = "JsonValue | Reply | Pause"
Handler: TypeAlias = Callable[[GuestCall], Awaitable[Answer]]
"""Answers a call of the code. Raises a `ModelVisibleError`, as `ToolError` is one, to tell the code that it failed.

Handlers run at once. One task may answer several calls of a run, one after the other: what a handler sets in a context
variable, the next may find there.
"""


def success(seq: int, answer: JsonValue | Reply) -> JsonObject:
    """The frame that brings the code what a handler answered."""
    if isinstance(answer, Reply):
        return {"op": "reply", "seq": seq, "value": answer.value, "time": answer.time}
    return {"op": "reply", "seq": seq, "value": answer}


def failure(seq: int, error: ModelVisibleError) -> JsonObject:
    """The frame that brings the code a `ToolError` with the text of this one."""
    return failure_frame(seq, kind_of(error), str(error))


def failure_frame(seq: int, kind: str, message: str) -> JsonObject:
    """The same, from its parts."""
    return {"op": "reply", "seq": seq, "error": {"kind": kind, "message": message}}


def kind_of(error: ModelVisibleError) -> str:
    """The stable word that the code reads for a failure: that of its class, `tool_timeout` for `ToolTimeoutError`."""
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
