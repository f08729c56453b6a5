"""`wieldy lint`: what in a set of tools would mislead a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wieldy.apps.cli.options import JsonOption


def lint(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE.py...", help="Python files with tools, seen as one set.")
    ],
    *,
    json: JsonOption = False,
) -> None:
    """Check tools: texts too alike, vague or missing, undeclared effects, token cost.

    Ends with 1 if there are errors or warnings, with 2 if a file cannot be loaded; notes never count.
    """
    # Loading tools imports pydantic, which `wieldy --help` must not wait for.
    from wieldy.apps.cli.lint_view import check_files  # noqa: PLC0415

    severities = check_files(files, json=json)
    raise typer.Exit(1 if severities & {"error", "warning"} else 0)
