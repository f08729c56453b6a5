"""`wieldy skills`: code that has succeeded, kept as tools for later runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from wieldy.apps.cli.failures import JsonCommand
from wieldy.apps.cli.options import JournalOption, JsonOption, RunArgument

app = typer.Typer(help="Code that has succeeded, kept as tools.", no_args_is_help=True, rich_markup_mode=None)

FolderOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--skills", metavar="FOLDER", help="Where the skills are; beside the default journal if left out."),
]
ToolsOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--tools", "-t", metavar="FILE.py", help="Say which skills are offered beside the tools of this file."
    ),
]
SkillArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="SKILL", help="The skill's name, or NAME@VERSION for another than the newest.")
]


@app.callback()
def options() -> None:
    """Code that has succeeded, kept as tools."""


@app.command("list", cls=JsonCommand)
def list_(*, skills: FolderOption = None, tools: ToolsOption = None, json: JsonOption = False) -> None:
    """List the skills; with --tools also whether each would be offered, and why not."""
    from wieldy.apps.cli.skills_view import list_skills  # noqa: PLC0415 - `wieldy --help` must not wait for it

    list_skills(skills, tuple(tools or ()), json=json)


@app.command(cls=JsonCommand)
def show(skill: SkillArgument, *, skills: FolderOption = None, json: JsonOption = False) -> None:
    """Show a skill: its code, the tools that it calls, its example and its check."""
    from wieldy.apps.cli.skills_view import show_skill  # noqa: PLC0415 - as above

    show_skill(skills, skill, json=json)


@app.command(cls=JsonCommand)
def save(  # noqa: PLR0913 - one parameter for each option of the command
    run: RunArgument,
    call: Annotated[
        str | None,
        typer.Argument(metavar="CALL", help="The call that ran the code, as `wieldy show` names it."),
    ] = None,
    *,
    check: Annotated[
        str,
        typer.Option("--check", metavar="PYTHON", help="What must hold of `result`, such as 'result[\"total\"] > 0'."),
    ],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Of the skill.")] = "",
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it does.")] = "",
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=VALUE",
            help="A parameter, and the value that it had: JSON, or text. May be given several times.",
        ),
    ] = None,
    function: Annotated[
        Path | None,
        typer.Option("--function", metavar="FILE.py", help="The function, if it is not made of the recorded code."),
    ] = None,
    skills: FolderOption = None,
    journal: JournalOption = None,
    json: JsonOption = False,
) -> None:
    """Save recorded code that succeeded as a skill, once its check holds.

    It is tried with what is recorded: no call is made. A parameter stands for a name of an earlier action, for a name
    that is given this literal, or for the literal wherever it stands.
    """
    from wieldy.apps.cli.skills_saving import Order, save_recorded  # noqa: PLC0415 - as above

    order = Order(
        run=run,
        call=call,
        check=check,
        name=name,
        description=description,
        parameters=tuple(parameters or ()),
        function=function,
        journal=journal,
    )
    save_recorded(skills, order, json=json)


@app.command(cls=JsonCommand)
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="SKILL...", help="Only these; without one the newest of each.")
    ] = None,
    *,
    skills: FolderOption = None,
    tools: ToolsOption = None,
    json: JsonOption = False,
) -> None:
    """Run each skill's example from its record, and its check; no call is made.

    Ends with 0 if all hold, and with --tools all are offered, else with 1.
    """
    from wieldy.apps.cli.skills_view import check_skills  # noqa: PLC0415 - as above

    raise typer.Exit(0 if check_skills(skills, tuple(names or ()), tuple(tools or ()), json=json) else 1)


@app.command(cls=JsonCommand)
def remove(
    skill: Annotated[str, typer.Argument(metavar="NAME@VERSION", help="The version; the name alone with --all.")],
    *,
    all_: Annotated[bool, typer.Option("--all", metavar="", help="Every version.")] = False,
    skills: FolderOption = None,
    json: JsonOption = False,
) -> None:
    """Remove one version of a skill, or all."""
    from wieldy.apps.cli.skills_view import remove_skill  # noqa: PLC0415 - as above

    remove_skill(skills, skill, every=all_, json=json)
