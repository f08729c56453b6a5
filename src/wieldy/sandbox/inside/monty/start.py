"""The first thing that runs in this process: begins a session, and says why where that fails."""

from __future__ import annotations

import importlib
import os
from typing import Any, NoReturn, cast

from ..pieces import FAILED
from .host import Host
from .interpreter import Interpreter

_SUSPENSIONS = 1_000_000_000  # calls, looks at the clock and the like: the host counts calls, and time limits the rest
_TOO_OLD = (1, 3)


def main() -> NoReturn:
    """Runs what the host sends until the host is gone."""
    host = Host()
    try:
        settings = host.settings()
        monty = _library()
        with monty.Monty(max_processes=1, binary_path=settings["binary"]) as pool:
            limits = {
                "max_memory": settings["memory_bytes"],
                "max_feed_duration_secs": settings["cpu_s"],
                "max_suspensions": _SUSPENSIONS,
            }
            policy = {"datetime": "call_host", "sleep": "call_host", "random_start": "call_host"}
            with pool.checkout(limits=limits, os_policy=policy, script_name="<code>") as session:
                host.watch(session.worker_pid)
                session.feed_run("ToolError = RuntimeError")
                host.send({"op": "ready"})
                _serve(Interpreter(monty, session, host), host)
    except Exception as error:  # whatever it is, the host is told and nothing runs
        host.tell(FAILED, f"{type(error).__name__}: {error}".encode())
    os._exit(70)


def _library() -> Any:
    library = cast("Any", importlib.import_module("pydantic_monty"))  # what is wrong with it is told to the host
    if tuple(int(part) for part in library.__version__.split(".")[:2]) <= _TOO_OLD:
        raise ImportError(f"pydantic-monty 1.4 or later is needed, and {library.__version__} is installed")
    return library


def _serve(interpreter: Interpreter, host: Host) -> NoReturn:
    while True:
        frame = host.receive()
        if frame["op"] == "run":
            host.send(interpreter.run(frame))
