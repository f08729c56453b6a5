"""The guest at work: takes a run from the host, runs its code, sends what came of it, and waits for the next.

Frames from the host: `file` (before a run), `run`, and `replies` to the calls that were made. Frames to the host:
`ready`, `calls`, `artifact`, and `done` or `error`, which end a run. Calls and replies may come in several frames
(`in_frames`). Variables stay from run to run.
"""

from __future__ import annotations

import base64
import builtins
import contextvars
import inspect
import io
import socket
import sys
import warnings
from types import ModuleType
from typing import Any, TextIO, cast

from .calls import Calls, ToolError
from .chance import seed_chance
from .channel import Channel, TooLargeError, encoded, in_frames
from .clock import Clock
from .code import RESULT, prepare
from .failures import CODE, failure_of, warning_to_text
from .figures import open_figures
from .files import go_without_links, put, seen, send_changed, send_file
from .loop import Loop, install
from .values import NotJsonError, described, plain

_PRELUDE = "<prelude>"
_WARMING = "async def f():\n    return call_sync('f')\nawait asyncio.gather(call('f'), call('f'))\nasyncio.run(f())"
_RUNS_TO_WARM_UP = 20  # then Python has made what it makes of code that runs often
_warm: list[Guest] = []


def serve(channel: Channel, *, scratch: str | None) -> None:
    """Runs what the host sends, until it is gone.

    Args:
        channel: To the host.
        scratch: The directory for files, or None where there is none.
    """
    guest = _warm[0] if _warm else Guest()
    sys.stdout, sys.stderr = _line_by_line(1), _line_by_line(2)
    known = cast("Any", sys)
    known.__stdout__, known.__stderr__ = sys.stdout, sys.stderr
    if scratch is None:
        go_without_links()
    guest.begin(channel, scratch=scratch)
    channel.send({"op": "ready"})
    while True:
        frame = channel.receive()
        if frame["op"] == "file" and scratch is not None:
            guest.put(frame)
        elif frame["op"] == "run":
            _send_end(channel, guest.run(frame))


def warm_up() -> None:
    """There is a guest that has run, and workers which are forked from this process go on as that one.

    So they share what Python makes when code is run first, and need not make it again.
    """
    cast("Any", builtins).exit = cast("Any", builtins).quit = sys.exit  # which `site` would have brought
    warnings.formatwarning = warning_to_text
    host, guest_end = socket.socketpair()
    guest = Guest()
    guest.begin(Channel(guest_end.fileno()), scratch=None)
    replies = [encoded({"value": [1.5, "text", {"a": None}]})] * 2
    for _ in range(_RUNS_TO_WARM_UP):
        host.sendall(b"".join([*in_frames("replies", replies), *in_frames("replies", replies[:1])]))
        guest.run({"code": _WARMING, "prelude": "import asyncio", "seed": 1, "clock": 1.0})
        guest.run({"code": "1 + 1"})
        host.recv(len(replies) << 10)
    host.close()
    guest_end.close()
    _warm[:] = [guest]


class Guest:
    """Code's namespace, and the runs in it."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._calls = Calls(self._clock)
        install(self._calls, self._clock)
        self._loop = Loop()

    def begin(self, channel: Channel, *, scratch: str | None) -> None:
        """The host is at the other end of the channel, and nothing of earlier runs is left."""
        self._channel = self._calls.channel = channel
        self._scratch = scratch
        self._context = contextvars.copy_context()
        self._runs = 0
        self._put_error: OSError | None = None
        sys.modules["__main__"] = ModuleType("__main__")  # where classes of the code are looked up by their names
        self._namespace: dict[str, Any] = sys.modules["__main__"].__dict__

    def put(self, frame: dict[str, Any]) -> None:
        """The scratch has the file of the frame; if it cannot be written, the next run says so."""
        assert self._scratch is not None
        try:
            put(self._scratch, frame["name"], base64.b64decode(frame["data"]), is_first=frame["first"])
        except OSError as error:
            self._put_error = error

    def run(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Runs the code of the frame and says how it ended; artifacts were sent before."""
        self._runs += 1
        self._namespace |= {"call": self._calls.call, "call_sync": self._calls.call_sync, "ToolError": ToolError}
        self._namespace.pop(RESULT, None)
        before = seen(self._scratch) if self._scratch else {}
        try:
            result = self._evaluate(frame)
            self._loop.finish()
            end = _done(self._namespace.get(result) if result else None)
        except BaseException as error:  # the code's own, whatever it is
            end = _failed(error)
        try:
            self._end_what_was_begun()
            self._send_artifacts(before)
        except BaseException as error:  # drawing a figure, or reading a file, is the code's too
            end = _failed(error) if end["op"] == "done" else end
        self._flush()
        return end

    def _evaluate(self, frame: dict[str, Any]) -> str | None:
        """The code has come to its end; gives the name that has its value."""
        put_error, self._put_error = self._put_error, None
        if put_error is not None:
            raise put_error
        seed_chance(frame.get("seed"))
        self._clock.stand_at(frame.get("clock"))
        main = self._loop.create_task(self._main(frame), context=self._context)
        try:
            return self._loop.run_until_complete(main)
        finally:
            if main.done() and not main.cancelled():
                main.exception()  # it has been looked at, or asyncio would say otherwise

    async def _main(self, frame: dict[str, Any]) -> str | None:
        if frame.get("prelude"):
            exec(prepare(frame["prelude"], _PRELUDE).compiled, self._namespace)  # what a sandbox is for
        try:
            prepared = prepare(frame["code"], f"{CODE} {self._runs}>")
        except (MemoryError, RecursionError) as error:  # beyond the compiler's means, which is no lack of memory
            raise SyntaxError(f"the code is nested too deeply or too long ({type(error).__name__})") from None
        try:
            running = eval(prepared.compiled, self._namespace)
            if inspect.iscoroutine(running):
                await running
        except SystemExit as leaving:
            if leaving.code not in (None, 0):
                raise
        return prepared.result

    def _end_what_was_begun(self) -> None:
        """Calls that were issued are made, awaited or not; tasks that can go on no more are cancelled."""
        while self._calls.exchange():
            pass
        self._loop.cancel_all()
        while self._calls.exchange():
            pass

    def _send_artifacts(self, before: dict[str, tuple[int, int, int]]) -> None:
        for name, image in open_figures():
            send_file(self._channel, name, image)
        if self._scratch:
            send_changed(self._channel, self._scratch, before)

    def _flush(self) -> None:
        for stream in {sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__}:
            try:
                cast("Any", stream).flush()
            except BaseException:  # the code may have put anything there
                continue


def _failed(error: BaseException) -> dict[str, Any]:
    return {"op": "error", **failure_of(error), "exhausted": isinstance(error, MemoryError)}


def _done(value: Any) -> dict[str, Any]:
    try:
        return {"op": "done", "value": plain(value)}
    except (NotJsonError, RecursionError):
        return {"op": "done", "repr": described(value)}


def _line_by_line(descriptor: int) -> TextIO:
    """Text that is written is sent with every line, so that it is there whatever ends the process."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True)


def _send_end(channel: Channel, end: dict[str, Any]) -> None:
    try:
        channel.send(end)
    except TooLargeError as error:
        channel.send({"op": "done", "repr": f"{described(end['value'])} ({error})"})
