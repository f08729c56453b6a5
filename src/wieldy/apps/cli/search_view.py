"""What a search finds: a list for people, one JSON object for machines; and what may be named as a catalogue.

Deliberately not here: how it is found (`tools.catalogue`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from wieldy.apps.cli.described import Described
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.services import load_services
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.apps.cli.untrusted import one_line
from wieldy.connect.rest.loading import parse_document
from wieldy.core.errors import UsageError
from wieldy.tools import Toolset
from wieldy.tools.catalogue import Catalogue, first_line
from wieldy.tools.cost import token_cost

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.json import JsonObject, JsonValue


def show_found(queries: Sequence[str], catalogs: Sequence[str], *, limit: int, json: bool) -> bool:
    """Print the tools that fit; whether there is one.

    Raises:
        UsageError: A catalogue cannot be read, or the extra for searching is not installed.
        RunError: A server does not answer.
    """
    if json:
        with JsonLines() as lines:  # what servers' libraries print goes to standard error
            found, among = anyio.run(_found, queries, catalogs, limit)
            lines.write({"tools": [_to_json(tool) for tool in found], "among": among})
        return bool(found)
    found, among = anyio.run(_found, queries, catalogs, limit)
    terminal = out()
    width = max((len(tool.name) for tool in found), default=0) + 2
    for tool in found:
        head = Text(f"{tool.name:<{width}}", style="bold")
        terminal.block(Text(one_line(first_line(tool), limit=200)), first=head, rest="  ")
    if not found:
        note(f"Nothing fits among {among:,} tools. Say it in other words.")
    return bool(found)


async def _found(queries: Sequence[str], catalogs: Sequence[str], limit: int) -> tuple[Sequence[ToolDefinition], int]:
    async with Toolset([toolset for name in catalogs for toolset in _toolsets(name)]) as tools:
        catalogue = Catalogue(tools.definitions)
    return catalogue.search(*queries, limit=limit), len(catalogue)


def _toolsets(catalog: str) -> list[Toolset]:
    """The tools that are meant; those of services are not reached yet."""
    path = Path(catalog).expanduser()
    if catalog.startswith(("http://", "https://")):
        return [Described(document=catalog).toolset()]
    if path.suffix == ".py":
        return [load_tools([path])]
    kinds = _content(path).keys()
    if "mcpServers" in kinds:
        return load_services(mcp=[catalog], asks=False)
    if kinds & {"openapi", "swagger"}:
        return [Described(document=catalog).toolset()]
    raise UsageError(
        f"{catalog}: expected a Python file with tools, an OpenAPI document (`openapi` or `swagger` at its top) or "
        "an MCP configuration (with `mcpServers`)."
    )


def _content(path: Path) -> Mapping[str, JsonValue]:
    try:
        content = parse_document(path.read_bytes(), name=str(path))
    except OSError as error:
        raise UsageError(f"{path}: the file cannot be read: {error.strerror}.") from None
    return content if isinstance(content, dict) else {}


def _to_json(tool: ToolDefinition) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "tokens": token_cost(tool)}
