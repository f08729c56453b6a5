"""Several streams of bytes over one, for a sandbox that has standard input and output and nothing else.

A piece is one byte that says of which stream it is, four with its length (the most significant first), and its bytes.
What the bytes mean is no matter of this module. It runs on both sides, on every system.
"""

from __future__ import annotations

CHANNEL = ord("c")
"""Both ways: bytes of the channel between the host and the guest."""

OUTPUT, ERRORS = ord("o"), ord("e")
"""To the host: what the code printed."""

USAGE = ord("u")
"""To the host: what the process that runs the code has used so far, as JSON: `cpu_s`, `threads`, `peak_bytes`."""

ENDED = ord("x")
"""To the host: that process has ended, as JSON: `status` as `subprocess` has it, `cpu_s`, `peak_bytes`.

The status is null where the process closed its channel and went on."""

FAILED = ord("f")
"""To the host: why no code can run here, as text."""

SETTINGS = ord("s")
"""To the sandbox, once and first: JSON."""

PIECE_BYTES = 1 << 20
"""No piece is longer."""

_HEAD_BYTES = 5


class TooLongError(ValueError):
    """A piece says of itself that it is longer than any may be."""


def piece(stream: int, content: bytes = b"") -> bytes:
    """The piece as bytes.

    Args:
        stream: One of the constants above.
        content: At most `PIECE_BYTES`.
    """
    return bytes((stream,)) + len(content).to_bytes(4, "big") + content


class PieceReader:
    """Takes bytes as they come and gives pieces."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, content: bytes | bytearray) -> None:
        """Takes more bytes."""
        self._buffer += content

    def next(self) -> tuple[int, bytes] | None:
        """The next piece, its stream first, or None while its end is not here.

        Raises:
            TooLongError: It is longer than a piece may be.
        """
        if len(self._buffer) < _HEAD_BYTES:
            return None
        size = int.from_bytes(self._buffer[1:_HEAD_BYTES], "big")
        if size > PIECE_BYTES:
            raise TooLongError(f"a piece of {size:,} bytes")
        end = _HEAD_BYTES + size
        if len(self._buffer) < end:
            return None
        stream, content = self._buffer[0], bytes(self._buffer[_HEAD_BYTES:end])
        del self._buffer[:end]
        return stream, content
