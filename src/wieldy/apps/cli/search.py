"""`wieldy search`: which tools fit what is wanted."""

from __future__ import annotations

from typing import Annotated

import typer

from wieldy.apps.cli.options import JsonOption


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="What is wanted, or a tool's name.")],
    *,
    catalog: Annotated[
        list[str],
        typer.Option(
            "--catalog",
            metavar="FILE",
            help="Tools to search: a Python file, an OpenAPI document or an MCP configuration; may be repeated.",
        ),
    ],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many tools at most.")] = 5,
    json: JsonOption = False,
) -> None:
    """Find tools by what is wanted of them, the best first.

    Each QUERY is one wish, so put it in quotes. Ends with 1 if nothing fits.
    """
    # What loads tools is imported here, because `wieldy --help` must not wait for it.
    from wieldy.apps.cli.search_view import show_found  # noqa: PLC0415

    raise typer.Exit(0 if show_found(query, catalog, limit=limit, json=json) else 1)
