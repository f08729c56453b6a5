"""`wieldy eval` and `wieldy report`: how well a model and this harness solve tasks, and what that adds up to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wieldy.apps.cli.options import JsonOption
from wieldy.apps.cli.run import Strategy

FolderOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="Where results are kept; evals/NAME here if left out."),
]


def evaluate(  # noqa: PLR0913 - one parameter for each option of the command
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="bfcl, or a file of tasks: FILE.jsonl or FILE.py.")
    ] = None,
    *,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", metavar="M", help="As for `run`, or script:oracle; may be given several times."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Only the first N tasks of each category.")
    ] = None,
    categories: Annotated[
        str,
        typer.Option("--categories", metavar="C,...", help="Of BFCL: names, or all, simple, live, non_live, python."),
    ] = "all",
    trials: Annotated[int, typer.Option("--trials", metavar="K", min=1, help="Trials of each task.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="J", min=1, help="Runs at once.")] = 4,
    strategy: Annotated[
        Strategy | None, typer.Option("--strategy", help="How the model is led; as for `run` if left out.")
    ] = None,
    out: FolderOption = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="PLACE", help="BFCL's wheel or folder, if it is not to be fetched.")
    ] = None,
    rerun_unscored: Annotated[
        bool, typer.Option("--rerun-unscored", metavar="", help="Run trials again that could not be scored.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", metavar="", help="Let tools of FILE.py change something; denied otherwise.")
    ] = False,
    template: Annotated[
        Path | None, typer.Option("--template", metavar="FILE", help="Write a set of tasks to start from, and end.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Run tasks with a model and judge what it did; what is in the folder already is not run again.

    With --json one object per trial as it comes, then the rows of the report.
    """
    # The agent and its rooms are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.eval_running import Wanted, evaluate_tasks, write_template  # noqa: PLC0415
    from wieldy.core.errors import UsageError  # noqa: PLC0415

    if template is not None:
        write_template(template)
        return
    if name is None:
        raise UsageError("Expected the NAME of a benchmark (bfcl) or a file of tasks. --template FILE writes one.")
    wanted = Wanted(
        name=name,
        models=tuple(dict.fromkeys(model or ["local"])),
        limit=limit,
        categories=tuple(part.strip() for part in categories.split(",") if part.strip()),
        trials=trials,
        jobs=jobs,
        strategy=None if strategy is None else strategy.value,
        folder=out,
        data=data,
        reruns_unscored=rerun_unscored,
        lets_change=yes,
    )
    raise typer.Exit(evaluate_tasks(wanted, json=json))


def report(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Where `wieldy eval` kept its results; the newest in evals/ if left out."
        ),
    ] = None,
    *,
    json: JsonOption = False,
) -> None:
    """Show what the results in a folder add up to: rates with intervals and denominators, reasons, differences.

    With --json one row per line.
    """
    from wieldy.apps.cli.eval_report import show_report  # noqa: PLC0415 - as above

    show_report(folder, json=json)
