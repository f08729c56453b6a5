"""Options that several commands share, so that they have one name and one meaning everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

JournalOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--journal", metavar="DB", help="The journal's file; without it the one that `wieldy doctor` names."),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", metavar="", help="Write JSON for machines.")]
