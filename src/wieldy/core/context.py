"""What a tool's code may know about the call that it serves.

A parameter annotated `Context` receives it and is never shown to the model.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Given to a tool that asks for it.

    Attributes:
        run_id: The run that this call belongs to.
        call_id: The call, unique within the run.
        tool_name: The name by which the model called the tool.
        idempotency_key: The same for every attempt at this call, in any process; for services that take one.
    """

    run_id: str
    call_id: str
    tool_name: str
    idempotency_key: str
