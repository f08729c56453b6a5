"""What the evaluation claims, measured and printed as Markdown.

    python scripts/evidence_evals.py statistics PYTHON   beside scipy and statsmodels, which that Python has
    python scripts/evidence_evals.py coverage            how often 95 % intervals hold the truth, simulated
    python scripts/evidence_evals.py abstentions WHEEL   what is credited where no call is wanted
    python scripts/evidence_evals.py defects WHEEL       tasks of BFCL of which something is wrong
    python scripts/evidence_evals.py oracle WHEEL        all of BFCL's tasks run by an oracle
    python scripts/evidence_evals.py speed WHEEL         CPU time of a process that gives 2,351 verdicts
    python scripts/evidence_evals.py attribution         faults put in at boundaries, 50 runs each

WHEEL is that of bfcl_eval. `make evidence ARGS=evals` does all of it. Exit 1 where a claim does not hold.
"""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

from wieldy.evals import statistics as ours
from wieldy.evals.bfcl.categories import CATEGORIES, CONVERSATIONS, categories_named
from wieldy.evals.bfcl.conversations.data import conversations
from wieldy.evals.bfcl.conversations.defects import defects_of as defects_of_conversation
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.defects import defects_of
from wieldy.evals.bfcl.running import run_task
from wieldy.evals.bfcl.scoring import official_verdict, strict_verdict
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.cases.case import Attempt
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows
from wieldy.evals.statistics import clustered_mean, clustered_wilson, mean_interval, paired_difference, wilson
from wieldy.evals.statistics.distributions import student_t_quantile
from wieldy.evals.studies.running import ORACLE, Study, run_study
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.evals.verdicts.verdict import tally
from wieldy.run.journal import MemoryJournal
from wieldy.testing import ScriptedModel, call, text

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_261_130


def statistics(python: str) -> int:

    def estimate(found: Any) -> list[float]:
        return [found.mean, found.standard_error, found.low, found.high]

    def passes(trials: int, successes: int, k: int) -> list[float]:
        return [ours.pass_at_k(trials, successes, k), ours.pass_hat_k(trials, successes, k)]

    def two_rates(first: list[bool], second: list[bool]) -> list[float]:
        found = ours.unpaired_difference(
            first, second, first_clusters=range(len(first)), second_clusters=range(len(second)), resamples=1
        )
        return [found.mean, found.low, found.high]

    own: dict[str, Callable[..., list[float]]] = {
        "wilson": lambda successes, trials: list(ours.wilson(successes, trials)),
        "student": lambda probability, degrees: [student_t_quantile(probability, degrees)],
        "mean": lambda values: estimate(ours.mean_interval(values)),
        "clustered": lambda values, clusters: estimate(ours.clustered_mean(values, clusters)),
        "two_way": lambda **case: estimate(ours.two_way_clustered_mean(**case))[:2],
        "paired_test": lambda first, second: list(ours.mcnemar(first, second)[2:]),
        "permutation": lambda first, second: [ours.permutation_p_value(first, second)],
        "passes": passes,
        "two_raters": lambda first, second: [ours.cohen_kappa(first, second)],
        "raters": lambda ratings: [ours.fleiss_kappa(ratings)],
        "holm": lambda values: list(ours.holm(values)),
        "two_rates": two_rates,
        "alpha": lambda ratings: [ours.krippendorff_alpha(ratings)],
        "size": lambda difference, variance: [ours.sample_size(difference, variance_between=variance)],
    }

    cases = _statistical_cases(random.Random(SEED))
    script = str(ROOT / "scripts" / "reference_statistics.py")
    made = subprocess.run([python, script], input=json.dumps(cases), capture_output=True, text=True, check=True)
    worst, counts = dict[str, float](), Counter[str]()
    for case, expected in zip(cases, json.loads(made.stdout), strict=True):
        name = case["name"]
        found = own[name](**{key: value for key, value in case.items() if key != "name"})
        counts[name] += 1
        difference = max(abs(one - other) / max(1.0, abs(other)) for one, other in zip(found, expected, strict=True))
        worst[name] = max(worst.get(name, 0.0), difference)
    print("| statistic | cases | largest difference |\n|---|---|---|")
    for name, difference in worst.items():
        print(f"| {name} | {counts[name]} | {difference:.1e} |")
    return int(max(worst.values()) > 1e-9)


def _statistical_cases(chance: random.Random) -> list[dict[str, Any]]:
    cases = list[dict[str, Any]]()
    for _ in range(300):
        trials = chance.randint(1, 2000)
        cases.append({"name": "wilson", "successes": chance.randint(0, trials), "trials": trials})
        cases.append(
            {"name": "student", "probability": chance.uniform(0.5, 0.9999), "degrees": chance.randint(1, 3000)}
        )
        count = chance.randint(4, 60)
        values = [chance.gauss(0, 1) for _ in range(count)]
        groups = [[at % 4 if at < 4 else chance.randrange(count // 2 + 2) for at in range(count)] for _ in range(2)]
        cases.append({"name": "mean", "values": values})
        cases.append({"name": "clustered", "values": values, "clusters": groups[0]})
        outcomes = [[chance.random() < 0.6 for _ in range(count)] for _ in range(2)]
        if outcomes[0] != outcomes[1]:
            cases.append({"name": "paired_test", "first": outcomes[0], "second": outcomes[1]})
        labels = [[chance.randrange(3) for _ in range(count)] for _ in range(2)]
        cases.append({"name": "two_raters", "first": [0, 1, 2, *labels[0]], "second": [0, 1, 2, *labels[1]]})
        cases.append({"name": "raters", "ratings": [[chance.randrange(4) for _ in range(5)] for _ in range(count)]})
        some = [[label if chance.random() < 0.8 else None for label in row] for row in zip(*labels, strict=True)]
        cases.append({"name": "alpha", "ratings": [[0, 1], [2, 2], *some]})
        cases.append({"name": "holm", "values": [chance.random() ** 3 for _ in range(chance.randint(1, 12))]})
        cases.append({"name": "two_rates", "first": outcomes[0], "second": [chance.random() < 0.4 for _ in range(40)]})
        n = chance.randint(1, 12)
        cases.append({"name": "passes", "trials": n, "successes": chance.randint(0, n), "k": chance.randint(1, n)})
        cases.append({"name": "size", "difference": chance.uniform(0.01, 0.3), "variance": chance.uniform(0.01, 1)})
    for _ in range(40):
        few = chance.randint(2, 9)
        pair = [[round(chance.uniform(0, 1), 1) for _ in range(few)] for _ in range(2)]
        cases.append({"name": "permutation", "first": pair[0], "second": pair[1]})
        users, attacks = chance.randint(3, 9), chance.randint(3, 9)
        grid = [(user, attack) for user in range(users) for attack in range(attacks)]
        effects = [chance.gauss(0, 2) for _ in range(users)], [chance.gauss(0, 2) for _ in range(attacks)]
        values = [effects[0][user] + effects[1][attack] + chance.gauss(0, 1) for user, attack in grid]
        first, second = ([pair[at] for pair in grid] for at in (0, 1))
        cases.append({"name": "two_way", "values": values, "first": first, "second": second})
    return cases


def coverage(studies: str = "4000") -> int:

    chance, count = random.Random(SEED), int(studies)
    held = Counter[str]()

    def hold(name: str, truth: float, low: float, high: float) -> None:
        held[name] += low <= truth <= high

    for _ in range(count):
        rate = chance.uniform(0.1, 0.9)
        hold("wilson, 200 trials", rate, *wilson(sum(chance.random() < rate for _ in range(200)), 200))
        values = [chance.gauss(0.3, 1) for _ in range(40)]
        hold("mean, 40 values", 0.3, *mean_interval(values)[2:4])
        own, clusters, twice = list[float](), list[int](), list[float]()
        for task in range(50):
            task_rate = chance.betavariate(2.0, 2.0)
            trials = [float(chance.random() < task_rate) for _ in range(4)]
            own += trials
            clusters += [task] * 4
            twice += [float(chance.random() < min(1.0, task_rate)) for _ in range(4)]
        hold("clustered mean, 50 tasks x 4 trials", 0.5, *clustered_mean(own, clusters)[2:4])
        hold("clustered wilson, the same", 0.5, *clustered_wilson([bool(value) for value in own], clusters))
        hold("paired difference, the same tasks", 0.0, *paired_difference(own, twice, clusters=clusters)[2:4])
        held["(plain mean of the clustered trials)"] += mean_interval(own).low <= 0.5 <= mean_interval(own).high
    print(f"{count:,} simulated studies each.\n\n| 95 % interval | holds the truth |\n|---|---|")
    for name, number in held.items():
        print(f"| {name} | {number / count:.1%} |")
    return int(any(not 0.935 <= held[name] / count <= 0.965 for name in held if not name.startswith("(")))


def _bfcl(wheel: str) -> Any:

    return BfclData(Path(wheel))


def abstentions(wheel: str) -> int:
    data = _bfcl(wheel)
    tasks = [*data.tasks(CATEGORIES["irrelevance"]), *data.tasks(CATEGORIES["live_irrelevance"])]
    replies: dict[str, Callable[[str], Any]] = {
        "the text of an HTTP error": lambda _: text("HTTP 500 Internal Server Error: the model is overloaded"),
        "a malformed call in text": lambda name: text(f'<tool_call>\n{{"name": "{name}", "arguments": {{"a": '),
        "a malformed call by the interface": lambda name: call(name, '{"a": '),
        "nothing": lambda _: text(""),
        "a refusal in words": lambda _: text("None of these functions can do that."),
    }

    async def count() -> dict[str, Counter[str]]:
        found = {kind: Counter[str]() for kind in replies}
        for task in tasks:
            for kind, reply in replies.items():
                said = reply(task.functions[0]["name"].replace(".", "_") if task.functions else "f")
                journal = MemoryJournal()
                model = ScriptedModel(
                    lambda messages, said=said: [text("?")] if messages[-1].role == "tool" else [said]
                )
                entries = journal.read(await run_task(task, Attempt(model=model, journal=journal, metadata={})))
                found[kind]["official"] += official_verdict(task, entries).kind == "pass"
                verdict = strict_verdict(task, entries)
                found[kind][verdict.kind] += 1
        return found

    found = anyio.run(count)
    print(f"{len(tasks):,} tasks that want no call.\n")
    print("| the reply is | `official` credits | `strict` credits | fail | unscored |\n|---|---|---|---|---|")
    for kind, counts in found.items():
        numbers = [counts[name] for name in ("official", "pass", "fail", "unscored")]
        print(f"| {kind} | {' | '.join(f'{number:,}' for number in numbers)} |")
    return int(any(found[kind]["pass"] != (len(tasks) if "refusal" in kind else 0) for kind in found))


def defects(wheel: str) -> int:

    data = _bfcl(wheel)
    print("| task | what | where |\n|---|---|---|")
    counts = Counter[str]()
    for category in CATEGORIES.values():
        for task in data.tasks(category):
            found = defects_of(task)
            for code in {f"{defect.code} ({defect.concerns})" for defect in found}:
                counts[code] += 1
            for defect in found:
                print(f"| {task.id} | {defect.code} | {defect.where} |")
    for category in CONVERSATIONS.values():
        for conversation in conversations(data, category):
            for defect in defects_of_conversation(conversation):
                counts[f"{defect.code} ({defect.concerns})"] += 1
                print(f"| {conversation.id} | {defect.code} | {defect.where} |")
    print("\n" + ", ".join(f"{code}: {count}" for code, count in sorted(counts.items())))
    return 0


def oracle(wheel: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        suite = bfcl_suite(Path(wheel), categories_named(["everything"]))
        study = Study(suite=suite, models=(ORACLE,), folder=Path(folder) / "out", jobs=4)
        began = time.process_time()
        trials = anyio.run(run_study, study, lambda _: None)
        print(f"{time.process_time() - began:.1f} s of CPU time.\n\n```")
        print("\n".join(report_lines(report_rows(trials))) + "\n```")
    return int(tally(trial.verdict for trial in trials).rate != 1.0)


SPEED = """
import time
from pathlib import Path
import sys
from wieldy.evals.bfcl import official, strict
from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.categories import GROUPS, CATEGORIES
from wieldy.evals.bfcl.data import BfclData
data = BfclData(Path(sys.argv[1]))
verdicts = 0
for name in GROUPS["python"]:
    for task in data.tasks(CATEGORIES[name]):
        calls = right_calls(task)
        verdicts += 1
        (official.check_calls if sys.argv[2] == "official" else strict.check)(task, calls)
print(verdicts, time.process_time())
"""


def speed(wheel: str) -> int:
    print("| verdicts | comparator | CPU time of the whole process, s, best of 5 |\n|---|---|---|")
    slow = False
    for comparator in ("official", "strict"):
        made = [_output([sys.executable, "-c", SPEED, wheel, comparator]).split() for _ in range(5)]
        best = min(float(seconds) for _, seconds in made)
        slow = slow or best > 0.7
        print(f"| {int(made[0][0]):,} | `{comparator}` | {best:.2f} |")
    return int(slow)


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def attribution(runs: str = "50") -> int:
    """The faults of the tests, each behind 0 to 9 calls that go well."""
    sys.path.insert(0, str(ROOT / "tests" / "evals"))
    from fault_cases import CASES, journal_of  # noqa: PLC0415 - where tests are is known only now

    chance = random.Random(SEED)

    async def count() -> dict[str, int]:
        right = dict.fromkeys(CASES, 0)
        for name, case in CASES.items():
            for _ in range(int(runs)):
                found = decisive(faults(await journal_of(case.agent(chance.randrange(10)))))
                right[name] += found is not None and (found.layer, found.code) == (case.layer, case.code)
        return right

    right = anyio.run(count)
    print(f"| fault put in | layer | right, of {runs} |\n|---|---|---|")
    for name, number in right.items():
        print(f"| {name} | {CASES[name].layer} | {number} |")
    total = sum(right.values()) / (len(right) * int(runs))
    print(f"\n{len(right)} kinds, {total:.1%} right.")
    return int(total < 0.98)


PARTS: dict[str, Callable[..., int]] = {
    each.__name__: each for each in (statistics, coverage, abstentions, defects, oracle, speed, attribution)
}


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in PARTS:
        sys.exit(__doc__)
    with contextlib.suppress(BrokenPipeError):
        sys.exit(PARTS[sys.argv[1]](*sys.argv[2:]))
