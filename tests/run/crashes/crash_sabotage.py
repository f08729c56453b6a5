"""Wrong recoveries, on purpose: whoever counts effects must find every one of them.

Each replaces a part of the runtime in a worker's process only. What a sabotage does is the mistake that some other
program makes, or that a change of ours could make one day.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from msgspec import structs

from wieldy.core.calls import ToolResult
from wieldy.core.messages import Message
from wieldy.core.ports import Draft, Entry
from wieldy.run import dealing, loop
from wieldy.run.journal.chain import EMPTY, Head, extend
from wieldy.run.journal.encoding import Settled, settled
from wieldy.run.outcomes import Outcome, Step
from wieldy.run.pipeline import Pipeline
from wieldy.run.recovery import recover, unknown
from wieldy.run.state import CallState, Fold
from wieldy.run.tree import RunTree


class _Lease:
    renew_after_s = 3600.0

    def renew(self) -> None: ...
    def release(self) -> None: ...


class _Wrapped:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _WithoutLeases(_Wrapped):
    """A journal that grants every lease."""

    def lease(self, _run_id: str) -> _Lease:
        return _Lease()


class _Deferring(_Wrapped):
    """A journal that has an intent in memory only, until the next entry."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._kept: list[Draft] = []

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        kept, self._kept = self._kept, []
        if not is_intent or drafts[0].kind != "call_started":
            length = None if length is None else length - len(kept)
            return self._inner.append(run_id, *kept, *drafts, length=length)[len(kept) :]
        self._kept = [*kept, *drafts]
        entries = self._inner.read(run_id)
        head = Head(len(entries), bytes.fromhex(entries[-1].digest)) if entries else EMPTY
        ready: list[Settled] = [settled(draft) for draft in self._kept]
        return extend(run_id, head, ready, 0.0)[1][len(kept) :]


async def _repeat_unsafe(state: CallState, pipeline: Pipeline) -> Step | Outcome:
    """An interrupted call runs again, whatever it does."""
    if state.effect != "unsafe":
        return await recover(state, pipeline)
    assert state.call.name is not None
    tool = pipeline.tools[state.call.name]
    return Step(
        call=state.call,  # type: ignore[arg-type]
        tool=tool,
        arguments=tool.validate(state.arguments or {}),
        context=pipeline.context(state, tool, key="k"),
    )


async def _new_key(state: CallState, pipeline: Pipeline) -> Step | Outcome:
    """A keyed call runs again under another key."""
    recovered = await recover(state, pipeline)
    if isinstance(recovered, Outcome):
        return recovered
    key = f"{recovered.context.idempotency_key} {recovered.context.attempt}"
    return structs.replace(recovered, context=replace(recovered.context, idempotency_key=key))


async def _ask_nobody(state: CallState, pipeline: Pipeline) -> Step | Outcome:
    """A call that could be asked about runs again at once."""
    recovered = await recover(state, pipeline)
    return recovered if isinstance(recovered, Outcome) else structs.replace(recovered, reconcile=False)


async def _say_done(state: CallState, pipeline: Pipeline) -> Step | Outcome:
    """The model is told that what nobody knows was done."""
    recovered = await recover(state, pipeline)
    if isinstance(recovered, Step):
        return recovered
    return Outcome(result=ToolResult(tool_call_id=state.call.id, content="Done."))


async def _say_unknown(state: CallState, pipeline: Pipeline) -> Step | Outcome:
    """The model is told that nobody knows, also where somebody could."""
    return unknown(state, pipeline)


def _take_results_as_they_come(self: Fold) -> None:
    """Results stand in the order in which the calls ended."""
    for call_id in list(self.unanswered):
        result = self.calls[call_id].result
        if result is not None:
            self._messages.append(Message.tool(result))
            self.unanswered.remove(call_id)


def _forget_outcomes(self: loop._Run) -> None:
    """What was finished in the turn under way is run again."""
    original = _go_on
    original(self)
    turn = self._known.turn()
    if any(call.result is None for call in turn):
        for call in turn:
            self._known.calls[call.call.id] = CallState(call=call.call, turn=call.turn)
        self._known.unanswered = [call.call.id for call in turn]
        again = {call.call.id for call in turn}
        messages = self._known._messages
        messages[:] = [each for each in messages if each.result is None or each.result.tool_call_id not in again]


def _forget_what_was_left(self: RunTree, call_id: str, run_id: str) -> None:
    """What a nested run could not tell is not handed on to the run around it."""
    del call_id, run_id
    for within in [each for each, known in self._runs.items() if known.parent is not None]:
        del self._runs[within]


_go_on = loop._Run._go_on

_RECOVERIES: dict[str, Callable[[CallState, Pipeline], Awaitable[Step | Outcome]]] = {
    "repeats unsafe calls": _repeat_unsafe,
    "takes new keys": _new_key,
    "asks nobody": _ask_nobody,
    "says that it is done": _say_done,
    "says that nothing is known": _say_unknown,
}
_JOURNALS: dict[str, Callable[[Any], Any]] = {
    "grants every lease": _WithoutLeases,
    "keeps intents in memory": _Deferring,
}
_PATCHES: dict[str, tuple[object, str, object]] = {
    "mixes up results": (Fold, "_take_results", _take_results_as_they_come),
    "forgets what nested runs left": (RunTree, "left_by", _forget_what_was_left),
    "runs finished calls again": (loop._Run, "_go_on", _forget_outcomes),
}
SABOTAGES = (*_RECOVERIES, *_JOURNALS, *_PATCHES)


def sabotaged(journal: Any, name: str | None) -> Any:
    """The journal to be used from now on; this process is spoilt for anything else.

    Args:
        journal: A sound one.
        name: One of `SABOTAGES`; None for none.
    """
    if name in _RECOVERIES:
        patch.object(dealing, "recover", _RECOVERIES[name]).start()
    elif name in _PATCHES:
        target, attribute, replacement = _PATCHES[name]
        patch.object(target, attribute, replacement).start()
    elif name in _JOURNALS:
        return _JOURNALS[name](journal)
    return journal
