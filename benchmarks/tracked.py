"""What it costs to know where every value comes from: tracked code beside the same code in Python. CPU time.

    python benchmarks/tracked.py [--json]

*Steps* are the expressions and statements that are evaluated, the unit of `TrackedLimits.steps`. Every program is run
several times, alternately here and in Python, and the fastest run of each counts, since other programs can only add to
it. *tainted* is the same program with data of a stranger, whose labels are joined and marked all the way.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

from wieldy.sandbox.tracked import Done, Labelled, Tracked, TrackedLimits

RUNS = 5
STRANGER = frozenset({"web"})
LIMITS = TrackedLimits(steps=50_000_000, allocated=500_000_000)

PROGRAMS = {
    "arithmetic": "total = 0\nfor i in range(20_000):\n    total = (total * 31 + i) % 1_000_003\ntotal",
    "functions": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(18)",
    "records": """
out = []
for mail in mails:
    if mail["size"] > 100 and "a" in mail["subject"]:
        out.append({"to": mail["sender"].lower(), "line": f"{mail['subject']}: {mail['size']}"})
len(sorted(out, key=lambda entry: entry["line"]))
""",
    "comprehensions": "sum(x * y for x in range(120) for y in range(120) if (x + y) % 3 == 0)",
}
MAILS = [
    {"size": number % 300, "subject": f"subject {number} {'abc'[number % 3]}", "sender": f"P{number}@X"}
    for number in range(2_000)
]


def main() -> None:
    parser = argparse.ArgumentParser(description="What tracked code costs, beside Python.")
    parser.add_argument("--json", action="store_true", help="everything that was found, as one JSON object")
    options = parser.parse_args()
    found = {name: measure(code) for name, code in PROGRAMS.items()}
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'':16}{'steps':>10}{'steps/s':>12}{'tainted':>12}{'x Python':>10}")
    for name, row in found.items():
        print(
            f"{name:16}{row['steps']:>10}{row['steps_per_s']:>12.0f}"
            f"{row['steps_per_s_tainted']:>12.0f}{row['times_python']:>10.0f}"
        )


def measure(code: str) -> dict[str, Any]:
    tree = compile(f"{code.strip().rsplit(chr(10), 1)[0]}\nresult = {code.strip().rsplit(chr(10), 1)[-1]}", "", "exec")
    if "\n" not in code.strip():
        tree = compile(f"result = {code}", "", "exec")
    ours: list[float] = []
    tainted: list[float] = []
    python: list[float] = []
    steps = 0
    for _ in range(RUNS):
        names: dict[str, Any] = {"mails": MAILS}
        python.append(cpu_time(lambda names=names: exec(tree, names)))
        for times, sources in ((ours, frozenset[str]()), (tainted, STRANGER)):
            run = Tracked(code, tools={}, variables={"mails": Labelled(value=MAILS, sources=sources)}, limits=LIMITS)
            ends: list[object] = []
            times.append(cpu_time(lambda run=run, ends=ends: ends.append(run.start())))
            end = ends[0]
            if not isinstance(end, Done) or end.value != names["result"]:
                raise SystemExit(f"expected what Python gives, found {end}")
            steps = run.steps
    return {
        "steps": steps,
        "steps_per_s": steps / min(ours),
        "steps_per_s_tainted": steps / min(tainted),
        "times_python": min(ours) / min(python),
    }


def cpu_time(do: Callable[[], object]) -> float:
    started = time.process_time()
    do()
    return time.process_time() - started


if __name__ == "__main__":
    main()
