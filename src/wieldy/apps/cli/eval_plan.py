"""`wieldy eval plan`: how many tasks it takes to see a difference, or which difference so many tasks show.

Deliberately not here: the formulas (`wieldy.evals.statistics.planning`).
"""

from __future__ import annotations

from typing import Annotated

import typer

from wieldy.apps.cli.options import JsonOption


def plan(  # noqa: PLR0913 - one parameter for each option of the command
    *,
    difference: Annotated[
        float | None,
        typer.Option("--difference", metavar="D", help="The smallest that must not be missed: 0.05 for five points."),
    ] = None,
    tasks: Annotated[
        int | None, typer.Option("--tasks", metavar="N", min=1, help="Instead: which difference so many tasks show.")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", metavar="P", help="About how often tasks are passed.")] = 0.7,
    correlation: Annotated[
        float,
        typer.Option("--correlation", metavar="R", help="Of both configurations' outcomes on the same task."),
    ] = 0.5,
    trials: Annotated[int, typer.Option("--trials", metavar="K", min=1, help="Of each task.")] = 1,
    chance: Annotated[
        float,
        typer.Option("--chance", metavar="S", help="The share of the variance that is between trials of one task."),
    ] = 0.0,
    pairs: Annotated[
        int, typer.Option("--pairs", metavar="M", min=1, help="How many pairs of configurations will be compared.")
    ] = 1,
    power: Annotated[float, typer.Option("--power", metavar="W", help="How often a true difference is found.")] = 0.8,
    json: JsonOption = False,
) -> None:
    """Say how many tasks it takes to see a difference between two configurations, run on the same tasks and not.

    A difference is seen where its 95 % interval does not hold zero; with several pairs, adjusted for them.
    """
    from rich.text import Text  # noqa: PLC0415 - as below

    from wieldy.apps.cli.json_lines import print_json  # noqa: PLC0415 - `wieldy --help` must not wait for them
    from wieldy.apps.cli.terminal import out  # noqa: PLC0415
    from wieldy.core.errors import UsageError  # noqa: PLC0415
    from wieldy.evals.reports.planning import Plan  # noqa: PLC0415

    if (difference is None) == (tasks is None):
        raise UsageError("Expected --difference D or --tasks N, and not both.")
    made = Plan(rate=rate, correlation=correlation, trials=trials, chance=chance, pairs=pairs, power=power)
    row = made.for_difference(difference) if difference is not None else made.for_tasks(tasks or 0)
    if json:
        print_json(row)
        return
    for line in made.lines(row):
        out().block(Text(line))
