"""`wieldy show`: one recorded run, all of it."""

from __future__ import annotations

from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.options import JournalOption, JsonOption, RunArgument
from wieldy.apps.cli.terminal import out


def show(run: RunArgument, *, journal: JournalOption = None, json: JsonOption = False) -> None:
    """Show a recorded run: every message, every call, its arguments, attempts, approvals, result and duration.

    With --json the journal's entries, one per line.
    """
    # The journal opens SQLite, and folding needs the run room; `wieldy --help` must not wait for them.
    from wieldy.apps.cli.journals import find_run, open_for_reading  # noqa: PLC0415
    from wieldy.apps.cli.run_status import status_of  # noqa: PLC0415
    from wieldy.apps.cli.run_view import show_run  # noqa: PLC0415
    from wieldy.run.nested import nested_runs  # noqa: PLC0415
    from wieldy.run.state import fold  # noqa: PLC0415

    recorded = open_for_reading(journal)
    run_id = find_run(recorded, run)
    entries = recorded.read(run_id) if recorded else ()
    if json:
        for entry in entries:
            print_json(entry._asdict())
    elif recorded is not None:
        state = fold(entries)
        status, holder = status_of(state, recorded), recorded.holder(run_id)
        show_run(out(), entries, status=status, holder=holder, nested=nested_runs(recorded, state))
