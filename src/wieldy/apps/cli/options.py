"""Arguments and options that several commands share, so that they have one name and one meaning everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

RunArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN", help="The run's id, the beginning of it, or `last`.")
]
JournalOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--journal",
        metavar="DB",
        help="The journal: a file, or postgresql://...; without it the file that `wieldy doctor` names.",
    ),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", metavar="", help="Write JSON for machines.")]
McpOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--mcp",
        metavar="CONFIG",
        help="MCP servers: a file with mcpServers, a URL, or a command line; may be given several times.",
    ),
]
OpenApiOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--openapi", metavar="SPEC", help="A service by its OpenAPI document: a file or a URL."),
]
CredentialOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--credential",
        metavar="NAME=VARIABLE",
        help="For a security scheme of the document, the environment variable that holds the secret.",
    ),
]
OnlyOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="PATTERN", help="Only operations with such names, as in 'list_*'; several times."),
]
ServerOption: TypeAlias = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="The service's address, instead of the document's.")
]
YesOption: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", metavar="", help="Do not ask before calls that change something.")
]
PauseOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--pause", metavar="", help="Ask nobody now: let the run rest until such a call is approved or denied."
    ),
]
ByOption: TypeAlias = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="Who decides; the name of your user if left out.")
]
BaselineOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--baseline", metavar="NAME", help="Compare with this configuration only; every pair is if left out."),
]
StoreOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="Results of many studies, over time; made if it is not there."),
]
