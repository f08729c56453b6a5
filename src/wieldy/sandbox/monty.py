"""Starts Monty for a session, if it is installed: one process of ours for each worker (`inside.monty`)."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from wieldy.sandbox.environment import ENVIRONMENT
from wieldy.sandbox.inside.pieces import SETTINGS, piece
from wieldy.sandbox.options import Opened, Options
from wieldy.sandbox.piped import PipedWorker, open_piped
from wieldy.sandbox.tiers import StartError

_BOOT: Final = "import sys; sys.path += sys.argv[1:]; from inside.monty.start import main; main()"
_PASSED: Final = ("SYSTEMROOT", "WINDIR") if sys.platform == "win32" else ()
"""Without these no program starts on Windows."""


class MontyWorkers:
    """Each worker is a process that interprets code."""

    def __init__(self, command: list[str], settings: bytes) -> None:
        self._command = command
        self._settings = settings

    async def start(self) -> PipedWorker:
        """A worker that is about to be ready.

        Raises:
            SandboxError: Its process cannot be started.
        """
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        return await open_piped(self._command, self._settings, {**ENVIRONMENT, **passed})

    async def close(self) -> None:
        """Nothing: workers come from nowhere."""


async def open_monty(options: Options) -> Opened:
    """Monty is here, and can do what is asked for.

    Raises:
        StartError: It is not installed, or packages or files are asked for, which it does not have.
    """
    if options.packages or options.readable:
        raise StartError("it has no packages and no files: leave them out, or take another tier")
    found = [spec.origin for spec in (find_spec("pydantic_monty"), find_spec("typing_extensions")) if spec is not None]
    if find_spec("pydantic_monty") is None:
        raise StartError("it is not installed: pip install 'wieldy[monty]'")
    directories = dict.fromkeys(str(_root_of(Path(origin))) for origin in found if origin)
    settings = {
        "memory_bytes": options.limits.memory_bytes,
        "cpu_s": options.limits.cpu_s,
        "binary": _binary(),
    }
    command = [options.python or sys.executable, "-P", "-c", _BOOT, str(Path(__file__).parent), *directories]
    return Opened(
        workers=MontyWorkers(command, piece(SETTINGS, json.dumps(settings).encode())),
        notes=("for orchestrating calls: see what it lacks",),
        has_files=False,
    )


def _root_of(origin: Path) -> Path:
    """The directory from which a module is imported."""
    return origin.parent.parent if origin.name == "__init__.py" else origin.parent


def _binary() -> str | None:
    """The interpreter's program, where this Python's environment has it; else its client looks for it."""
    schemes = [sysconfig.get_default_scheme(), f"{os.name}_user"]
    for scheme in schemes:
        path = Path(sysconfig.get_path("scripts", scheme)) / ("monty.exe" if sys.platform == "win32" else "monty")
        if path.is_file():
            return str(path)
    return None
