"""The program that started this process, behind standard input and output: frames in pieces."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterable
from typing import Any, NoReturn

from ..guest.channel import encoded, in_frames
from ..pieces import CHANNEL, ENDED, PIECE_BYTES, SETTINGS, USAGE, PieceReader, piece
from ..usage import usage_of

_READ_BYTES = 1 << 16
_INPUT, _OUTPUT = 0, 1


class Host:
    """Hears and is told; when it is gone, this process and the interpreter's end."""

    def __init__(self) -> None:
        self._pieces = PieceReader()
        self._frames = bytearray()
        self._arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._interpreter_pid = 0

    def settings(self) -> dict[str, Any]:
        """What the host sends first."""
        while (first := self._pieces.next()) is None:
            self._pieces.feed(os.read(_INPUT, _READ_BYTES) or os._exit(0))
        if first[0] != SETTINGS:
            raise ValueError("the host sent something else before the settings")
        return json.loads(first[1])

    def watch(self, interpreter_pid: int) -> None:
        """From now on this process ends with the host, and the interpreter's with it, whatever that is doing."""
        self._interpreter_pid = interpreter_pid
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while content := os.read(_INPUT, _READ_BYTES):
            self._arrived.put(content)
        self.end()

    def end(self, status: int | None = None) -> NoReturn:
        """This process and the interpreter's end; the host is told how, if it is not gone."""
        try:
            if status is not None:
                self.tell(ENDED, json.dumps({**self._usage(), "status": status}).encode())
            os.kill(self._interpreter_pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        except OSError:
            pass
        os._exit(0)

    def receive(self) -> dict[str, Any]:
        """The host's next frame."""
        while True:
            end = 4 + int.from_bytes(self._frames[:4], "big")
            if len(self._frames) >= max(end, 5):
                frame = json.loads(bytes(self._frames[4:end]))
                del self._frames[:end]
                return frame
            self._pieces.feed(self._arrived.get())
            while (taken := self._pieces.next()) is not None:
                self._frames += taken[1]

    def send(self, frame: dict[str, Any]) -> None:
        """The host has the frame, and knows what was used up to here.

        Raises:
            TooLargeError: It is longer than a frame may be; nothing was sent.
        """
        content = encoded(frame)
        self._send((len(content).to_bytes(4, "big") + content,))

    def send_calls(self, calls: Iterable[bytes]) -> None:
        """The host is asked for the calls."""
        self._send(in_frames("calls", calls))

    def _send(self, frames: Iterable[bytes]) -> None:
        self.tell(USAGE, json.dumps(self._usage()).encode())
        for frame in frames:
            self.tell(CHANNEL, frame)

    def _usage(self) -> dict[str, Any]:
        return {**usage_of(self._interpreter_pid), "threads": 1}  # the code's: the interpreter has more of its own

    def tell(self, stream: int, content: bytes) -> None:
        """The host has the bytes."""
        for start in range(0, len(content), PIECE_BYTES):
            framed: bytes | memoryview = piece(stream, content[start : start + PIECE_BYTES])
            while framed:
                framed = memoryview(framed)[os.write(_OUTPUT, framed) :]
