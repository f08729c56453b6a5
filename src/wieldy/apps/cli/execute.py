"""`wieldy exec`: run code in the sandbox, where it may call tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wieldy.apps.cli.options import (
    CredentialOption,
    JsonOption,
    McpOption,
    OnlyOption,
    OpenApiOption,
    ServerOption,
    YesOption,
)

TierOption = Annotated[
    str | None,
    typer.Option("--tier", metavar="T", help="How the code is isolated; the strongest way that works if left out."),
]
KeptOption = Annotated[
    str | None,
    typer.Option(
        "--journal", metavar="DB", help="Where to record the run: a file, or postgresql://...; without it nowhere."
    ),
]


def execute(  # noqa: PLR0913 - one parameter for each option of the command
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="The code, or - for standard input.")],
    *,
    tools: Annotated[
        list[Path] | None,
        typer.Option("--tools", "-t", metavar="FILE.py", help="A Python file with tools; may be given several times."),
    ] = None,
    mcp: McpOption = None,
    openapi: OpenApiOption = None,
    credential: CredentialOption = None,
    only: OnlyOption = None,
    server: ServerOption = None,
    tier: TierOption = None,
    packages: Annotated[
        list[str] | None,
        typer.Option("--package", metavar="NAME", help="Imported before, such as pandas; may be given several times."),
    ] = None,
    journal: KeptOption = None,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Run code in the sandbox: no network, no files of this machine, 10 seconds, 512 MB.

    The tools are functions there; before a call that changes something you are asked. Ends with 0 if the code came to
    its end, with 1 if it raised an error or was ended, or if code cannot be isolated here as asked.
    """
    # The runtime is imported here, because `wieldy --help` must not wait for it.
    from wieldy.apps.cli.described import described  # noqa: PLC0415
    from wieldy.apps.cli.executing import Order, carry_out  # noqa: PLC0415

    order = Order(
        file=file,
        tools_files=tuple(tools or ()),
        mcp=tuple(mcp or ()),
        openapi=described(openapi, credential, only, server),
        tier=tier,
        packages=tuple(packages or ()),
        journal=journal,
        asks=not yes,
    )
    raise typer.Exit(carry_out(order, json=json))
