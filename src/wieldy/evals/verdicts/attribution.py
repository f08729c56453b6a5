"""Whose failure it was, computed from the entries of a run's journal and from nothing else.

Every boundary that a call crosses is an entry: what the model wrote, how it was read and validated, what the policy
said, what ran, what came back. A fault is a boundary behind which something is wrong while what came in was right; its
layer is that boundary's, and its evidence the numbers of the entries. No model is asked.

Law: the same entries give the same faults, and an entry that is told of is in the run. Deliberately not here: whether
the task was solved (`tasks`, `bfcl`), which no boundary knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, parse_json
from wieldy.core.ports import Entry
from wieldy.core.record import Record
from wieldy.evals.verdicts.calls_seen import CallSeen, RunSeen, seen
from wieldy.evals.verdicts.verdict import Layer
from wieldy.run.journal import kinds
from wieldy.schema import CompiledSchema


class Fault(Record, frozen=True, kw_only=True):
    """Something that went wrong at a boundary.

    Attributes:
        layer: Behind which it went wrong.
        reason: A short code, a colon, and words.
        evidence: Numbers of the entries that show it.
        is_recovered: Whether the same tool did its work later in the run, and with the same arguments where it was not
            the model's to write better ones.
        call: The id of the call that crossed the boundary; None for what is no single call's.
    """

    layer: Layer
    reason: str
    evidence: tuple[int, ...]
    is_recovered: bool = False
    call: str | None = None

    @property
    def code(self) -> str:
        """The reason's code alone."""
        return self.reason.partition(":")[0]


DIED: Final = "died"
"""The record stops in the middle of the run: also that of one which somebody is still at work on."""
TOOL_ERROR: Final = "tool-error"
"""A tool did its work, which was to say that what it was asked for cannot be. The model has to deal with that."""

_BY_ERROR: Final[Mapping[str, tuple[Layer, str]]] = {
    "AuthenticationError": ("harness", "auth"),
    "RequestRefusedError": ("harness", "request"),
    "ContentFilterError": ("provider", "content-filter"),
    "HistoryError": ("harness", "id"),
    "RateLimitError": ("provider", "rate-limit"),
    "ProviderError": ("provider", "protocol"),
    "ModelUnreachableError": ("provider", "unreachable"),
    "ModelError": ("provider", "no-answer"),
    "ModelNotAvailableError": ("environment", "weights"),
    "SandboxError": ("environment", "sandbox"),
    "JournalError": ("environment", "journal"),
    "JournalTamperedError": ("environment", "journal"),
    "JournalConflictError": ("environment", "journal"),
    "RunBusyError": ("environment", "journal"),
}
"""What stops a run, by the class of the error. What a server refuses is a matter of our configuration or of
our request: a key, the name of a model, a prompt too long."""

_MODEL_LIMITS: Final = ("turn_limit", "call_limit", "output_token_limit", "total_token_limit", "repeated_call")


def faults(entries: Sequence[Entry]) -> tuple[Fault, ...]:
    """Everything that went wrong at a boundary, in the order in which it happened."""
    run = seen(entries)
    found = [fault for call in run.calls.values() for fault in _faults_of(call, run)]
    found += _faults_of_ids(run)
    found += _faults_of_end(run)
    return tuple(sorted(found, key=lambda fault: fault.evidence))


def decisive(found: Sequence[Fault]) -> Fault | None:
    """The fault that a failed task is put down to; None if all that happened is what the model wrote.

    What stopped the run comes first, then our own inconsistencies, then what others left undone, then limits, then what
    the model wrote that could not be carried out, and last what a tool itself said no to; of equals the first.
    """
    open_ones = [fault for fault in found if not fault.is_recovered]
    ranked = sorted(open_ones, key=_rank)  # stable: the first of equals stays the first
    return ranked[0] if ranked else None


def _rank(fault: Fault) -> int:
    code = fault.code
    if code in _STOPS:
        return 0
    if fault.layer == "harness":
        return 1
    if code.endswith("_limit") or code == "repeated_call":
        return 3
    if code == TOOL_ERROR:
        return 5
    return 4 if fault.layer == "model" else 2


_STOPS: Final = frozenset({*(code for _, code in _BY_ERROR.values()), "crash-of-run", "interrupted", DIED, "no-run"})


# One call


def _faults_of(call: CallSeen, run: RunSeen) -> list[Fault]:
    found = list[Fault]()
    if run.is_beyond_limit(call):
        return found
    if call.unreadable is not None:
        found.append(_unreadable(call))
    elif call.started:
        found += _changed(call)
    result = call.result
    if result is not None and result.get("is_error") is True and not found:
        found.append(_failed(call, result, run))
    if call.is_unknown and not found:
        found.append(_fault("tool", "unknown-outcome: nobody knows whether the effect took place", call.entries))
    return [structs.replace(fault, call=call.id, is_recovered=_is_recovered(fault, call, run)) for fault in found]


def _is_recovered(fault: Fault, call: CallSeen, run: RunSeen) -> bool:
    """What the model wrote wrong it corrects by another call; what others left undone is done only by the same one."""
    if fault.layer == "model" or fault.code == TOOL_ERROR:
        return run.made_good(call)
    return run.made_good(call, call.arguments if call.unreadable is None else _object(call.unreadable))


def _object(text: str) -> JsonObject | None:
    """The object that the text is; None if it is none."""
    try:
        value = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _unreadable(call: CallSeen) -> Fault:
    """Whether text that could not be read as a call can be read after all."""
    if _object(call.unreadable or "") is not None:
        return _fault("harness", f"parse: good arguments of {call.name!r} were not read", call.entries)
    return _fault("model", f"malformed-call: the call of {call.name!r} cannot be read", call.entries)


def _changed(call: CallSeen) -> list[Fault]:
    """Whether what ran is what was written, and fits what was promised."""
    ran = call.ran or {}
    if ran != call.arguments and not call.repairs:
        return [_fault("harness", f"validation: {call.name!r} ran with arguments that were not written", call.entries)]
    return []


def _failed(call: CallSeen, result: JsonObject, run: RunSeen) -> Fault:
    layer, name = result.get("layer"), call.name
    if layer == "model":
        return _refused(call, run)
    if layer == "tool":
        if call.answers_with_error:
            return _fault("tool", f"{TOOL_ERROR}: {name!r} said what was wrong", call.entries)
        return _fault("tool", f"tool-failed: {name!r} crashed, or gave no answer", call.entries)
    if layer == "policy":
        return _fault("policy", f"denied: {name!r} was not allowed to run", call.entries)
    if layer == "provider":
        return _fault("provider", f"provider-failed: a provider that {name!r} needs gave no answer", call.entries)
    return _fault("harness", f"harness-failed: {name!r} was not carried out", call.entries)


def _refused(call: CallSeen, run: RunSeen) -> Fault:
    """A call that the model is blamed for: rightly, unless what it wrote fits what it was offered."""
    schema = run.schemas.get(call.name or "")
    if schema is None:
        return _fault("model", f"unknown-tool: there is no tool {call.name!r}", call.entries)
    if call.started:
        return _fault("model", f"refused: {call.name!r} says that the call is wrong", call.entries)
    try:
        fits = CompiledSchema(schema).accepts(call.arguments)
    except UsageError as error:
        return _fault("task", f"schema: that of {call.name!r} is none: {error}", call.entries)
    if fits:
        return _fault(
            "harness", f"validation: arguments of {call.name!r} that fit its schema were refused", call.entries
        )
    return _fault("model", f"bad-arguments: those of {call.name!r} do not fit its schema", call.entries)


def _faults_of_ids(run: RunSeen) -> list[Fault]:
    found = [_fault("harness", f"id: a result for {name!r}, which nobody called", (at,)) for at, name in run.strangers]
    found += [_fault("harness", f"id: {name!r} was answered twice", (at,)) for at, name in run.answered_again]
    if run.end is not None and run.end.kind == kinds.RUN_FINISHED:
        found += [
            _fault("harness", f"id: the call {call.id!r} of {call.name!r} was never answered", call.entries)
            for call in run.calls.values()
            if call.result is None
        ]
    return found


# The end


def _faults_of_end(run: RunSeen) -> list[Fault]:
    if run.start is None:
        return [_fault("environment", "no-run: there is no entry of a run", ())]
    found = [_limit(entry, run) for entry in run.limits]
    end = run.end
    if end is None:
        return [*found, _fault("environment", f"{DIED}: the record stops in the middle of the run", (run.last,))]
    if end.kind == kinds.RUN_INTERRUPTED:
        return [*found, _fault("environment", "interrupted: the run was stopped from outside", (end.sequence,))]
    if end.kind == kinds.RUN_FAILED:
        name = str(end.data.get("error"))
        layer, code = _BY_ERROR.get(name, ("harness", "crash-of-run"))
        return [*found, _fault(layer, f"{code}: {name}: {str(end.data.get('message'))[:200]}", (end.sequence,))]
    return found


def _limit(entry: Entry, run: RunSeen) -> Fault:
    reason = str(entry.data.get("reason"))
    if reason in _MODEL_LIMITS:
        return _fault("model", f"{reason}: the model did not come to an end", (entry.sequence,))
    if reason == "wall_time_limit":
        layer: Layer = "tool" if run.tool_s > run.model_s else "provider"
        words = f"{reason}: {run.model_s:.1f} s were spent on the model, {run.tool_s:.1f} s on tools"
        return _fault(layer, words, (entry.sequence,))
    return _fault("model", f"{reason}: the limit that was set is used up", (entry.sequence,))


def _fault(layer: Layer, reason: str, evidence: tuple[int, ...]) -> Fault:
    return Fault(layer=layer, reason=reason, evidence=evidence)
