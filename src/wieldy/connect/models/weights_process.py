"""A download in a process of its own, watched through the folder that it fills.

The clients of the hub and of the package index run as children: they can be stopped at any moment, whatever they are
waiting for, and a Ctrl-C in the terminal reaches them too; their settings stay theirs. What is fetched is unknown here.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wieldy.core.errors import ModelNotAvailableError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""A full disk, a full quota, a file larger than the process may write."""

_POLL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a child ended.

    Attributes:
        exit_code: None if it was ended because it made no progress.
        output: Its standard output and error together.
    """

    exit_code: int | None
    output: str


def run_python(
    arguments: Sequence[str], *, folder: Path, on_bytes: Callable[[int], None], patience_s: float | None = None
) -> Finished:
    """Run this Python with `arguments` until it ends; everything it writes, temporary files too, goes into `folder`.

    Args:
        arguments: What follows the interpreter on the command line.
        folder: An existing folder for the child alone.
        on_bytes: Called now and then with the size of what is in the folder; if it raises, the child is ended.
        patience_s: End the child when the folder's size has not changed for so long; None: the child has time-outs.

    Raises:
        ModelNotAvailableError: There is no Python to run.
        OSError: The child cannot be started, or the disk is full.
    """
    if not sys.executable:
        raise ModelNotAvailableError("this program does not know its own Python, which would run the download")
    log = folder / "output.txt"
    temporary = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    with log.open("wb") as output:
        # -P: the folder in which the user happens to be must not shadow a module of the child.
        process = subprocess.Popen(
            [sys.executable, "-P", *arguments],
            cwd=folder,
            env={**os.environ, **temporary},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        with process:
            try:
                exit_code = _watch(process, folder, on_bytes=on_bytes, patience_s=patience_s)
            finally:
                process.kill()
    text = log.read_text(encoding="utf-8", errors="replace")
    if exit_code != 0:
        _raise_if_no_room(text)
    return Finished(exit_code=exit_code, output=text)


def _raise_if_no_room(output: str) -> None:
    for code in NO_ROOM:
        if f"[Errno {code}]" in output:
            raise OSError(code, os.strerror(code))


def _watch(
    process: subprocess.Popen[bytes], folder: Path, *, on_bytes: Callable[[int], None], patience_s: float | None
) -> int | None:
    seen = -1
    changed_at = time.monotonic()
    while True:
        try:
            return process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            size = _size_of(folder)
        if size != seen:
            seen, changed_at = size, time.monotonic()
            on_bytes(size)
        elif patience_s is not None and time.monotonic() - changed_at > patience_s:
            return None


def _size_of(folder: Path) -> int:
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                size += (Path(place) / name).lstat().st_size
            except OSError:  # the child renamed or removed it just now
                continue
    return size
