"""Serving the page over the journal until the process is asked to end, and telling where it is.

Deliberately not here: the page (`wieldy.apps.view`).
"""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from threading import Lock, Thread
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from wieldy.apps.cli.deciders import user_name
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.journals import default_journal, open_for_appending, open_for_reading
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.next_commands import NextCommands, without_password
from wieldy.apps.cli.terminal import flush_streams, out
from wieldy.apps.view.access import Door
from wieldy.apps.view.application import Viewed, view_application
from wieldy.connect.serving import listening as server
from wieldy.core.errors import UsageError
from wieldy.core.extras import installing
from wieldy.evals.reports.page import Redaction

if TYPE_CHECKING:
    from wieldy.core.ports import Journal

_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for on the command line."""

    journal: str | None
    port: int
    opens_browser: bool
    allows_decisions: bool
    by: str | None
    redact: tuple[str, ...]


def serve(asked: Asked, *, json: bool) -> None:
    """Serve the page until the process is asked to end.

    Raises:
        UsageError: The options exclude one another, there is no such journal, the port is taken, or a package is
            missing.
        JournalError: The journal cannot be read.
    """
    app = view_application(_viewed(asked))
    with server.listening(_HOST, asked.port) as place:
        port = place.getsockname()[1]
        door = Door(app, name=f"wieldy-view-{port}")
        start = partial(_tell_start, door, f"http://{_HOST}:{port}/", asked=asked, json=json)
        with suppress(KeyboardInterrupt):  # to be asked to end is how it ends
            anyio.run(partial(server.serve, door, place, on_start=start, on_stop=lambda: None))


def _viewed(asked: Asked) -> Viewed:
    if missing := [name for name in ("starlette", "uvicorn") if find_spec(name) is None]:
        raise UsageError(f"`wieldy view` needs {' and '.join(missing)}. Install it: {installing('gateway')}")
    if asked.redact and asked.allows_decisions:
        raise UsageError(
            "--redact and --allow-decisions exclude one another: a decision counts for exactly what was shown, so "
            "nothing of it may be left out."
        )
    if asked.by is not None and not asked.allows_decisions:
        raise UsageError("--by says who decides, which needs --allow-decisions.")
    journal = _Opened(asked.journal)
    journal()
    return Viewed(
        journal=journal,
        commands=NextCommands(journal=asked.journal),
        redaction=Redaction(asked.redact),
        decide_in=partial(open_for_appending, asked.journal) if asked.allows_decisions else None,
        by=user_name() if asked.by is None else asked.by,
        name=str(default_journal()) if asked.journal is None else without_password(asked.journal),
    )


class _Opened:
    """The journal, opened for reading when it is there."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._lock = Lock()
        self._journal: Journal | None = None

    def __call__(self) -> Journal | None:
        with self._lock:
            if self._journal is None:
                self._journal = open_for_reading(self._name)
            return self._journal


def _tell_start(door: Door, url: str, *, asked: Asked, json: bool) -> None:
    address = f"{url}?{door.query}"
    if json:
        print_json({"url": address, "decides": asked.allows_decisions})
    else:
        out().print(Text(address), soft_wrap=True)  # whole, to be copied
        out().block(
            Text("Whoever has this address can see the runs, on this machine and as long as this runs; Ctrl-C ends it.")
        )
    flush_streams()
    if asked.opens_browser:  # in a thread, because some browsers keep whoever opens them waiting
        Thread(target=_open_browser, args=(f"{url}?{door.ticket()}",), daemon=True).start()


def _open_browser(address: str) -> None:
    if not webbrowser.open(address):
        note("No browser was found; open the address yourself.")
