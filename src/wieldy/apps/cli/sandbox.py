"""`wieldy sandbox`: in which ways code can be isolated on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from wieldy.apps.cli.failures import JsonCommand
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.options import JsonOption
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.untrusted import neutralise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.core.json import JsonObject
    from wieldy.sandbox import Tier

ImageOption = Annotated[
    str | None,
    typer.Option("--image", metavar="NAME", help="The image of containers, which must be here; else python:3-slim."),
]

app = typer.Typer(help="Isolated Python: what works on this machine.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def options() -> None:
    """Isolated Python: what works on this machine."""


@app.command(cls=JsonCommand)
def probe(
    *,
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="PATH", help="The interpreter that would run code, if not this one."),
    ] = None,
    image: ImageOption = None,
    json: JsonOption = False,
) -> None:
    """Try every way of isolating code, and say what it isolates, what not, and why it does not work here.

    Ends with 0 if one works that is taken where none is named, else with 1.
    """
    from wieldy.sandbox import probe as try_all  # noqa: PLC0415 - `wieldy --help` must not wait for it

    tiers = try_all(python=python, image=image)
    works = isolates_by_default(tiers)
    if json:
        print_json({"ok": works, "tiers": [tier_to_json(tier) for tier in tiers]})
    else:
        for tier in tiers:
            _show(out(), tier)
    raise typer.Exit(0 if works else 1)


def isolates_by_default(tiers: Sequence[Tier]) -> bool:
    """Whether one works that is taken where none is named."""
    from wieldy.sandbox.tiers import BY_KERNEL  # noqa: PLC0415 - `wieldy --help` must not wait for it

    return any(tier.works and tier.name in BY_KERNEL for tier in tiers)


def tier_to_json(tier: Tier) -> JsonObject:
    """The tier as one JSON object."""
    return {
        "name": tier.name,
        "works": tier.works,
        "reason": tier.reason,
        "isolates": list(tier.isolates),
        "leaves": list(tier.leaves),
        "notes": list(tier.notes),
    }


def _show(terminal: Terminal, tier: Tier) -> None:
    head = f"{tier.name}: {'works' if tier.works else f'does not work here: {tier.reason}'}"
    terminal.block_of_words(Text(neutralise(head), style="green" if tier.works else "yellow"))
    for words, lines in (("isolates", tier.isolates), ("leaves", tier.leaves), ("notes", tier.notes)):
        _list(terminal, words, lines)


def _list(terminal: Terminal, words: str, lines: Sequence[str]) -> None:
    for line in lines:
        terminal.block_of_words(Text(neutralise(line)), first=f"  {words}: ", rest="    ")
