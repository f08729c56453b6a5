"""`wieldy show`: one recorded run, all of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.options import JournalOption, JsonOption
from wieldy.apps.cli.terminal import out


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run's id, the beginning of it, or `last`.")],
    *,
    journal: JournalOption = None,
    json: JsonOption = False,
) -> None:
    """Show a recorded run: every message, every call, its arguments, result and duration.

    With --json the journal's entries, one per line.
    """
    # The journal opens SQLite, and folding needs the run room; `wieldy --help` must not wait for them.
    from wieldy.apps.cli.journals import find_run, open_for_reading  # noqa: PLC0415
    from wieldy.apps.cli.run_view import show_run  # noqa: PLC0415
    from wieldy.run.state import fold  # noqa: PLC0415

    recorded = open_for_reading(journal)
    run_id = find_run(recorded.run_ids() if recorded else (), run)
    entries = recorded.read(run_id) if recorded else ()
    if json:
        for entry in entries:
            print_json(asdict(entry))
    else:
        show_run(out(), fold(entries))
