"""Tools of the loop itself: ending the run. It is shown to the model like a tool, but has no code to run."""

from __future__ import annotations

from typing import Final

from wieldy.core.calls import ToolDefinition
from wieldy.schema import CompiledSchema

FINISH: Final = ToolDefinition(
    name="finish",
    description="End the task. Call this once the task is done, or cannot be done, with the final answer.",
    input_schema={
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The final answer, for the user."}},
        "required": ["answer"],
        "additionalProperties": False,
    },
)
FINISH_SCHEMA: Final = CompiledSchema(FINISH.input_schema)
