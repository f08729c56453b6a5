"""Which options of `wieldy eval` and `wieldy report` go together: one that would change nothing is refused.

Deliberately not here: what their values may be, which those say who use them.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

import typer

from wieldy.core.errors import UsageError

_OF_SUITES: Final = {
    "categories": ("bfcl", "agentdojo", "tau2"),
    "user": ("tau2",),
    "variants": ("a file of tasks",),
    "scale": ("a file of tasks",),
    "judge": ("a file of tasks", "tau2"),
}
"""For what each option is; all others are for everything."""
_OF_STORES: Final = ("only", "by", "split", "plot", "fail_on_regression")
_OF_FOLDERS: Final = ("html", "redact", "baseline", "labels")


def given_in(context: typer.Context) -> frozenset[str]:
    """The names of the parameters that stand on the command line."""
    sources = ((name, context.get_parameter_source(name)) for name in context.params)
    return frozenset(name for name, source in sources if source is not None and source.name == "COMMANDLINE")


def check_template_alone(given: Collection[str]) -> None:
    """Raises UsageError where something beside `--template` would change nothing."""
    others = [_told(name) for name in sorted(given) if name not in ("template", "json")]
    if others:
        raise UsageError(f"--template writes tasks and runs none: expected no {', '.join(others)} beside it.")


def check_study_options(given: Collection[str], name: str | None) -> str:
    """The benchmark or file of a study.

    Raises:
        UsageError: None is named, or an option would change nothing of a study of it.
    """
    if name is None:
        raise UsageError(
            "Expected the NAME of a benchmark (bfcl, agentdojo, tau2) or a file of tasks. --template FILE writes one."
        )
    what = "a file of tasks" if Path(name).suffix in (".jsonl", ".py") else name
    for option, suites in _OF_SUITES.items():
        if option in given and what not in suites:
            raise UsageError(f"{_told(option)} is for {', '.join(suites)}, found {name!r}. Leave it out.")
    if "data" in given and what == "a file of tasks" and "scale" not in given:
        raise UsageError(f"--data says where a benchmark is: expected --scale beside it, or none with {name!r}.")
    if "judge_seed" in given and "judge" not in given:
        raise UsageError("--judge-seed is sent to judges: expected --judge beside it.")
    return name


def check_report_options(given: Collection[str]) -> None:
    """Raises UsageError where an option would change nothing of what is shown, of a store or of folders."""
    if "store" in given:
        foreign = [_told(name) for name in _OF_FOLDERS if name in given]
        if foreign:
            raise UsageError(f"{', '.join(foreign)}: of a folder's report, not of a store's. Leave --store FILE out.")
        return
    foreign = [_told(name) for name in _OF_STORES if name in given]
    if foreign:
        raise UsageError(f"{', '.join(foreign)}: says what of a store is shown. Add --store FILE.")


def _told(name: str) -> str:
    return name.upper() if name == "name" else f"--{name.replace('_', '-')}"
