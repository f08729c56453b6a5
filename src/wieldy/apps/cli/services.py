"""Tools of services that the command line names, and what a person is told of them.

Deliberately not here: tools from files (`tools_file`), and how a question of a server is asked (`filling_in`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wieldy.apps.cli.failures import note
from wieldy.apps.cli.filling_in import FillingIn

if TYPE_CHECKING:
    from wieldy.apps.cli.described import Described
    from wieldy.tools import Toolset


def load_services(
    *,
    mcp: Sequence[str],
    openapi: Described | None = None,
    asks: bool = True,
    before_note: Callable[[], None] = lambda: None,
) -> list[Toolset]:
    """A set of tools for each service, none of which is reached yet.

    Args:
        mcp: Files, addresses and command lines of MCP servers.
        openapi: A service by its document.
        asks: Whether what servers ask a person is asked at the terminal; if not, the call rests where it can.
        before_note: Called before anything is printed, so that it starts on a line of its own.

    Raises:
        UsageError: One cannot be meant, or its library is not installed.
    """
    found: list[Toolset] = [] if openapi is None else [openapi.toolset()]
    if not mcp:
        return found
    # Imported here because only a run with such servers needs it.
    from wieldy.connect import mcp as servers_of  # noqa: PLC0415

    def tell(notice: object) -> None:
        before_note()
        note(str(notice))

    answerer = FillingIn(before_note) if asks else None
    return found + [servers_of(config, answerer=answerer, on_notice=tell) for config in mcp]
