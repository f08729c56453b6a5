"""What a trial's journal says of a task: the outcome, the calls, and what went wrong and could be somebody's failure.

Law: what the model had written by the time that a tool, a provider or the policy failed it before is its own: once its
calls can no longer become the wanted ones, what came of them excuses nothing. Deliberately not here: the verdict
(`judging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from wieldy.evals.tasks.expected import may_become_right
from wieldy.evals.tasks.outcomes import CONTROLS, Outcome, WrittenCall, outcome_of, written_calls
from wieldy.evals.tasks.refusals import Consequences, consequences
from wieldy.evals.tasks.task import Task, tool_names
from wieldy.evals.verdicts.attribution import Fault, decisive, faults
from wieldy.evals.verdicts.calls_seen import RunSeen, by_run, seen

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue
    from wieldy.core.ports import Entry


class TrialSeen(NamedTuple):
    """A run of a task, with the runs of its code.

    Attributes:
        run: What the model was asked.
        faults: Of the run, and of each run within it.
        written: The calls of the trial, carried out or not.
        changes: Calls that may have changed something, or would have.
    """

    run: RunSeen
    outcome: Outcome
    faults: Sequence[Sequence[Fault]]
    written: Sequence[WrittenCall]
    changes: Consequences

    @property
    def stray(self) -> Sequence[tuple[WrittenCall, Fault]]:
        """Calls that the policy or their own form kept from being carried out, and for which no later one stands."""
        idle = [call for call in self.written if not (call.seen.started or call.is_corrected)]
        found = [(call, self._fault_of(call)) for call in idle]
        return [(call, fault) for call, fault in found if fault is not None and fault.layer in ("model", "policy")]

    @property
    def undenied(self) -> Sequence[WrittenCall]:
        """Calls that were carried out, or would have been if they had been written well."""
        found = [(call, self._fault_of(call)) for call in self.written]
        return [call for call, fault in found if call.seen.started or fault is None or fault.layer != "policy"]

    def _fault_of(self, call: WrittenCall) -> Fault | None:
        return next((fault for fault in reversed(self.faults[call.run]) if fault.call == call.seen.id), None)


def trial_seen(task: Task, entries: Sequence[Entry], state: JsonValue) -> TrialSeen:
    """What the entries say.

    Args:
        task: What was wanted.
        entries: Those of the run, and behind them those of runs that its calls have started.
        state: What the environment was in the end.
    """
    own, *inner = by_run(entries)
    runs = run, *within = [seen(each) for each in (own, *inner)]
    run.schemas = {name: schema for each in (*within, run) for name, schema in each.schemas.items()}
    written = written_calls(runs, CONTROLS - tool_names(task))
    return TrialSeen(
        run=run,
        outcome=outcome_of(run, written, state=state),
        faults=[faults(each) for each in (own, *inner)],
        written=written,
        changes=consequences(task, written),
    )


def decisive_fault(found: Sequence[Sequence[Fault]]) -> Fault | None:
    """The fault that decides, of the run itself or else of the runs of its code, whose entries are not its own."""
    own, *inner = found
    fault = decisive(own)
    if fault is not None:
        return fault
    within = decisive([each for run in inner for each in run])
    return None if within is None else structs.replace(within, evidence=())


def faults_to_blame(task: Task, found: TrialSeen) -> Sequence[Sequence[Fault]]:
    """The faults, without what others left undone once the model's calls could no longer become the wanted ones."""
    wrong_in = _wrong_in(task, found)
    if wrong_in is None:
        return found.faults
    turns = {(call.run, call.seen.id): call.made.turn for call in found.written}
    return [
        [
            fault
            for fault in each
            if fault.layer in ("model", "harness") or turns.get((at, fault.call or ""), -1) < wrong_in
        ]
        for at, each in enumerate(found.faults)
    ]


def _wrong_in(task: Task, found: TrialSeen) -> int | None:
    """In which reply the model first called what makes its calls wrong whatever follows; None if in none."""
    if task.calls is None or task.extra_calls:
        return None
    malformed = {call.made.turn for call, fault in found.stray if fault.layer == "model"}
    denied = [call for call, fault in found.stray if fault.layer == "policy"]
    meant = [call.made for call in found.written if call.seen.started or call in denied]
    for turn in sorted({call.made.turn for call in found.written}):
        so_far = [call for call in meant if call.turn <= turn]
        if turn in malformed or not may_become_right(task.calls, so_far, found.run, order=task.order):
            return turn
    return None
