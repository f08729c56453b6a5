"""`wieldy runs`: which runs the journal holds."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from wieldy.apps.cli.options import JournalOption, JsonOption
from wieldy.apps.cli.terminal import out

SHOWN = 20


def runs(
    *,
    journal: JournalOption = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, help=f"Only the newest N; {SHOWN} if left out, in JSON all."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the recorded runs, the newest first.

    With --json one object per line.
    """
    # The journal opens SQLite; `wieldy --help` must not wait for it.
    from wieldy.apps.cli.journals import open_for_reading  # noqa: PLC0415
    from wieldy.apps.cli.runs_view import print_runs, show_runs  # noqa: PLC0415

    recorded = open_for_reading(journal)
    run_ids = list(recorded.run_ids()) if recorded else []
    if recorded is not None and json:
        print_runs(recorded, run_ids[:limit])
    elif recorded is not None and run_ids:
        show_runs(out(), recorded, run_ids, limit=limit or SHOWN)
    elif not json:
        out().block(Text("No run is recorded yet. Start one with `wieldy run`."))
