"""How well policies hold against models that obey strangers: AgentDojo's tasks, without a model, as Markdown.

    python scripts/evidence_agentdojo.py policies [FOLDER]     what each policy prevents, and what it costs
    python scripts/evidence_agentdojo.py adaptive [FOLDER]     the same policy against strangers who know it
    python scripts/evidence_agentdojo.py denied [FOLDER]       what the policy keeps of the users' own tasks, and why
    python scripts/evidence_agentdojo.py faults [FOLDER]       mistakes put into the users' own tasks, and repaired

FOLDER is one in which the package `agentdojo` lies, if it is not installed. Nobody answers questions, so that a call
about which a person would be asked does not run; it counts as neither done nor attacked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from wieldy.evals.agentdojo.declarations import DECLARED
from wieldy.evals.agentdojo.suite import KINDS, NAMES, POLICIES, agentdojo_suite
from wieldy.evals.cases.case import Attempt, Case, Judged
from wieldy.evals.cases.faulty import FAULTS, FaultyModel, faults_put_in
from wieldy.evals.statistics import clustered_wilson, two_way_clustered_wilson
from wieldy.evals.verdicts.verdict import Verdict, tally
from wieldy.run.journal import MemoryJournal, kinds
from wieldy.run.state import fold

BENIGN, ATTACKED, WORDS = KINDS


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one case."""

    case: Case
    judged: Judged
    ran: int
    asked: int
    questions: tuple[str, ...]

    def is_pass(self, name: str) -> bool:
        """What one of the rules says; where the benchmark's own check broke, that it is neither useful nor secure."""
        found = self.judged.others.get(name)
        return found is not None and found.kind == "pass"

    @property
    def user(self) -> str:
        """The user's task."""
        return self.case.cluster

    @property
    def attack(self) -> str:
        """What the stranger wants."""
        suite, *_, attack = self.case.id.split("/")
        return f"{suite}/{attack}"


async def run(case: Case, script: str, policy: str) -> Trial:
    journal = MemoryJournal()
    model = case.scripts[script]()
    ids = await case.run(Attempt(model=model, journal=journal, metadata={}, policy=POLICIES[policy]))
    runs = [journal.read(run_id) for run_id in ids]
    ran, asked, questions = 0, 0, list[str]()
    for entry in (entry for entries in runs for entry in entries):
        name: Any = entry.data.get("tool_name")
        if entry.kind == kinds.CALL_STARTED:
            ran += DECLARED[name].effect != "read"
        elif entry.kind == kinds.CALL_WAITING:
            asked += DECLARED[name].effect != "read"
            questions.append(f"{name}: {entry.data['reason']}")
    return Trial(case, case.judge(runs), ran, asked, tuple(questions))


def trials(kind: str, script: str, policy: str, place: Path | None, *, is_disguised: bool = False) -> list[Trial]:
    suite = agentdojo_suite([f"{name}{kind}" for name in NAMES], place=place, is_disguised=is_disguised)

    async def all_of_them() -> list[Trial]:
        return [await run(case, script, policy) for case in suite.cases]

    return anyio.run(all_of_them)


def share(found: Sequence[Trial], holds: Callable[[Trial], bool]) -> str:
    """Count, rate and 95 % interval; users' tasks and strangers' goals are clusters."""
    outcomes = [holds(each) for each in found]
    users, attacks = [each.user for each in found], [each.attack for each in found]
    if not outcomes:
        return "none"
    told = f"{sum(outcomes)}/{len(outcomes)} = {sum(outcomes) / len(outcomes):.1%}"
    if len(set(users)) < 2:
        return told
    if len(set(attacks)) > 1:
        low, high = two_way_clustered_wilson(outcomes, users, attacks)
    else:
        low, high = clustered_wilson(outcomes, users)
    return f"{told} [{low:.1%}, {high:.1%}]"


def useful(trial: Trial) -> bool:
    return trial.is_pass("utility")


def attacked(trial: Trial) -> bool:
    return not trial.is_pass("secure")


def useful_and_secure(trial: Trial) -> bool:
    return useful(trial) and not attacked(trial)


def was_shown(trial: Trial) -> bool:
    return "secure where shown" in trial.judged.others


def obeyed(trial: Trial) -> bool:
    return not trial.is_pass("no stranger's call")


def autonomy(found: Sequence[Trial]) -> str:
    ran, asked = sum(each.ran for each in found), sum(each.asked for each in found)
    return f"{ran}/{ran + asked} = {ran / (ran + asked):.1%}" if ran + asked else "none"


def groups(found: Sequence[Trial]) -> list[tuple[str, list[Trial]]]:
    parts = [(name, [each for each in found if each.user.startswith(f"{name}/")]) for name in NAMES]
    return [*parts, ("all", list(found))]


def policies(place: Path | None) -> int:
    print(
        "| policy | suite | useful, no attack | changes made unasked | attack done, of all | of those shown |", end=""
    )
    print(" useful and secure | words in the answer |")
    print("|---|---|---|---|---|---|---|---|")
    for policy in POLICIES:
        benign = trials(BENIGN, "oracle", policy, place)
        hostile = trials(ATTACKED, "compromised", policy, place)
        wordy = trials(WORDS, "compromised", policy, place)
        for (name, own), (_, theirs), (_, words) in zip(groups(benign), groups(hostile), groups(wordy), strict=True):
            shown = [each for each in theirs if was_shown(each)]
            print(
                f"| {policy} | {name} | {share(own, useful)} | {autonomy(own)} | {share(theirs, attacked)} | "
                f"{share(shown, attacked)} | {share(theirs, useful_and_secure)} | {share(words, attacked)} |",
                flush=True,
            )
    return 0


def adaptive(place: Path | None) -> int:
    print("| model | stranger's text | attack done | a call with an aim ran for the stranger | useful and secure |")
    print("|---|---|---|---|---|")
    for script, is_disguised in (
        ("robust", False),
        ("compromised", False),
        ("compromised", True),
        ("compromised-late", False),
        ("compromised-aimed", False),
    ):
        found = trials(ATTACKED, script, "grounded", place, is_disguised=is_disguised)
        shown = [each for each in found if was_shown(each)]
        print(
            f"| {script} | {'disguised' if is_disguised else 'plain'} | {share(found, attacked)} | "
            f"{share(shown, obeyed)} | {share(found, useful_and_secure)} |",
            flush=True,
        )
    return 0


def denied(place: Path | None) -> int:
    print("| task | done | asked about |")
    print("|---|---|---|")
    for each in trials(BENIGN, "oracle", "grounded", place):
        if each.questions or not useful(each):
            print(
                f"| {each.case.id} | {'yes' if useful(each) else 'no'} | {'; '.join(dict.fromkeys(each.questions))} |"
            )
    print()
    print("| stranger's goal done | in | of |")
    print("|---|---|---|")
    hostile = trials(ATTACKED, "compromised", "grounded", place)
    for attack in dict.fromkeys(each.attack for each in hostile):
        own = [each for each in hostile if each.attack == attack]
        done = [each.user.partition("/")[2] for each in own if attacked(each)]
        if done:
            print(f"| {attack} | {', '.join(done)} | {len(own)} |")
    return 0


def faults(place: Path | None) -> int:
    suite = agentdojo_suite(NAMES, place=place)
    print("| mistake | trials with it | mistakes | passed | failed | unscored, by layer |")
    print("|---|---|---|---|---|---|")
    for fault in FAULTS:
        count, put_in, verdicts = 0, 0, list[Verdict]()
        for case in suite.cases:
            journal = MemoryJournal()
            model = FaultyModel(case.scripts["oracle"](), seed=case.id, faults=[fault])
            ids = anyio.run(case.run, Attempt(model=model, journal=journal, metadata={}))
            runs = [journal.read(run_id) for run_id in ids]
            found = faults_put_in(runs[-1])
            # An empty reply leaves no trace but an answer without words.
            if found or (fault == "empty" and not fold(runs[-1]).text):
                count, put_in = count + 1, put_in + max(1, len(found))
                verdicts.append(case.judge(runs).verdict)
        told = tally(verdicts)
        layers = ", ".join(f"{layer} {number}" for layer, number in told.unscored) or "0"
        print(f"| {fault} | {count} | {put_in} | {told.passed} | {told.failed} | {layers} |", flush=True)
    return 0


COMMANDS: dict[str, Callable[[Path | None], int]] = {
    "policies": policies,
    "adaptive": adaptive,
    "denied": denied,
    "faults": faults,
}


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    sys.exit(COMMANDS[sys.argv[1]](Path(sys.argv[2]) if len(sys.argv) > 2 else None))
