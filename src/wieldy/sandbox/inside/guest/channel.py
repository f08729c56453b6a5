"""Frames over a stream of bytes: four bytes with the length, the most significant first, then JSON in UTF-8."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

FRAME_BYTES = 4 << 20
"""Neither side takes longer frames."""

ITEM_BYTES = FRAME_BYTES - 100
"""Of one thing that goes into a frame beside others (`in_frames`)."""

_READ_BYTES = 1 << 16
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode
_decode = json.JSONDecoder().decode


class TooLargeError(ValueError):
    """What is to be sent is longer than the other side takes."""


def encoded(content: dict[str, Any], *, most_bytes: int = ITEM_BYTES) -> bytes:
    """The content as JSON.

    Raises:
        TooLargeError: It is longer than that.
    """
    text = _encode(content).encode()
    if len(text) > most_bytes:
        raise TooLargeError(f"{len(text):,} bytes are more than the {most_bytes:,} that can be sent at once")
    return text


def in_frames(operation: str, items: Iterable[bytes]) -> Iterator[bytes]:
    """Frames that bring the items in their order: `{"op": "calls", "calls": [...], "more": false}` if those are calls.

    Args:
        operation: What they are.
        items: Each as JSON of at most `ITEM_BYTES`; of the last frame `more` is false.
    """
    before, group, size = f'{{"op":"{operation}","{operation}":['.encode(), list[bytes](), 0
    for item in items:
        if size + len(item) + len(group) > ITEM_BYTES:
            yield _framed(b"".join((before, b",".join(group), b'],"more":true}')))
            group, size = [], 0
        group.append(item)
        size += len(item)
    yield _framed(b"".join((before, b",".join(group), b'],"more":false}')))


class Channel:
    """The guest's end. Reading ends the process when the host is gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = bytearray()

    def send(self, frame: dict[str, Any]) -> None:
        """The host has the frame.

        Raises:
            TooLargeError: It is longer than a frame may be; nothing was sent.
        """
        self._write(_framed(encoded(frame, most_bytes=FRAME_BYTES)))

    def send_all(self, operation: str, items: Iterable[bytes]) -> None:
        """The host has the items (`in_frames`)."""
        for frame in in_frames(operation, items):
            self._write(frame)

    def receive(self) -> dict[str, Any]:
        """Waits for the next frame."""
        while (frame := self._next()) is None:
            piece = os.read(self._descriptor, _READ_BYTES)
            if not piece:
                os._exit(0)
            self._buffer += piece
        return frame

    def _next(self) -> dict[str, Any] | None:
        """The next frame of which all bytes are here, or None."""
        if len(self._buffer) < 4:
            return None
        end = 4 + int.from_bytes(self._buffer[:4], "big")
        if len(self._buffer) < end:
            return None
        frame = _decode(self._buffer[4:end].decode())
        del self._buffer[:end]
        return frame

    def _write(self, frame: bytes) -> None:
        written = os.write(self._descriptor, frame)
        while written < len(frame):
            written += os.write(self._descriptor, memoryview(frame)[written:])


def _framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content
