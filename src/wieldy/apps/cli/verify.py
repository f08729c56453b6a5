"""`wieldy verify`: was anything in the journal changed, removed or put elsewhere?"""

from __future__ import annotations

from typing import Annotated

import typer

from wieldy.apps.cli.options import JournalOption, JsonOption


def verify(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Only this run; without it all of the journal.")
    ] = None,
    *,
    head: Annotated[
        str | None,
        typer.Option(
            "--head", metavar="DIGEST", help="A head of this journal that was noted before: it must still be there."
        ),
    ] = None,
    journal: JournalOption = None,
    json: JsonOption = False,
) -> None:
    """Check that nothing in the journal was changed, removed or put elsewhere.

    Ends with 0 if nothing was found, else with 1.
    """
    # The journal opens SQLite; `wieldy --help` must not wait for it.
    from wieldy.apps.cli.verifying import check_journal, check_run  # noqa: PLC0415

    if run is None:
        is_whole = check_journal(journal, head=head, json=json)
    else:
        is_whole = check_run(run, journal, head=head, json=json)
    raise typer.Exit(0 if is_whole else 1)
