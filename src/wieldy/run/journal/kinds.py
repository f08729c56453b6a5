"""The kinds of entries, and what each one's data holds.

The order within a run: `run_started`; then per turn `turn_started`, `reply`, and for each call of the reply perhaps
`call_waiting` and `approval`, then `call_started` for each attempt (only if its code runs), `attempt_failed` between
two of them, and at last `call_finished`; at the end `run_finished`, `run_failed` or `run_interrupted`. `run_paused`
lets a run rest until somebody has decided. A run that rests, was stopped or whose process died goes on with
`run_resumed`. Only an `approval` may be added by a process that does not hold the run's lease.
"""

from __future__ import annotations

from typing import Final

RUN_STARTED: Final = "run_started"
"""`model`, `messages` (those that the run starts from), `tools` (definitions as offered), `limits`, `journal_head` (the
digest of the journal's newest entry, which ties the runs of a journal together); where they apply `output` (what the
answer must be: its `type`, and the schema, the options or the pattern), `principal` (a name),
`parent` (`run_id`, `call_id` of the call whose code started this run), `tainted_by` (the untrusted sources that may
have shaped what the run starts from) and `metadata` (the program's own)."""

RUN_RESUMED: Final = "run_resumed"
"""Somebody goes on with the run: `by` (the process and its host), `limits` as they are from now on; where it
applies `parent` (the call whose code goes on with it)."""

TURN_STARTED: Final = "turn_started"
"""Intent to ask the model: `turn` (from 1), `tool_choice`, `max_output_tokens`."""

REPLY: Final = "reply"
"""The model's answer: `turn`, `message` (calls carry the run's own ids), `usage`, `finish`; where they apply `forced`
(JSON pointers to what of the answer the token budget decided) and `held` (true where something hard held the answer to
what it must be). A call in the message may have `forced`, too, and `influence` (which untrusted sources had a part in
what of it, where that is known exactly)."""

CORRECTION: Final = "correction"
"""The answer is not what it must be, and the model is told so: `message`."""

CALL_WAITING: Final = "call_waiting"
"""A person is asked: `call_id`, `tool_name`, `arguments` as validated, `reason`, `expires`, `digest` of all that."""

APPROVAL: Final = "approval"
"""A person's answer: `call_id`, `digest` of what they were shown, `is_granted`, `by`, `reason`."""

CALL_STARTED: Final = "call_started"
"""Intent to run a tool's code: `call_id`, `tool_name`, `attempt` (from 1), `origin` (where the code comes from),
`effect`, `arguments` as validated, `repairs`, `idempotency_key`; where they apply `approved_by` and `repeats` (earlier
calls that asked for the same, of which nobody knows how they ended; those of other runs as `RUN/CALL`)."""

ATTEMPT_FAILED: Final = "attempt_failed"
"""An attempt failed and another will follow: `call_id`, `attempt`, `error` (its class), `message`, `wait_s`,
`nothing_done` (whether it is certain that it had no effect); `left` as in `call_finished`."""

CALL_FINISHED: Final = "call_finished"
"""The one outcome of a call: `result`, `duration_s`; where they apply `detail` (a traceback), `whole` (a capped
result's full content), `recorded_as` (the earlier call whose result was given again), `usage` (of the models that the
tool's code asked), `failure` (how its code, or what came before it, failed: `timeout`, `transient`, `tool`, `unknown`,
`crashed`, `denied` or `arguments`), `is_unknown` (true where nobody knows whether the effect took place), `answered_by`
(the fallback tool that answered), `tells_of` (calls that came late, which a note in this result tells the model of),
`left` (by runs that the call had started: `doubts`, calls of which nobody knows whether their effect took place, and
`settled`, those of which it is known since), `finishes` (true for the call that ended the run) and `answer` (the text
of the answer that it gave, where the answer must be something)."""

CALL_CAME_LATE: Final = "call_came_late"
"""What a call brought that had ended without an outcome, by a time-out or by being stopped: as in `call_finished`."""

LIMIT_REACHED: Final = "limit_reached"
"""`reason`: which limit."""

RUN_PAUSED: Final = "run_paused"
"""The run rests until somebody has decided: `waiting` (the ids of the calls)."""

RUN_FINISHED: Final = "run_finished"
"""`stop_reason`."""

RUN_FAILED: Final = "run_failed"
"""`error` (its class), `message`, `detail` (a traceback)."""

RUN_INTERRUPTED: Final = "run_interrupted"
"""The run was cancelled, or its program was stopped: `error` (the class of what stopped it)."""
