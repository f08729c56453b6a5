"""Studies that several processes run: made anew in each of them, so by functions of a module."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from wieldy import tool
from wieldy.evals.cases.case import Suite
from wieldy.evals.studies.running import ORACLE, Study
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.tasks.task import ExpectedCall, Task
from wieldy.evals.tasks.task_cases import case_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "evals"


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(effect="read")
def kill() -> str:
    """Kill the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def task(number: int) -> Task:
    arguments = {"a": number, "b": 1}
    return Task(
        id=f"add-{number}",
        prompt=f"What is {number} + 1?",
        tools=[add],
        calls=(ExpectedCall(name="add", arguments=arguments),),
        answer=(f"It is {number + 1}.",),
    )


DEADLY = Task(id="deadly", prompt="Kill.", tools=[kill], calls=(ExpectedCall(name="kill"),), answer=("It is dead.",))


def study(folder: Path, tasks: int = 20, *, deadly: bool = False, jobs: int = 2) -> Study:
    own = [*([DEADLY] if deadly else []), *map(task, range(tasks))]
    return Study(
        suite=Suite(name="sums", cases=tuple(map(case_of, own)), source={}), models=(ORACLE,), folder=folder, jobs=jobs
    )


def environments(folder: Path, names: tuple[str, ...]) -> Study:
    """The examples of tasks that act on a world, a site or a workspace."""
    cases = tuple(case for name in names for case in suite_from(EXAMPLES / name).cases)
    return Study(
        suite=Suite(name="examples", cases=cases, source={}), models=(ORACLE,), folder=folder, trials=3, jobs=2
    )


def missing_model(folder: Path) -> Study:
    suite = Suite(name="sums", cases=(case_of(task(1)),), source={})
    return Study(suite=suite, models=(f"local:{folder / 'broken.gguf'}",), folder=folder / "out")


def changing(folder: Path) -> Study:
    """Another study in every process."""
    return study(folder, 1 + os.getpid() % 1000)
