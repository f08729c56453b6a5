"""`wieldy resume`: go on with a run that was stopped, died or waits for a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wieldy.apps.cli.options import JournalOption, JsonOption, McpOption, PauseOption, RunArgument, YesOption


def resume(
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
    journal: JournalOption = None,
    yes: YesOption = False,
    pause: PauseOption = False,
    json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped, died or waits for a decision.

    What was done is not done again. Model, tools and limits are those that the run was started with.
    """
    # The agent and its rooms are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.resuming import Changes, go_on  # noqa: PLC0415

    changes = Changes(model=model, tools_files=tuple(tools or ()), mcp=tuple(mcp or ()), yes=yes, pause=pause)
    raise typer.Exit(go_on(run, changes, journal=journal, json=json))
