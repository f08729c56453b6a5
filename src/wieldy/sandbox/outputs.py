"""One output of a worker: its beginning is kept, all of it is counted."""

from __future__ import annotations

import os
from typing import Final

_PIECE_BYTES: Final = 1 << 16


class Printed:
    """What a worker printed.

    Attributes:
        total_bytes: In the present run.
    """

    def __init__(self) -> None:
        self.total_bytes = 0
        self._kept = bytearray()
        self._kept_limit = 0

    def begin(self, kept_bytes: int) -> None:
        """A new run: nothing is kept yet, and at most that much will be."""
        self.total_bytes = 0
        self._kept.clear()
        self._kept_limit = kept_bytes

    @property
    def kept(self) -> bytes:
        """The beginning of what came in the present run."""
        return bytes(self._kept)

    def remarks(self, name: str) -> tuple[str, ...]:
        """How much is not kept, in words, if not all of it is."""
        if self.total_bytes == len(self._kept):
            return ()
        return (f"Of {self.total_bytes:,} bytes on {name} the first {len(self._kept):,} are kept.",)

    def take(self, piece: bytes) -> None:
        """More was printed."""
        self.total_bytes += len(piece)
        room = self._kept_limit - len(self._kept)
        if room > 0:
            self._kept += piece[:room]


class Output(Printed):
    """The reading end of a pipe, read without waiting.

    Attributes:
        is_at_end: Whether nothing will come any more.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor
        self.is_at_end = False

    def read(self) -> bool:
        """Takes one piece of what is there; whether there was one."""
        try:
            piece = os.read(self.descriptor, _PIECE_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self.is_at_end = True
            return False
        self.take(piece)
        return True

    def close(self) -> None:
        """The descriptor is closed."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
