"""`wieldy gateway`: one place in front of many services; `wieldy gateway pins`: what of them was accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wieldy.apps.cli.options import JournalOption, JsonOption

AcceptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="NAME",
        help="With `pins`: accept the definition of this tool as it is now; `time__*` and `*` as in names of files; "
        "may be given several times.",
    ),
]


def gateway(
    words: Annotated[list[str], typer.Argument(metavar="[pins] CONFIG", help="The configuration: JSON or YAML.")],
    *,
    accept: AcceptOption = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Listen on this port instead; 0 for any that is free.")
    ] = None,
    journal: JournalOption = None,
    json: JsonOption = False,
) -> None:
    """Serve the tools of many services behind one MCP endpoint and one HTTP endpoint.

    `wieldy gateway pins CONFIG` shows which definitions are new, changed or gone since they were accepted, and accepts
    those that --accept names. A tool is callable only with the definition that was accepted.
    """
    # The servers are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.gateway_view import serve, show_pins  # noqa: PLC0415
    from wieldy.core.errors import UsageError  # noqa: PLC0415

    if len(words) == 2 and words[0] == "pins":
        raise typer.Exit(show_pins(Path(words[1]), accept=tuple(accept or ()), json=json))
    if len(words) != 1:
        raise UsageError("Expected one configuration: wieldy gateway CONFIG, or wieldy gateway pins CONFIG.")
    if accept:
        raise UsageError("--accept belongs to `wieldy gateway pins CONFIG`.")
    serve(Path(words[0]), port=port, journal=journal, json=json)
