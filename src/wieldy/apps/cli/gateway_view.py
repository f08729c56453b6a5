"""What a person sees of a gateway: where it listens, what it does not offer, how definitions differ from accepted ones.

Deliberately not here: the gateway itself (`wieldy.gateway`).
"""

from __future__ import annotations

import difflib
import json as json_module
import os
import socket
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

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

_SECRET: Final = (
    "In what is said of them a credential of this gateway stands, so nobody is shown it and nobody can accept it."
)


def serve(file: Path, *, port: int | None, journal: str | None, json: bool) -> None:
    """Serve until the process is asked to end.

    Raises:
        UsageError: The configuration cannot be used, or the port is taken.
        JournalError: The journal cannot be used.
    """
    config = read_config(file, environment=os.environ)
    if journal:
        config = replace(config, journal=journal)
    recorded = journal_of(config.journal or _made(default_journal()))
    gateway = _gateway(config, recorded)
    app, end_streams = gateway_application(gateway)
    with server.listening(config.host, config.port if port is None else port) as place:
        tell = partial(_tell_start, gateway, place, json=json)
        server.serve_until_asked_to_end(app, place, on_start=tell, on_stop=end_streams)


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
    meant = [any(fnmatchcase(each.name, pattern) for pattern in accept) for each in listed]
    if any(meant):
        pins.accept(
            each.definition for each, is_meant in zip(listed, meant, strict=True) if is_meant and not each.is_secret
        )
    now = [_as_it_is_now(gateway, each) for each in listed]
    if json:
        _print_json(gateway, now, removed)
    else:
        _print(gateway, now, removed, before=listed)
    _say_what_was_not_accepted([each for each, is_meant in zip(now, meant, strict=True) if is_meant])
    is_left = any(not each.is_callable for each in now)
    return FAILED if is_left or any(source.failures for source in gateway.sources) else 0


def _as_it_is_now(gateway: Gateway, listed: Listed) -> Listed:
    """With its state after something was accepted: of two definitions of one tool, one is."""
    source = next(each for each in gateway.sources if each.name == listed.definition.source)
    return listed if listed.is_secret else replace(listed, state=gateway.catalogue.state_of(source, listed.definition))


def _say_what_was_not_accepted(meant: list[Listed]) -> None:
    if secret := sorted({each.name for each in meant if each.is_secret}):
        note(f"Not accepted: {', '.join(secret)}. {_SECRET}")
    if twice := sorted({each.name for each in meant if not each.is_callable and not each.is_secret}):
        note(
            f"Not accepted for everybody: {', '.join(twice)}. Their server describes them differently to different "
            "principals, and one definition is accepted for each."
        )


def _gateway(config: GatewayConfig, journal: Journal) -> Gateway:
    def load(path: Path) -> Toolset:
        return load_tools([path])

    return Gateway(config, journal=journal, environment=os.environ, load_functions=load, tell=note)


async def _learn(gateway: Gateway) -> list[Listed]:
    async with gateway.opened():
        found: dict[tuple[str, str], Listed] = {}
        for name in gateway.config.callers:
            prompts = [each.listed for each in await gateway.shelf.prompts(name)]
            for each in (*gateway.catalogue.listed(name), *prompts):
                found.setdefault((each.name, each.definition.digest), each)
        return list(found.values())


def _tell_start(gateway: Gateway, place: socket.socket, *, json: bool) -> None:
    host, port = place.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    listed = [each for name in gateway.config.callers for each in gateway.catalogue.listed(name)]
    secret = sorted({each.name for each in listed if each.is_secret})
    blocked = sorted({each.name for each in listed if not each.is_callable})
    offered = len({each.name for each in listed if each.is_callable})
    if json:
        print_json({"mcp": f"{url}/mcp", "openapi": f"{url}/openapi.json", "tools": offered, "blocked": blocked})
    else:
        out().block(Text(f"MCP: {url}/mcp"))
        out().block(Text(f"HTTP: {url}/openapi.json"))
        out().block(Text(f"{counted(offered, 'tool')} for {counted(len(gateway.config.callers), 'principal')}"))
    if unaccepted := len(blocked) - len(secret):
        note(
            f"{counted(unaccepted, 'tool')} cannot be called, because nobody has accepted what is said of them: "
            f"wieldy gateway pins {gateway.config.file}"
        )
    if secret:
        note(f"{counted(len(secret), 'tool')} cannot be called: {', '.join(secret)}. {_SECRET}")
    flush_streams()


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _print(
    gateway: Gateway, listed: list[Listed], removed: dict[str, tuple[str, ...]], *, before: list[Listed]
) -> None:
    terminal, pins, counts = out(), gateway.catalogue.pins, dict[str, int]()
    for each, earlier in zip(listed, before, strict=True):
        state = "accepted now" if each.state != earlier.state and each.is_callable else each.state
        counts[state] = counts.get(state, 0) + 1
        if state == "accepted":
            continue
        terminal.block(Text(f"{each.name}: {state}", style="bold"))
        old = {} if each.state == "new" else pins.accepted(each.definition.source, each.definition.original) or {}
        if not each.is_callable:
            for line in _difference(old, each.definition.said):
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


def _print_json(gateway: Gateway, listed: list[Listed], removed: dict[str, tuple[str, ...]]) -> None:
    pins = gateway.catalogue.pins
    print_json(
        {
            "file": str(pins.file),
            "tools": [
                {
                    "name": each.name,
                    "source": each.definition.source,
                    "original_name": each.definition.original,
                    "state": each.state,
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
