"""What a run whose model is code has recorded, and running the code again with what was recorded.

Code that is run again must do the same: each batch of calls is compared with the recorded one before it is answered,
by names, arguments and order. Where it differs nothing further is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from wieldy.core.calls import AnyCall, ToolCall, ToolResult
from wieldy.core.json import canonical_json
from wieldy.run.actions.code.labels import LabelledCall, LabelledFailure, LabelledReply
from wieldy.run.actions.code.values import value_of
from wieldy.sandbox import MAX_VALUE_BYTES, GuestCall, Outcome

if TYPE_CHECKING:
    from wieldy.core.messages import Message
    from wieldy.run.actions.code.interpreter import Interpreter

_MOST_SHOWN = 300


class DivergedError(Exception):
    """The code did something else than what is recorded; the text says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Calls that code issued before it could not go on, and what came of them."""

    calls: tuple[AnyCall, ...]
    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Code, as far as it has come.

    Attributes:
        run_id: Of its run; its chance follows from that.
        started: When the run began, in seconds since the epoch: where its clock stands.
    """

    run_id: str
    started: float
    code: str
    batches: tuple[Batch, ...] = ()

    @property
    def seed(self) -> int:
        """Of its chance; the same whenever it is run again."""
        return int.from_bytes(sha256(self.run_id.encode()).digest()[:8], "big")


def action_of(messages: Sequence[Message], *, run_id: str, started: float) -> Action:
    """What the messages of a run whose model is code add up to; the code is the first one's text."""
    return Action(run_id=run_id, started=started, code=messages[0].text, batches=batches_in(messages[1:]))


def batches_in(messages: Iterable[Message]) -> tuple[Batch, ...]:
    """The batches of calls among the messages that are answered."""
    batches: list[Batch] = []
    calls: tuple[AnyCall, ...] = ()
    results: list[ToolResult] = []
    for message in messages:
        if message.result is not None:
            results.append(message.result)
        elif message.calls:
            calls, results = message.calls, []
        if calls and len(results) == len(calls):
            batches.append(Batch(calls=calls, results=tuple(results)))
            calls, results = (), []
    return tuple(batches)


async def run_again(interpreter: Interpreter, action: Action, *, prelude: str, is_first: bool) -> Outcome:
    """What the code does after all that is recorded.

    Args:
        interpreter: In which earlier actions have left their names.
        action: The code and what is recorded of it.
        prelude: The tools.
        is_first: Whether there are no names yet.

    Raises:
        DivergedError: It did something else than what is recorded.
    """
    step = await interpreter.run(action.code, prelude=prelude, seed=action.seed, clock=action.started, fresh=is_first)
    for number, batch in enumerate(action.batches, 1):
        _check(step, batch, number)
        step = await interpreter.answer(replies_to(batch))
    return step


def replies_to(batch: Batch) -> list[LabelledReply | LabelledFailure]:
    """What the code is told, one for each call."""
    return [_reply(call, result) for call, result in zip(batch.calls, batch.results, strict=True)]


def _reply(call: AnyCall, result: ToolResult) -> LabelledReply | LabelledFailure:
    if result.is_error:
        return LabelledFailure(
            kind=result.failure or "tool", message=result.content, tainted_by=result.untrusted_sources
        )
    value = value_of(result)
    size = len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    if size > MAX_VALUE_BYTES:
        return LabelledFailure(
            kind="too_large",
            tainted_by=result.untrusted_sources,
            message=f"`{call.name}` returned {size} bytes, and code can take at most {MAX_VALUE_BYTES} at once. The "
            "call took place. Ask for less, such as a page or a filter.",
        )
    return LabelledReply(value=value, tainted_by=result.untrusted_sources)


def _check(step: Outcome, batch: Batch, number: int) -> None:
    if not step.waiting:
        how = f"{step.status}, {step.killed_because}" if step.killed_because else step.status
        raise DivergedError(f"Expected its batch {number} of calls ({_shown(batch.calls)}), but it ended ({how}).")
    if [_key(call) for call in step.waiting] != [_key(call) for call in batch.calls]:
        raise DivergedError(
            f"In its batch {number} of calls, expected {_shown(batch.calls)}, found {_shown(step.waiting)}."
        )


def _key(call: AnyCall | GuestCall) -> tuple[str | None, str | None]:
    # What was nested too deeply to be read as a call is known by its name only.
    is_whole = call.error is None if isinstance(call, LabelledCall) else isinstance(call, ToolCall | GuestCall)
    return call.name, canonical_json(getattr(call, "arguments", {})) if is_whole else None


def _shown(calls: Sequence[AnyCall | GuestCall]) -> str:
    texts = [f"{call.name}({canonical_json(getattr(call, 'arguments', {}))})" for call in calls]
    text = ", ".join(texts)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
