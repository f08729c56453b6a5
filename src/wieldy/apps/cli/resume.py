"""`wieldy resume`: go on with a run that was stopped, died or waits for a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wieldy.apps.cli.options import (
    CredentialOption,
    JournalOption,
    JsonOption,
    McpOption,
    OnlyOption,
    OpenApiOption,
    PauseOption,
    RunArgument,
    ServerOption,
    YesOption,
)


def resume(  # noqa: PLR0913 - one parameter for each option of the command
    run: RunArgument,
    *,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="M", help="Another model than the run was started with.")
    ] = None,
    tools: Annotated[
        list[Path] | None,
        typer.Option("--tools", "-t", metavar="FILE.py", help="Other files with tools, in place of all recorded ones."),
    ] = None,
    mcp: McpOption = None,
    openapi: OpenApiOption = None,
    credential: CredentialOption = None,
    only: OnlyOption = None,
    server: ServerOption = None,
    journal: JournalOption = None,
    yes: YesOption = False,
    pause: PauseOption = False,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped, died or waits for a decision.

    What was done is not done again. Model, tools and limits are those that the run was started with.
    """
    # The agent and its rooms are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.described import described  # noqa: PLC0415
    from wieldy.apps.cli.resuming import Changes, go_on  # noqa: PLC0415

    changes = Changes(
        model=model,
        tools_files=tuple(tools or ()),
        mcp=tuple(mcp or ()),
        openapi=described(openapi, credential, only, server),
        yes=yes,
        pause=pause,
    )
    raise typer.Exit(go_on(run, changes, journal=journal, json=json))
