"""What became of a conversation, from the calls in its journal carried out anew.

The rule is the benchmark's: the databases as the task's own calls leave them, its assertions, what the agent must tell,
and, where the task says so, its calls themselves; all that are its basis must hold. Calls of the task itself that fail
are counted and told, where the benchmark passes over them. Assertions in words are the basis of no task; they are put
into a criterion for models to judge. Deliberately not here: who judges it (`studies.judges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from wieldy.evals.cases.case import Judged, Runs
from wieldy.evals.tau2.conversations import STOPS, USER
from wieldy.evals.tau2.worlds import Done, TauWorld, gold_calls
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.evals.verdicts.calls_seen import parts_of, seen
from wieldy.evals.verdicts.verdict import PASS, Verdict, failed, unscored
from wieldy.run.journal import kinds

if TYPE_CHECKING:
    from wieldy.core.ports import Entry
    from wieldy.evals.tau2.package import Domain

BASIS: Final = ("DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE")


def judge(domain: Domain, task: Any, runs: Runs) -> Judged:
    """The verdict, and how many of the task's own calls fail."""
    verdict, gold_failed = _judged(domain, task, runs)
    return Judged(verdict, measures={"gold_calls_failed": float(len(gold_failed))} if gold_failed else {})


def criterion_of(task: Any) -> str | None:
    """What a model must judge: that all of the task's assertions in words hold; None where it has none."""
    criteria = task.evaluation_criteria
    assertions: Sequence[str] = () if criteria is None else criteria.nl_assertions or ()
    listed = "\n".join(f"{number}. {each}" for number, each in enumerate(assertions, 1))
    return (
        f"Each of the following holds of what the assistant did and said to the customer:\n{listed}" if listed else None
    )


def gold_failures(domain: Domain, task: Any) -> list[str]:
    """What the task's own calls say that fail."""
    return TauWorld(domain=domain, task=task).carry_out_all(gold_calls(task))


def _judged(domain: Domain, task: Any, runs: Runs) -> tuple[Verdict, list[str]]:
    gold = TauWorld(domain=domain, task=task)
    gold_failed = gold.carry_out_all(gold_calls(task))
    stopped = _stopped(runs)
    if stopped is not None:
        return stopped, gold_failed
    if task.evaluation_criteria is None:
        return PASS, gold_failed
    predicted = TauWorld(domain=domain, task=task)
    predicted.carry_out_all(carried_out(runs))
    wrong = _wrong(task, gold, predicted, runs)
    return (PASS if wrong is None else failed(wrong)), gold_failed


def _wrong(task: Any, gold: TauWorld, predicted: TauWorld, runs: Runs) -> str | None:
    criteria = task.evaluation_criteria
    basis = {each.value for each in criteria.reward_basis}
    if unknown := basis.difference(BASIS):
        raise ValueError(f"Nothing is known of the basis {min(unknown)!r}.")
    # As the benchmark: where a task lists neither calls nor assertions, nothing is said of the databases.
    is_said = criteria.actions is not None or criteria.env_assertions is not None
    if "DB" in basis and is_said and gold.changes() != predicted.changes():
        return "database: it is not as the task's own calls leave it"
    return (
        ("ENV_ASSERTION" in basis and _unheld(criteria.env_assertions or (), predicted))
        or ("COMMUNICATE" in basis and _untold(criteria.communicate_info or (), said_by_agent(runs)))
        or ("ACTION" in basis and _undone(criteria.actions or (), written(runs)))
        or None
    )


def _unheld(assertions: Sequence[Any], predicted: TauWorld) -> str | None:
    for assertion in assertions:
        said = f"assertion: {assertion.func_name}({dict(assertion.arguments)})"
        try:
            if not predicted.environment.run_env_assertion(assertion, raise_assertion_error=False):
                return f"{said} does not hold"
        except Exception as error:  # the benchmark's code: what it asks about may not be there
            return f"{said} cannot hold: {error}"
    return None


def _untold(wanted: Sequence[str], said: Sequence[str]) -> str | None:
    """As the benchmark looks: whatever the case, and without commas in what was said."""
    told = [text.lower().replace(",", "") for text in said]
    lacking = next((each for each in wanted if not any(each.lower() in text for text in told)), None)
    return None if lacking is None else f"not-told: {lacking!r}"


def _undone(actions: Sequence[Any], calls: Sequence[Done]) -> str | None:
    lacking = next((action for action in actions if not any(_is_action(action, call) for call in calls)), None)
    return None if lacking is None else f"missing-call: {lacking.name}"


def _is_action(action: Any, call: Done) -> bool:
    """As the benchmark compares them: only arguments that the call gives count, or those that the action names.

    Who wrote the call and whether it could be carried out does not.
    """
    if action.name != call.name:
        return False
    names = call.arguments.keys() if action.compare_args is None else action.compare_args
    one = {name: value for name, value in call.arguments.items() if name in names}
    other = {name: value for name, value in action.arguments.items() if name in names}
    return not names or one == other


# From the journal


def is_of_user(entries: Sequence[Entry]) -> bool:
    """Whether a run is one of the customer."""
    metadata = entries[0].data.get("metadata") if entries else None
    return isinstance(metadata, dict) and USER in metadata.values()


def carried_out(runs: Runs) -> list[Done]:
    """The calls that were started, in the order in which they were, with the arguments that ran."""
    return [
        Done("user" if is_of_user(entries) else "assistant", call.name or "", call.ran)
        for entries in runs
        for call in sorted(seen(entries).calls.values(), key=lambda each: each.entries)
        if call.ran is not None
    ]


def written(runs: Runs) -> list[Done]:
    """The calls that could be read, with the arguments as they were written."""
    return [
        Done("user" if is_of_user(entries) else "assistant", call.name or "", call.arguments)
        for entries in runs
        for call in seen(entries).calls.values()
        if call.unreadable is None
    ]


def said_by_agent(runs: Runs) -> list[str]:
    """The texts of the agent."""
    replies = [reply for entries in runs if not is_of_user(entries) for reply in seen(entries).replies]
    return ["".join(part["text"] for part in parts_of(reply) if part["type"] == "text") for reply in replies]


def _stopped(runs: Runs) -> Verdict | None:
    """Why the conversation did not come to its end; None if it did.

    Only the last run can have kept it from that: where another had, there would be none behind it.
    """
    last = runs[-1] if runs else ()
    end = seen(last).end
    is_over = end is not None and end.kind == kinds.RUN_FINISHED
    if is_over and is_of_user(last) and any(stop in text for stop in STOPS for text in _texts(last)):
        return None
    fault = decisive(faults(last))
    if is_of_user(last):
        return unscored("user simulator", "no-words: the customer said nothing" if fault is None else fault.reason)
    if end is not None and end.kind == kinds.RUN_PAUSED:
        return unscored("policy", "waiting: a person must decide on a call")
    if fault is None:
        return failed("no-end: the conversation went on for too long, or the agent said nothing")
    if fault.layer == "model":
        return Verdict(kind="fail", layer="model", reason=fault.reason, evidence=fault.evidence, run=len(runs) - 1)
    return unscored(fault.layer, fault.reason)


def _texts(entries: Sequence[Entry]) -> list[str]:
    return [str(part.get("text", "")) for reply in seen(entries).replies for part in parts_of(reply)]
