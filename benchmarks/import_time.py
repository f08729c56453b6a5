"""What `import wieldy` costs, beside an empty interpreter and `import pydantic`.

    python benchmarks/import_time.py [RUNS]

Each import runs in processes of its own, after one that fills the cache of compiled files. CPU time (user and system)
and peak memory are the process's, so that of an empty interpreter is included in every row and also taken off in
`more`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import dataclass

IMPORTS = {
    "nothing": "pass",
    "pydantic": "import pydantic; pydantic.BaseModel",
    "wieldy": "import wieldy",
    "wieldy, all names": "from wieldy import *",
}
GOAL_CPU_S = 0.3
GOAL_MIB = 60

MEASURE = """
import resource
{statement}
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The median of several processes."""

    cpu_s: float
    memory_mib: float


def measure(statement: str, *, runs: int) -> Cost:
    """The cost of a process that runs the statement."""
    pairs: list[tuple[float, float]] = []
    for _ in range(runs + 1):
        finished = subprocess.run(
            [sys.executable, "-c", MEASURE.format(statement=statement)], capture_output=True, text=True, check=True
        )
        cpu_s, memory_mib = map(float, finished.stdout.split())
        pairs.append((cpu_s, memory_mib))
    measured = pairs[1:]
    return Cost(
        cpu_s=statistics.median(cpu_s for cpu_s, _ in measured),
        memory_mib=statistics.median(memory_mib for _, memory_mib in measured),
    )


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    costs = {name: measure(statement, runs=runs) for name, statement in IMPORTS.items()}
    empty = costs["nothing"]
    print(f"{'import':<20}{'CPU s':>8}{'more':>8}{'MiB':>8}{'more':>8}   (median of {runs} processes)")
    for name, cost in costs.items():
        more_s, more_mib = cost.cpu_s - empty.cpu_s, cost.memory_mib - empty.memory_mib
        print(f"{name:<20}{cost.cpu_s:>8.3f}{more_s:>8.3f}{cost.memory_mib:>8.1f}{more_mib:>8.1f}")
    print(f"Goals for wieldy: at most {GOAL_CPU_S} s and {GOAL_MIB} MiB, the interpreter included.")


if __name__ == "__main__":
    main()
