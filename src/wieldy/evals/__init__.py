"""Evaluation: what became of trials of tasks, whose failure it was, and how sure one can be of the numbers.

The journal is the only source of what happened: a verdict is computed from the entries of a run, and names them.
Above lies `apps`; below it `agent`, whose runs are looked at. Read in this order: `verdicts`, `cases`, `tasks`,
`studies`, `reports`, each of which knows those before it; `statistics` knows nothing of the others; `bfcl`, `tau2` and
`agentdojo` are benchmarks as cases. Deliberately not here: how a run goes on, and anything shown on a terminal.

What a file of tasks and a study of one's own need is importable from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wieldy.evals.cases.configurations import Configuration, ablations, grid
    from wieldy.evals.studies.judges import judges_named
    from wieldy.evals.studies.running import Study, run_study
    from wieldy.evals.tasks.datasets import suite_from
    from wieldy.evals.tasks.sites import Request, Response, Site
    from wieldy.evals.tasks.task import Condition, ExpectedCall, Outcome, Task
    from wieldy.evals.tasks.worlds import World

__all__ = [
    "Condition",
    "Configuration",
    "ExpectedCall",
    "Outcome",
    "Request",
    "Response",
    "Site",
    "Study",
    "Task",
    "World",
    "ablations",
    "grid",
    "judges_named",
    "run_study",
    "suite_from",
]

# Loaded when they are first named, for verdicts alone need none of them.
_LOADED_ON_USE: Final = {
    "cases.configurations": ("Configuration", "ablations", "grid"),
    "studies.judges": ("judges_named",),
    "studies.running": ("Study", "run_study"),
    "tasks.datasets": ("suite_from",),
    "tasks.sites": ("Request", "Response", "Site"),
    "tasks.task": ("Condition", "ExpectedCall", "Outcome", "Task"),
    "tasks.worlds": ("World",),
}


def __getattr__(name: str) -> object:
    module = next((module for module, names in _LOADED_ON_USE.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module 'wieldy.evals' has no attribute {name!r}")
    value = getattr(import_module(f"wieldy.evals.{module}"), name)
    globals()[name] = value
    return value
