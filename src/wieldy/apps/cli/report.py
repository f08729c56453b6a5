"""`wieldy report`: what results add up to, of studies that are named or of a store that holds many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from wieldy.apps.cli.options import BaselineOption, JsonOption, StoreOption

Folders: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FOLDER...",
        help="Where `wieldy eval` kept its results; the newest in evals/ if left out. Several of one set of tasks "
        "are compared.",
    ),
]
HtmlOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a page for a browser: all trials, every run, every call."),
]
RedactOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--redact", metavar="REGEX", help="What the page must not show; may be given several times."),
]
SliceOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="KEY=V", help="Of the store: suite, category, model, version, since=2026-11-30, until=..."
    ),
]
ByOption: TypeAlias = Annotated[str, typer.Option("--by", metavar="KEY", help="How the store's results are sliced.")]
SplitOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--split", metavar="KEY=A,B", help="Slices to compare, or day=2026-11-30; the last two if left out."),
]
PlotOption: TypeAlias = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the slices, as SVG.")]
RegressionOption: TypeAlias = Annotated[
    bool, typer.Option("--fail-on-regression", metavar="", help="Exit with 1 if something became worse.")
]
LabelsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--labels", metavar="FILE", help="People's verdicts on trials, to see how far judges agree."),
]


def report(  # noqa: PLR0913 - one parameter for each option of the command
    context: typer.Context,
    folders: Folders = None,
    *,
    html: HtmlOption = None,
    redact: RedactOption = None,
    store: StoreOption = None,
    only: SliceOption = None,
    by: ByOption = "version",
    split: SplitOption = None,
    plot: PlotOption = None,
    fail_on_regression: RegressionOption = False,
    baseline: BaselineOption = None,
    labels: LabelsOption = None,
    json: JsonOption = False,
) -> None:
    """Show what the results in a folder add up to: rates with intervals and denominators, reasons, differences.

    With --json one row per line; with --html and --json one object that says what was written.
    """
    # What the results are made of is imported here, because `wieldy --help` must not wait for it.
    from wieldy.apps.cli.eval_options import check_report_options, given_in  # noqa: PLC0415

    check_report_options(given_in(context))
    if store is None:
        from wieldy.apps.cli.eval_report import show_report  # noqa: PLC0415

        show_report(folders or [], json=json, html=html, redact=redact or [], baseline=baseline, labels=labels)
        return
    from wieldy.apps.cli.eval_store import StoreWanted, show_store  # noqa: PLC0415

    wanted = StoreWanted(
        path=store,
        folders=folders or [],
        only=only or [],
        by=by,
        split=split,
        plot=plot,
        fails_on_regression=fail_on_regression,
    )
    raise typer.Exit(show_store(wanted, json=json))
