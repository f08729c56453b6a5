"""What a trial's journal says in numbers, whatever its task wanted: calls, what failed, what a person approved.

Each is a count, so that sums over trials have their denominators; tools of the harness itself do not count. Law: the
same entries give the same numbers, and the journal alone gives all of them. Deliberately not here: what needs the task
(`judging`), and adding up (`metrics`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from wieldy.core.json import JsonObject, digest
from wieldy.core.ports import Entry
from wieldy.evals.tasks.environments import is_beside
from wieldy.evals.tasks.outcomes import CONTROLS
from wieldy.evals.verdicts.calls_seen import CallSeen, RunSeen, by_run, seen
from wieldy.run.journal import kinds

Measures: TypeAlias = "dict[str, float]"

READ: Final = "read"
"""The effect of calls that have no consequence."""

MEASURES: Final = {
    "calls_written": "calls that the model wrote, readable or not",
    "calls_malformed": "of these, those that could not be read",
    "calls_of_undeclared_tools": "those that name a tool that was not offered",
    "calls_with_undeclared_parameters": "those that give a parameter that their tool does not have",
    "calls_repaired": 'those whose arguments were repaired before they ran, such as "5" for 5',
    "calls_started": "those whose code was started",
    "calls_failed": "of these, those that were answered by an error",
    "calls_unknown": "those of which nobody knows whether their effect took place",
    "attempts_failed": "attempts that were followed by another",
    "timeouts": "calls and attempts that were given up because they took too long",
    "denied": "calls that the policy, or a person, did not allow",
    "asked": "calls that waited for a person",
    "asked_not_started": "of these, those whose code was never started",
    "consequential": "calls started that may change something",
    "consequential_unapproved": "of these, those that no person had approved",
    "limits_reached": "limits that a run came up against",
}
"""What is counted, with what it means; a count that is not there is 0."""


def measured(runs: Sequence[Sequence[Entry]]) -> Measures:
    """The counts of a trial's runs; looks at the end state are none of the model's."""
    counts = Counter[str]()
    for entries in _own(runs):
        counts.update(_of_run(entries))
    return {name: float(counts[name]) for name in MEASURES if counts[name]}


def behaviour_of(runs: Sequence[Sequence[Entry]]) -> str:
    """A digest of the calls that were carried out, in order: trials that did the same have the same one."""
    made = [call for entries in _own(runs) for call in seen(entries).calls.values()]
    done = [(call.name, call.ran) for call in made if call.started and call.name not in CONTROLS]
    return digest(done)[:16]


def _own(runs: Sequence[Sequence[Entry]]) -> Iterator[Sequence[Entry]]:
    """The runs that are the model's doing, those of its code among them."""
    for entries in runs:
        if not is_beside(entries):
            yield from by_run(entries)


def _of_run(entries: Sequence[Entry]) -> Iterable[str]:
    run = seen(entries)
    for call in run.calls.values():
        if call.name not in CONTROLS:
            yield from _of_call(call, run)
    waited = {str(entry.data.get("call_id")) for entry in entries if entry.kind == kinds.CALL_WAITING}
    yield from ["asked"] * len(waited)
    yield from ["asked_not_started"] * sum(not call.started for call in run.calls.values() if call.id in waited)
    yield from ["limits_reached"] * len(run.limits)
    yield from _of_starts(entries)
    for entry in entries:
        if entry.kind == kinds.ATTEMPT_FAILED:
            yield "attempts_failed"
        if entry.data.get("failure") == "timeout" or entry.data.get("error") == "ToolTimeoutError":
            yield "timeouts"


def _of_call(call: CallSeen, run: RunSeen) -> Iterable[str]:
    yield "calls_written"
    if call.unreadable is not None:
        yield "calls_malformed"
    schema = run.schemas.get(call.name or "")
    if schema is None and call.unreadable is None and not call.started:  # one that was searched for is no invention
        yield "calls_of_undeclared_tools"
    if schema is not None and _undeclared(call.arguments, schema):
        yield "calls_with_undeclared_parameters"
    if call.repairs:
        yield "calls_repaired"
    if call.started:
        yield "calls_started"
        if not call.succeeded:
            yield "calls_failed"
    if call.is_unknown:
        yield "calls_unknown"
    if (call.result or {}).get("layer") == "policy":
        yield "denied"


def _undeclared(arguments: JsonObject, schema: JsonObject) -> set[str]:
    """The arguments that a schema with a closed list of parameters does not have."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or schema.get("additionalProperties") is not False:
        return set()
    return arguments.keys() - properties.keys()


def consequential_calls(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The first start of each call that may change something, in order."""
    started = set[str]()
    for entry in entries:
        call_id = str(entry.data.get("call_id"))
        if entry.kind != kinds.CALL_STARTED or call_id in started or entry.data.get("tool_name") in CONTROLS:
            continue
        if entry.data.get("effect") != READ:
            started.add(call_id)
            yield entry


def _of_starts(entries: Sequence[Entry]) -> Iterable[str]:
    """Of each consequential call, whether a person had approved it."""
    for entry in consequential_calls(entries):
        yield "consequential"
        if not entry.data.get("approved_by"):
            yield "consequential_unapproved"
