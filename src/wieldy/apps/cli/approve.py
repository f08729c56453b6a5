"""`wieldy approve` and `wieldy deny`: decide on a call that waits. They need neither a model nor tools."""

from __future__ import annotations

from typing import Annotated

import typer

from wieldy.apps.cli.options import ByOption, JournalOption, JsonOption, RunArgument


def approve(
    run: RunArgument,
    call: Annotated[
        str | None, typer.Argument(metavar="CALL", help="The call's id; without it all calls that wait are listed.")
    ] = None,
    *,
    by: ByOption = None,
    journal: JournalOption = None,
    json: JsonOption = False,
) -> None:
    """Let a call that waits run, with exactly the arguments that are shown.

    It runs when the run is resumed. Without CALL the calls that wait are listed.
    """
    # The journal opens SQLite; `wieldy --help` must not wait for it.
    from wieldy.apps.cli.deciding import decide, list_waiting  # noqa: PLC0415

    if call is None:
        list_waiting(run, journal=journal, json=json)
    else:
        decide(run, call, is_granted=True, by=by, journal=journal, json=json)


def deny(
    run: RunArgument,
    call: Annotated[str, typer.Argument(metavar="CALL", help="The call's id.")],
    *,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the model is told.")] = "",
    by: ByOption = None,
    journal: JournalOption = None,
    json: JsonOption = False,
) -> None:
    """Keep a call that waits from running; the model is told so when the run is resumed."""
    from wieldy.apps.cli.deciding import decide  # noqa: PLC0415 - as above

    decide(run, call, is_granted=False, by=by, reason=reason, journal=journal, json=json)
