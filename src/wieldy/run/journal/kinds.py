"""The kinds of entries, and what each one's data holds.

The order within a run: `run_started`, then per turn `turn_started`, `reply`, and for each call of the reply
`call_started` (only if its code runs) and `call_finished`; at the end one of `run_finished`, `run_failed`,
`run_interrupted`. A run whose last entry is another is still going on, or its process died.
"""

from __future__ import annotations

from typing import Final

RUN_STARTED: Final = "run_started"
"""`model`, `messages` (those that the run starts from), `tools` (definitions as offered), `limits`."""

TURN_STARTED: Final = "turn_started"
"""Intent to ask the model: `turn` (from 1), `tool_choice`, `max_output_tokens`."""

REPLY: Final = "reply"
"""The model's answer: `message` (calls carry the run's own ids), `usage`, `finish`."""

CALL_STARTED: Final = "call_started"
"""Intent to run a tool's code: `call_id`, `effect`, `arguments` as validated, `repairs`, `idempotency_key`."""

CALL_FINISHED: Final = "call_finished"
"""The one outcome of a call: `result`, `duration_s`; where they apply `detail` (a traceback), `whole` (a capped
result's full content) and `recorded_as` (the earlier call whose result was given again)."""

LIMIT_REACHED: Final = "limit_reached"
"""`reason`: which limit."""

RUN_FINISHED: Final = "run_finished"
"""`stop_reason`."""

RUN_FAILED: Final = "run_failed"
"""`error` (its class), `message`, `detail` (a traceback)."""

RUN_INTERRUPTED: Final = "run_interrupted"
"""The run was cancelled, or its program was stopped: `error` (the class of what stopped it)."""
