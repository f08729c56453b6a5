"""What must be true of a trial, whatever was killed when: pure functions from what was seen to what is wrong.

They read the journal's entries and the log of the world outside by themselves, and use nothing of what recovery is made
of but the fold. Every finding names the law that was broken.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from crash_plans import AGAIN, DOUBTFUL, LATE, STEP, UNKNOWN, Plan, effects_of
from crash_trials import Snapshot, Trial

from wieldy.core.errors import JournalError
from wieldy.core.ports import Entry
from wieldy.run.journal import kinds
from wieldy.run.journal.chain import verify_all
from wieldy.run.state import RunState, fold

LAWS: Final = {
    "ended": "the run came to its end, and every process that was not killed ended well",
    "lease": "the lease of a dead process is free at once",
    "history": "the strict model accepts every history: one result per call, in the order of the calls",
    "journal": "entries are only ever added, and the chain of digests is whole",
    "intent": "no effect without its intent in the journal before it",
    "duplicate": "no effect of a keyed or reconcilable call is duplicated, no idempotent one differs",
    "blind": "no unsafe call is repeated unless a person consented to the repeat",
    "lost": "no result, effect or consent is lost, and nothing runs again after its outcome was recorded",
    "truth": "the model is told `outcome unknown` exactly where no outcome was recorded, and of no effect that was not",
    "same": "the run ends as one that was never killed",
}


_NOTE: Final = "\n\n["
"""Before what the runtime adds to a result, which may differ: a killed run may have found another way."""


class Finding(NamedTuple):
    """A law that was broken."""

    law: str
    message: str

    def __str__(self) -> str:
        return f"{self.law}: {self.message}"


def findings(trial: Trial, reference: Trial) -> list[Finding]:
    """Everything that is wrong with the trial; `reference` is one of the same plan in which nobody was killed."""
    broken = [*_ends(trial), *_journal(trial)]
    if any(finding.law == "ended" for finding in broken) or not trial.journal:
        return broken
    try:
        states = {run_id: fold(entries) for run_id, entries in trial.journal.items()}
    except JournalError as error:  # such as a second outcome of one call
        return [*broken, Finding("lost", str(error))]
    for run_id, state in states.items():
        broken += _history(state)
        broken += _calls(trial.journal[run_id], state)
        broken += _consents(trial.journal[run_id], trial.plan)
    broken += _intents(trial)
    broken += _keys(trial, states)
    broken += _effects(trial, states)
    broken += _same(trial, reference, states)
    return broken


# Processes and the journal


def _ends(trial: Trial) -> Iterator[Finding]:
    for life in trial.lives:
        if life.is_hung:
            yield Finding("ended", f"process {life.pid} hung")
        elif life.told is not None and "error" in life.told and not life.lost_its_journal:
            law = {"RunBusyError": "lease", "HistoryError": "history"}.get(life.told["error"], "ended")
            yield Finding(law, f"{life.told['error']}: {life.told['message']}\n{life.told['detail']}")
    told = trial.lives[-1].told
    if told is None or told.get("stop_reason", "waiting_for_approval") == "waiting_for_approval":
        yield Finding("ended", f"after {len(trial.lives)} processes there is no end: {told}")


def _journal(trial: Trial) -> Iterator[Finding]:
    for earlier, later in pairwise(life.journal for life in trial.lives):
        for run_id, entries in earlier.items():
            kept = [entry.digest for entry in later.get(run_id, ())]
            if kept[: len(entries)] != [entry.digest for entry in entries]:
                yield Finding("journal", f"entries of run {run_id} changed or went away")
    for finding in verify_all(trial.journal.values()):
        yield Finding("journal", finding.message)


# One run


def _history(state: RunState) -> Iterator[Finding]:
    messages = list(state.messages)
    for index, message in enumerate(messages):
        if message.role != "assistant":
            continue
        asked = [call.id for call in message.calls]
        results = [other.result for other in messages[index + 1 : index + 1 + len(asked)]]
        answered = [None if result is None else result.tool_call_id for result in results]
        if answered != asked:
            yield Finding("history", f"the calls {asked} are followed by {answered}")
    all_answered = [message.result.tool_call_id for message in messages if message.result is not None]
    if len(all_answered) != len(set(all_answered)):
        yield Finding("history", f"a call has two results: {all_answered}")


def _calls(entries: Sequence[Entry], state: RunState) -> Iterator[Finding]:
    for call in state.calls:
        mine = [entry for entry in entries if _call_id(entry) == call.call.id or entry.kind == kinds.RUN_RESUMED]
        yield from _attempts(call.call.id, mine)
        if call.result is None:
            yield Finding("lost", f"call {call.call.id} has no result")
            continue
        is_told = call.result.is_error and UNKNOWN in call.result.content
        is_so = call.effect == "unsafe" and _was_interrupted(mine)
        if not is_so and LATE in call.result.content:
            continue
        if is_told != is_so or call.is_unknown != is_so:
            yield Finding(
                "truth",
                f"call {call.call.id} ({call.effect}) was {'' if is_so else 'not '}left without an outcome, and the "
                f"model was told {call.result.content!r}",
            )


def _attempts(call_id: str, entries: Sequence[Entry]) -> Iterator[Finding]:
    """Attempts are numbered, each after one that failed or was interrupted, none after the outcome."""
    attempt, is_open, is_finished = 0, False, False
    for entry in entries:
        match entry.kind:
            case kinds.CALL_STARTED:
                if is_finished:
                    yield Finding("lost", f"call {call_id} was started again after its outcome was recorded")
                if is_open or entry.data["attempt"] != attempt + 1:
                    yield Finding("lost", f"call {call_id} has attempt {entry.data['attempt']} after {attempt}")
                attempt, is_open = attempt + 1, True
            case kinds.CALL_FINISHED:
                if is_finished:
                    yield Finding("lost", f"call {call_id} has two outcomes")
                is_finished, is_open = True, False
            case kinds.ATTEMPT_FAILED | kinds.RUN_RESUMED:
                is_open = False
            case _:
                pass


def _was_interrupted(entries: Sequence[Entry]) -> bool:
    """Whether the last attempt was under way when a process died."""
    is_open = False
    for entry in entries:
        match entry.kind:
            case kinds.CALL_STARTED:
                is_open = True
            case kinds.RUN_RESUMED if is_open:
                return True
            case kinds.ATTEMPT_FAILED | kinds.CALL_FINISHED:
                is_open = False
            case _:
                pass
    return False


def _consents(entries: Sequence[Entry], plan: Plan) -> Iterator[Finding]:
    questions = Counter(entry.data["call_id"] for entry in entries if entry.kind == kinds.CALL_WAITING)
    for call_id, times in questions.items():
        if times > 1:
            yield Finding("lost", f"people were asked {times} times about call {call_id}")
    asked = plan.asked.union(*(helper.asked for helper in plan.helpers.values()))
    for entry in entries:
        if entry.kind == kinds.CALL_STARTED and entry.data["tool_name"] in asked and "approved_by" not in entry.data:
            yield Finding("blind", f"call {entry.data['call_id']} was started, and nobody had consented")


def _call_id(entry: Entry) -> Any:
    if entry.kind == kinds.CALL_FINISHED:
        result: Any = entry.data["result"]
        return result["tool_call_id"]
    return entry.data.get("call_id")


# The world outside


def _intents(trial: Trial) -> Iterator[Finding]:
    started = {life.pid: _starts(life.journal) for life in trial.lives}
    for act in _acts(trial):
        if (act["run_id"], act["call_id"], act["attempt"]) not in started[act["pid"]]:
            yield Finding("intent", f"{act['operation']!r} was asked for; its process left no intent in the journal")
    acts = Counter((act["run_id"], act["call_id"], act["attempt"]) for act in _acts(trial))
    for act, times in acts.items():
        if times > 1:
            yield Finding("duplicate", f"attempt {act} was made {times} times")


def _starts(journal: Snapshot) -> set[tuple[Any, ...]]:
    return {
        (run_id, entry.data["call_id"], entry.data["attempt"])
        for run_id, entries in journal.items()
        for entry in entries
        if entry.kind == kinds.CALL_STARTED
    }


def _keys(trial: Trial, states: dict[str, RunState]) -> Iterator[Finding]:
    keys: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    calls: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for request in trial.log:
        if request["effect"] in ("keyed", "reconcile"):
            keys[request["run_id"], request["call_id"], request["service"]].add(request["key"])
            calls[request["key"]].add((request["run_id"], request["call_id"]))
    for call, used in keys.items():
        if len(used) > 1:
            yield Finding("duplicate", f"call {call} used {len(used)} idempotency keys")
    unknown = {(run_id, call.call.id) for run_id, state in states.items() for call in state.calls if call.is_unknown}
    for key, users in calls.items():
        if len(users - unknown) > 1:  # only a repeat of what nobody knows is the same effect
            yield Finding("lost", f"the calls {users} used one idempotency key, {key}")


def _effects(trial: Trial, states: dict[str, RunState]) -> Iterator[Finding]:
    expected = effects_of(trial.plan)
    happened: Counter[str] = Counter(act["operation"] for act in _acts(trial) if act["took_effect"])
    classes, claimed = _classes(states), _claimed(states)
    for operation in {*expected, *happened}:
        judge = _JUDGES[classes.get(operation, "keyed")]
        yield from judge(trial, operation, expected[operation], happened[operation], claimed[operation])


def _classes(states: dict[str, RunState]) -> dict[str, str]:
    """What each operation that was started does, by the record."""
    return {
        str(call.arguments.get("operation")): call.effect
        for state in states.values()
        for call in state.calls
        if call.effect is not None and call.arguments is not None
    }


def _claimed(states: dict[str, RunState]) -> Counter[str]:
    """How often the model was told that an operation was done."""
    claimed: Counter[str] = Counter()
    for state in states.values():
        for call in state.calls:
            is_done = call.result is not None and not call.result.is_error and call.recorded_as is None
            if is_done and call.effect != "read" and call.arguments and "operation" in call.arguments:
                claimed[str(call.arguments["operation"])] += 1
    return claimed


def _judge_read(_trial: Trial, operation: str, _expected: int, happened: int, _claimed: int) -> Iterator[Finding]:
    if happened:
        yield Finding("duplicate", f"{operation!r} was read, and took effect {happened} times")


def _judge_idempotent(trial: Trial, operation: str, expected: int, happened: int, _claimed: int) -> Iterator[Finding]:
    if happened < min(expected, 1):
        yield Finding("lost", f"{operation!r} (idempotent) never took effect")
    if trial.values.get(operation) != f"value of {operation}":
        yield Finding("duplicate", f"{operation!r} (idempotent) left {trial.values.get(operation)!r}")


def _judge_once(_trial: Trial, operation: str, expected: int, happened: int, _claimed: int) -> Iterator[Finding]:
    if happened > expected:
        yield Finding("duplicate", f"{operation!r} took effect {happened} times, expected {expected}")
    if happened < expected:
        yield Finding("lost", f"{operation!r} took effect {happened} times, expected {expected}")


def _judge_unsafe(trial: Trial, operation: str, expected: int, happened: int, claimed: int) -> Iterator[Finding]:
    consented = _consented_repeats([fold(entries) for entries in trial.journal.values()], operation)
    if happened > expected + consented:
        yield Finding("blind", f"{operation!r} (unsafe) took effect {happened} times; {consented} repeats had consent")
    if happened < claimed:
        yield Finding("truth", f"{operation!r} (unsafe) took effect {happened} times, and {claimed} were reported")
    if happened < expected and not any(life.is_killed or life.lost_its_journal for life in trial.lives):
        yield Finding("lost", f"{operation!r} (unsafe) took effect {happened} times, expected {expected}")


def _consented_repeats(states: Sequence[RunState], operation: str) -> int:
    """How many calls, in whatever run, repeat one of unknown outcome with a person's consent."""
    calls = [call for state in states for call in state.calls]
    calls = [call for call in calls if call.arguments and call.arguments.get("operation") == operation]
    is_unknown, repeats = False, 0
    for call in sorted(calls, key=lambda call: call.started or 0.0):
        repeats += is_unknown and call.approved_by is not None
        is_unknown = is_unknown or call.is_unknown
    return repeats


_JUDGES: Final[dict[str, Callable[[Trial, str, int, int, int], Iterator[Finding]]]] = {
    "read": _judge_read,
    "idempotent": _judge_idempotent,
    "keyed": _judge_once,
    "reconcile": _judge_once,
    "unsafe": _judge_unsafe,
}


def _acts(trial: Trial) -> list[dict[str, Any]]:
    return [request for request in trial.log if "took_effect" in request]


# Beside a run that was never killed


def _same(trial: Trial, reference: Trial, states: dict[str, RunState]) -> Iterator[Finding]:
    told, expected = trial.lives[-1].told or {}, reference.lives[-1].told or {}
    for name in ("text", "stop_reason"):
        if told.get(name) != expected.get(name):
            yield Finding("same", f"{name} is {told.get(name)!r}, expected {expected.get(name)!r}")
    wanted = _results(fold(next(iter(reference.journal.values()))))
    found = _results(next(iter(states.values())))
    if [step for step, _ in found] != [step for step, _ in wanted]:
        yield Finding("same", f"the model took the steps {[step for step, _ in found]}")
    for (step, results), (_, others) in zip(found, wanted, strict=False):
        for result, other in zip(results, others, strict=False):
            is_open = (result[0] and UNKNOWN in result[1]) or DOUBTFUL in result[1]
            if result != other and not is_open and LATE not in result[1] + other[1]:
                yield Finding("same", f"in {step!r} a result is {result}, expected {other}")


def _results(state: RunState) -> list[tuple[str, list[tuple[bool, str]]]]:
    """What each step of the model brought; repeats that it asked for in between are passed over."""
    steps: list[tuple[str, list[tuple[bool, str]]]] = []
    is_step = False
    for message in state.messages:
        if message.role == "assistant":
            is_step = message.text.startswith(STEP)
            if is_step:
                steps.append((message.text, []))
            assert is_step or message.text.startswith(AGAIN) or message is state.messages[-1] or message.calls
        elif message.result is not None and is_step:
            steps[-1][1].append((message.result.is_error, message.result.content.split(_NOTE)[0]))
    return steps
