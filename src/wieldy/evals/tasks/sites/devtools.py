"""A headless Chromium of one's own, driven over the DevTools protocol through a pipe: no port, no other package.

It has a folder of its own, which is gone with it, and ends when the program does, as the pipe is closed then. Every
answer is waited for until a deadline. Deliberately not here: what is done with it (`chromium`).
Source: https://chromedevtools.github.io/devtools-protocol/.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_ARGUMENTS: Final = (
    *("--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-extensions", "--hide-scrollbars", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-default-apps", "--no-pings"),
)


def find_chromium() -> str | None:
    """The program that is installed here; None if there is none, or it cannot be driven on this system."""
    if sys.platform == "win32":
        return None
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class DevToolsError(Exception):
    """The browser says that it could not do what it was told, or gives no answer."""


class BrowserGoneError(DevToolsError):
    """The browser has ended."""


class Chromium:
    """The browser's process, used by one thread at a time.

    Attributes:
        events: What it told without being asked, oldest first; whoever reads them may remove them.
    """

    def __init__(self, program: str, *, timeout_s: float, arguments: Sequence[str] = ()) -> None:
        self._timeout_s = timeout_s
        self._folder = Path(tempfile.mkdtemp(prefix="wieldy-browser-"))
        self._to, theirs_in = _pipe(writes=True)
        self._from, theirs_out = _pipe(writes=False)
        # Its own sandbox refuses to be started by the administrator.
        unheld = ("--no-sandbox",) if os.geteuid() == 0 else ()
        self._pid = os.posix_spawn(
            program,
            [program, *_ARGUMENTS, *unheld, f"--user-data-dir={self._folder}", *arguments, "about:blank"],
            {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self._folder)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(self._folder / "output.log"), os.O_WRONLY | os.O_CREAT, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
                (os.POSIX_SPAWN_DUP2, theirs_in, 3),
                (os.POSIX_SPAWN_DUP2, theirs_out, 4),
            ],
            setpgroup=0,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._is_killed = False
        self._number, self._rest = 0, b""
        self.events: list[dict[str, Any]] = []

    def kill(self) -> None:
        """The browser has ended: whoever waits for it is told so."""
        if not self._is_killed:
            self._is_killed = True
            with suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)

    def close(self) -> None:
        """The browser has ended, and its folder is gone; nobody uses it any more."""
        self.kill()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._folder, ignore_errors=True)

    def post(self, method: str, session: str | None = None, **parameters: Any) -> int:
        """The number under which the answer to a command will come.

        Raises:
            BrowserGoneError: The browser has ended.
        """
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._to, data) :]
        except BrokenPipeError:
            raise BrowserGoneError(self._last_words()) from None
        return self._number

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The browser's answer to a command; what it tells meanwhile is in `events`.

        Raises:
            DevToolsError: It could not do that, or gave no answer in time.
            BrowserGoneError: It has ended.
        """
        number = self.post(method, session, **parameters)
        while True:
            told = self.receive()
            if told.get("id") == number:
                return answer_in(told, method)
            if "method" in told:
                self.events.append(told)

    def receive(self, within_s: float | None = None) -> dict[str, Any]:
        """The next that it tells: an answer or an event.

        Raises:
            DevToolsError: It told nothing in time.
            BrowserGoneError: It has ended.
        """
        deadline = time.monotonic() + (self._timeout_s if within_s is None else within_s)
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise DevToolsError("the browser gave no answer in time")
            piece = os.read(self._from, 1 << 20)
            if not piece:
                raise BrowserGoneError(self._last_words())
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _last_words(self) -> str:
        with suppress(OSError):
            return f"the browser has ended: {(self._folder / 'output.log').read_text(errors='replace')[-2000:]}"
        return "the browser has ended"


def answer_in(told: dict[str, Any], method: str) -> dict[str, Any]:
    """The result of the command.

    Raises:
        DevToolsError: The browser says that it could not be done.
    """
    if "error" in told:
        raise DevToolsError(f"{method}: {told['error'].get('message', told['error'])}")
    return told["result"]


def _pipe(*, writes: bool) -> tuple[int, int]:
    """Our end and theirs, both above the numbers that the browser wants them at."""
    import fcntl  # noqa: PLC0415 - not on every system, and this module is imported on all

    reading, writing = os.pipe()
    ours, theirs = (writing, reading) if writes else (reading, writing)
    high = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, 64)
    os.close(theirs)
    return ours, high
