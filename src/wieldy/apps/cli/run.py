"""`wieldy run`: answer a prompt, with tools, and show every step."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from wieldy.apps.cli.failures import telling_in_json
from wieldy.apps.cli.options import (
    CredentialOption,
    JournalOption,
    JsonOption,
    McpOption,
    OnlyOption,
    OpenApiOption,
    PauseOption,
    ServerOption,
    YesOption,
)


class Actions(StrEnum):
    """How the model acts; only modes that exist are offered."""

    calls = "calls"
    react = "react"
    json = "json"
    code = "code"


class Strategy(StrEnum):
    """How the model is led to its calls."""

    guided = "guided"
    native = "native"


Prompt: TypeAlias = Annotated[str, typer.Argument(metavar="PROMPT", help="What the model is asked.")]
ModelOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="M",
        help="local, local:PATH.gguf, openai:NAME, anthropic:NAME or http://HOST:PORT/v1#NAME.",
    ),
]
ToolsOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--tools", "-t", metavar="FILE.py", help="A Python file with tools; may be given several times."),
]
ActionsOption: TypeAlias = Annotated[Actions, typer.Option("--actions", help="How the model acts.")]
SkillsOption: TypeAlias = Annotated[
    Path | None, typer.Option("--skills", metavar="FOLDER", help="Offer the skills of this folder as well.")
]
StrategyOption: TypeAlias = Annotated[
    Strategy | None,
    typer.Option("--strategy", help="How the model is led; without it guided where the model can be, else native."),
]
TurnsOption: TypeAlias = Annotated[
    int | None, typer.Option("--turns", metavar="N", min=1, help="Replies that may call tools; 20 if left out.")
]
CostOption: TypeAlias = Annotated[
    float | None, typer.Option("--cost", metavar="USD", min=0, help="What the model's tokens may cost, in US dollars.")
]
TimeOption: TypeAlias = Annotated[
    float | None, typer.Option("--time", metavar="SECONDS", min=0, help="How long the run may be at work.")
]
OutputOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--output", metavar="SCHEMA.json", help="A JSON Schema; the answer is JSON that fits it."),
]
InstructionsOption: TypeAlias = Annotated[
    str | None, typer.Option("--instructions", metavar="TEXT", help="What the model is told before the prompt.")
]


def run(  # noqa: PLR0913 - one parameter for each option of the command
    prompt: Prompt,
    *,
    model: ModelOption = "local",
    tools: ToolsOption = None,
    mcp: McpOption = None,
    openapi: OpenApiOption = None,
    credential: CredentialOption = None,
    only: OnlyOption = None,
    server: ServerOption = None,
    journal: JournalOption = None,
    actions: ActionsOption = Actions.calls,
    skills: SkillsOption = None,
    strategy: StrategyOption = None,
    turns: TurnsOption = None,
    cost: CostOption = None,
    time: TimeOption = None,
    output: OutputOption = None,
    yes: YesOption = False,
    pause: PauseOption = False,
    json: JsonOption = False,
    instructions: InstructionsOption = None,
) -> None:
    """Answer a prompt with a model that may call tools.

    Every step is shown and recorded in the journal; before a call that changes something you are asked.
    """
    # The agent and its rooms are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.described import described  # noqa: PLC0415
    from wieldy.apps.cli.outputs import read_schema  # noqa: PLC0415
    from wieldy.apps.cli.recipe import Recipe  # noqa: PLC0415
    from wieldy.apps.cli.session import Session  # noqa: PLC0415
    from wieldy.core.errors import UsageError  # noqa: PLC0415
    from wieldy.core.limits import Limits  # noqa: PLC0415

    with telling_in_json(if_=json):
        if not prompt.strip():
            raise UsageError("PROMPT is empty. Write what the model shall do.")
        wanted = None if output is None else read_schema(output)
        service = described(openapi, credential, only, server)
    limits = Limits(cost_usd=cost, wall_time_s=time)
    recipe = Recipe(
        model=model,
        tools_files=tuple(tools or ()),
        mcp=tuple(mcp or ()),
        openapi=service,
        actions=actions.value,
        skills=skills,
        strategy=strategy.value if strategy else None,
        limits=limits if turns is None else replace(limits, turns=turns),
        asks=not yes,
        pauses=pause,
    )
    session = Session(
        recipe=recipe, journal=journal, asks_now=not pause, json=json, instructions=instructions, output=wanted
    )
    raise typer.Exit(session.watch(lambda agent: agent.stream(prompt)))
