"""What a person sees of a gateway: where it listens, what it does not offer, how definitions differ from accepted ones.

Deliberately not here: the gateway itself (`wieldy.gateway`).
"""

from __future__ import annotations

import difflib
import json as json_module
import os
import socket
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from wieldy.agent.parts import journal_of
from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.failures import FAILED, note
from wieldy.apps.cli.journals import default_journal
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.terminal import flush_streams, out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.apps.cli.untrusted import neutralise
from wieldy.connect.serving import listening as server
from wieldy.core.errors import UsageError
from wieldy.gateway.application import gateway_application
from wieldy.gateway.config import read_config
from wieldy.gateway.gateway import Gateway
from wieldy.run.journal import MemoryJournal
from wieldy.tools import Toolset

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal
    from wieldy.gateway.catalogue import Listed
    from wieldy.gateway.config import GatewayConfig


def serve(file: Path, *, port: int | None, journal: str | None, json: bool) -> None:
    """Serve until the process is asked to end.

    Raises:
        UsageError: The configuration cannot be used, or the port is taken.
        JournalError: The journal cannot be used.
    """
    config = read_config(file, environment=os.environ)
    recorded = journal_of(journal or config.journal or _made(default_journal()))
    gateway = _gateway(config, recorded)
    app, end_streams = gateway_application(gateway)
    with server.listening(config.host, config.port if port is None else port) as place:
        tell = partial(_tell_start, gateway, place, json=json)
        anyio.run(partial(server.serve, app, place, on_start=tell, on_stop=end_streams))


def show_pins(file: Path, *, accept: tuple[str, ...], json: bool) -> int:
    """Print how definitions differ from the accepted ones, accept those that are named, and return the exit code.

    Raises:
        UsageError: The configuration cannot be used, or a name fits no tool.
    """
    gateway = _gateway(read_config(file, environment=os.environ), MemoryJournal())
    listed = anyio.run(_learn, gateway)
    pins = gateway.catalogue.pins
    removed = {
        source.name: pins.removed(
            source.name, [e.definition.original for e in listed if e.definition.source == source.name]
        )
        for source in gateway.sources
        if not source.failures
    }
    unused = [pattern for pattern in accept if not any(fnmatchcase(each.name, pattern) for each in listed)]
    if unused:
        raise UsageError(f"Expected names of tools to accept, found {', '.join(map(repr, unused))}, which fit none.")
    meant = [each for each in listed if any(fnmatchcase(each.name, pattern) for pattern in accept)]
    if meant:
        pins.accept(each.definition for each in meant)
    (_print_json if json else _print)(gateway, listed, removed, accepted={each.name for each in meant})
    left = [each for each in listed if not each.is_callable and each not in meant]
    return FAILED if left or any(source.failures for source in gateway.sources) else 0


def _gateway(config: GatewayConfig, journal: Journal) -> Gateway:
    def load(path: Path) -> Toolset:
        return load_tools([path])

    return Gateway(config, journal=journal, environment=os.environ, load_functions=load, tell=note)


async def _learn(gateway: Gateway) -> list[Listed]:
    async with gateway.opened():
        found: dict[tuple[str, str], Listed] = {}
        for name in gateway.config.callers:
            for each in gateway.catalogue.listed(name):
                found.setdefault((each.name, each.definition.digest), each)
        return list(found.values())


def _tell_start(gateway: Gateway, place: socket.socket, *, json: bool) -> None:
    host, port = place.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    listed = [each for name in gateway.config.callers for each in gateway.catalogue.listed(name)]
    blocked = sorted({each.name for each in listed if not each.is_callable})
    offered = len({each.name for each in listed if each.is_callable})
    if json:
        print_json({"mcp": f"{url}/mcp", "openapi": f"{url}/openapi.json", "tools": offered, "blocked": blocked})
    else:
        out().block(Text(f"MCP: {url}/mcp"))
        out().block(Text(f"HTTP: {url}/openapi.json"))
        out().block(Text(f"{counted(offered, 'tool')} for {counted(len(gateway.config.callers), 'principal')}"))
    if blocked:
        note(
            f"{counted(len(blocked), 'tool')} cannot be called, because nobody has accepted what is said of them: "
            f"wieldy gateway pins {gateway.config.file}"
        )
    flush_streams()


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _print(
    gateway: Gateway, listed: Iterable[Listed], removed: dict[str, tuple[str, ...]], *, accepted: set[str]
) -> None:
    terminal, pins, counts = out(), gateway.catalogue.pins, dict[str, int]()
    for each in listed:
        state = "accepted now" if each.name in accepted else each.state
        counts[state] = counts.get(state, 0) + 1
        if each.state == "accepted":
            continue
        terminal.block(Text(f"{each.name}: {state}", style="bold"))
        before = {} if each.state == "new" else pins.accepted(each.definition.source, each.definition.original) or {}
        if each.name not in accepted:
            for line in _difference(before, each.definition.said):
                terminal.block(Text(neutralise(line)), first="  ", rest="    ")
    for source, names in removed.items():
        for name in names:
            terminal.block(Text(neutralise(f"{source}: {name} was accepted and is not there any more"), style="dim"))
    words = ", ".join(f"{number} {state}" for state, number in counts.items())
    terminal.block(Text(words or "There are no tools.", style="dim"))
    for source in gateway.sources:
        for failure in source.failures.values():
            note(f"{source.name}: {failure}")


def _difference(before: JsonObject, after: JsonObject) -> list[str]:
    """What was taken away and what was added, line by line; characters that cannot be seen are spelt out."""
    old, new = (
        json_module.dumps(said, indent=2, sort_keys=True).splitlines() if said else [] for said in (before, after)
    )
    lines = difflib.unified_diff(old, new, lineterm="", n=1)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _print_json(
    gateway: Gateway, listed: Iterable[Listed], removed: dict[str, tuple[str, ...]], *, accepted: set[str]
) -> None:
    pins = gateway.catalogue.pins
    print_json(
        {
            "file": str(pins.file),
            "tools": [
                {
                    "name": each.name,
                    "source": each.definition.source,
                    "original_name": each.definition.original,
                    "state": "accepted" if each.name in accepted else each.state,
                    "sha256": each.definition.digest,
                    "definition": each.definition.said,
                    "accepted": pins.accepted(each.definition.source, each.definition.original),
                }
                for each in listed
            ],
            "removed": [
                {"source": source, "original_name": name} for source, names in removed.items() for name in names
            ],
            "failures": {source.name: list(source.failures.values()) for source in gateway.sources if source.failures},
        }
    )
