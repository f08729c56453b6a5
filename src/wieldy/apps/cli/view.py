"""`wieldy view`: the web page over the journal."""

from __future__ import annotations

from typing import Annotated

import typer

from wieldy.apps.cli.options import ByOption, JournalOption, JsonOption


def view(
    *,
    journal: JournalOption = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Listen on this port; 0 for any that is free.")
    ] = 0,
    open_browser: Annotated[bool, typer.Option("--open", metavar="", help="Open the page in a browser.")] = False,
    allow_decisions: Annotated[
        bool, typer.Option("--allow-decisions", metavar="", help="Let calls be approved and denied in the page.")
    ] = False,
    by: ByOption = None,
    redact: Annotated[
        list[str] | None,
        typer.Option("--redact", metavar="REGEX", help="What the page must not show; may be given several times."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the recorded runs in a browser: which there are, what each did and why, what waits, as it goes on.

    Only this machine can open the page, by the address that is printed. With --json one object with that address.
    """
    # The server is imported here, because `wieldy --help` must not wait for it.
    from wieldy.apps.cli.view_serving import Asked, serve  # noqa: PLC0415

    asked = Asked(
        journal=journal,
        port=port,
        opens_browser=open_browser,
        allows_decisions=allow_decisions,
        by=by,
        redact=tuple(redact or ()),
    )
    serve(asked, json=json)
