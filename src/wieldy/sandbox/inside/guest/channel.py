"""Frames over a stream of bytes: four bytes with the length, the most significant first, then JSON in UTF-8."""

from __future__ import annotations

import json
import os
from typing import Any

FRAME_BYTES = 4 << 20
"""The host takes no longer frames."""

_READ_BYTES = 1 << 16
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode
_decode = json.JSONDecoder().decode


class TooLargeError(ValueError):
    """What is to be sent is longer than the host takes."""


class Channel:
    """The guest's end. Reading ends the process when the host is gone."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._buffer = bytearray()

    def send(self, frame: dict[str, Any]) -> None:
        """The host has the frame.

        Raises:
            TooLargeError: It is longer than a frame may be; nothing was sent.
        """
        content = _encode(frame).encode()
        if len(content) > FRAME_BYTES:
            raise TooLargeError(f"{len(content):,} bytes are more than the {FRAME_BYTES:,} that can be sent at once")
        framed = len(content).to_bytes(4, "big") + content
        written = os.write(self.descriptor, framed)
        while written < len(framed):
            written += os.write(self.descriptor, memoryview(framed)[written:])

    def fill(self) -> None:
        """Waits for bytes and keeps them."""
        piece = os.read(self.descriptor, _READ_BYTES)
        if not piece:
            os._exit(0)
        self._buffer += piece

    def next(self) -> dict[str, Any] | None:
        """The next frame of which all bytes are here, or None."""
        if len(self._buffer) < 4:
            return None
        end = 4 + int.from_bytes(self._buffer[:4], "big")
        if len(self._buffer) < end:
            return None
        frame = _decode(self._buffer[4:end].decode())
        del self._buffer[:end]
        return frame

    def receive(self) -> dict[str, Any]:
        """Waits for the next frame."""
        while (frame := self.next()) is None:
            self.fill()
        return frame
