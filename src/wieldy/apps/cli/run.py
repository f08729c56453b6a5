"""`wieldy run`: answer a prompt, with tools, and show every step."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wieldy.apps.cli.options import JournalOption, JsonOption


class Actions(StrEnum):
    """How the model acts; only modes that exist are offered."""

    calls = "calls"


class Strategy(StrEnum):
    """How the model is led to its calls."""

    guided = "guided"
    native = "native"


def run(  # noqa: PLR0913 - one parameter for each option of the command
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What the model is asked.")],
    *,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="M",
            help="local, local:PATH.gguf, openai:NAME, anthropic:NAME or http://HOST:PORT/v1#NAME.",
        ),
    ] = "local",
    tools: Annotated[
        list[Path] | None,
        typer.Option("--tools", "-t", metavar="FILE.py", help="A Python file with tools; may be given several times."),
    ] = None,
    journal: JournalOption = None,
    actions: Annotated[Actions, typer.Option("--actions", help="How the model acts.")] = Actions.calls,
    strategy: Annotated[
        Strategy | None,
        typer.Option("--strategy", help="How the model is led; without it guided where the model can be, else native."),
    ] = None,
    turns: Annotated[
        int | None, typer.Option("--turns", metavar="N", min=1, help="Replies that may call tools; 20 if left out.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", metavar="", help="Do not ask before calls that change something.")
    ] = False,
    json: JsonOption = False,
    instructions: Annotated[
        str | None, typer.Option("--instructions", metavar="TEXT", help="What the model is told before the prompt.")
    ] = None,
) -> None:
    """Answer a prompt with a model that may call tools.

    Every step is shown and recorded in the journal; before a call that changes something you are asked.
    """
    # The agent and its rooms are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.session import Session, answer  # noqa: PLC0415

    code = answer(
        Session(
            prompt=prompt,
            model=model,
            tools_files=tuple(tools or ()),
            journal=journal,
            strategy=strategy.value if strategy else None,
            turns=turns,
            ask=not yes,
            json=json,
            instructions=instructions,
        )
    )
    raise typer.Exit(code)
