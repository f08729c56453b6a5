"""The jails of Linux: an interpreter that forks workers, isolated by what the kernel has; nothing here is portable."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final, Literal

from wieldy.core.errors import UsageError
from wieldy.sandbox.inside.linux.rights import NOBODY
from wieldy.sandbox.inside.settings import Settings
from wieldy.sandbox.options import Opened, Options
from wieldy.sandbox.starting import SandboxProcesses, start_interpreter
from wieldy.sandbox.tiers import StartError
from wieldy.sandbox.worker import JailedWorker, mapped_by

_ADVICE: Final = (
    "let users make namespaces (Debian: sysctl kernel.unprivileged_userns_clone=1; Ubuntu: "
    "kernel.apparmor_restrict_unprivileged_userns=0), or take the tier jail"
)


class JailedWorkers:
    """Workers that an interpreter forks, which has imported what they need."""

    def __init__(self, processes: SandboxProcesses) -> None:
        self._processes = processes

    async def start(self) -> JailedWorker:
        """A worker that is about to be ready.

        Raises:
            SandboxError: The interpreter has ended.
        """
        return JailedWorker(self._processes)

    async def close(self) -> None:
        """No process of the sandbox is left."""
        await self._processes.close()


async def open_jail(tier: Literal["jail-ns", "jail"], options: Options) -> Opened:
    """The interpreter is isolated and has imported the packages.

    Raises:
        StartError: The isolation cannot be had here.
        UsageError: What is imported leaves no memory for code.
    """
    has_namespaces = tier == "jail-ns"
    inputs = None if has_namespaces else _directory_for_inputs()
    try:
        processes = await _started(options, inputs)
    except BaseException as error:
        if inputs is not None:
            shutil.rmtree(inputs, ignore_errors=True)
        if isinstance(error, StartError) and any(word in str(error) for word in ("unshare", "users of the namespace")):
            raise StartError(f"{error}: {_ADVICE}") from None
        raise
    notes = (f"Landlock version {processes.facts['landlock']}", *_notes())
    return Opened(workers=JailedWorkers(processes), notes=notes, inputs=inputs)


async def _started(options: Options, inputs: Path | None) -> SandboxProcesses:
    limits = options.limits
    settings = Settings(
        has_namespaces=inputs is None,
        packages=options.packages,
        memory_bytes=limits.memory_bytes,
        lifetime_cpu_s=limits.lifetime_cpu_s,
        scratch_bytes=limits.files_bytes,
        scratch_files=limits.files,
        file_bytes=limits.file_bytes,
        readable=options.readable if inputs is None else (*options.readable, str(inputs)),
        directory=None if inputs is None else str(inputs),
    )
    processes = start_interpreter(options.python)
    try:
        await processes.begin(settings)
        _check_room(mapped_by(processes.zygote), limits.memory_bytes)
    except BaseException:
        await processes.close()
        raise
    return processes


def _notes() -> tuple[str, ...]:
    user = "started by root, code runs as the user nobody" if os.geteuid() == 0 else "code runs as the present user"
    if os.uname().machine == "x86_64":
        return (user,)
    return (user, f"the table of system calls for {os.uname().machine} was never tried on such a machine")


def _check_room(mapped_bytes: int, memory_bytes: int) -> None:
    if mapped_bytes > memory_bytes * 3 // 4:
        raise UsageError(
            f"the interpreter and its packages map {mapped_bytes:,} bytes, and the limit is {memory_bytes:,}: allow "
            "more (SandboxLimits.memory_bytes), or import less"
        )


def _directory_for_inputs() -> Path:
    """Where files for the code are put if it has no file system of its own: it may read there, and nobody else may.

    Raises:
        StartError: There is no such user here, as in a namespace that knows only one.
    """
    directory = Path(tempfile.mkdtemp(prefix="wieldy-sandbox-"))
    if os.geteuid() == 0:
        try:
            os.chown(directory, 0, NOBODY)
        except OSError as error:
            directory.rmdir()
            raise StartError(f"code cannot run as the user nobody ({NOBODY}) here: {error}") from None
        directory.chmod(0o750)
    return directory
