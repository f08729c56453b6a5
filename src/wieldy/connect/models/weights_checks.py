"""Is a file the one that was pinned? Read whole and hashed once, remembered afterwards by size and time of change.

A mark beside the cache's file says which file was checked. It only saves time: without it the file is read again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

_BLOCK_BYTES = 1 << 20


def has_size(path: Path, size_bytes: int) -> bool:
    """Whether a readable regular file of just this size is there."""
    try:
        return path.is_file() and path.stat().st_size == size_bytes
    except OSError:
        return False


def blocks_of(stream: IO[bytes], size_bytes: int) -> Iterator[bytes]:
    """At most the next `size_bytes` of `stream`, in blocks."""
    while size_bytes > 0 and (block := stream.read(min(_BLOCK_BYTES, size_bytes))):
        size_bytes -= len(block)
        yield block


def sha256_of(path: Path, *, on_bytes: Callable[[int], None]) -> str:
    """The checksum of the file's content, in hexadecimal."""
    digest = hashlib.sha256()
    done_bytes = 0
    with path.open("rb") as file:
        for block in blocks_of(file, path.stat().st_size):
            digest.update(block)
            done_bytes += len(block)
            on_bytes(done_bytes)
    return digest.hexdigest()


def mark(marker: Path, *, path: Path, sha256: str) -> None:
    """`path` counts as checked until it changes; where the mark cannot be written nothing happens."""
    with suppress(OSError):  # a cache on a read-only disk is a good cache
        marker.write_text(json.dumps(_identity(path, sha256)), encoding="utf-8")


def is_marked(marker: Path, *, path: Path, sha256: str) -> bool:
    """Whether `path` was checked against `sha256` and has not changed since."""
    try:
        return json.loads(marker.read_text(encoding="utf-8")) == _identity(path, sha256)
    except (OSError, ValueError):
        return False


def make_durable(file: Path) -> None:
    """The content of `file` survives a crash of the machine."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def make_names_durable(folder: Path) -> None:
    """The names in `folder` survive a crash of the machine, where the system can promise that."""
    with suppress(OSError):  # Windows opens no folders, and needs not
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _identity(path: Path, sha256: str) -> dict[str, str | int]:
    status = path.stat()
    return {"path": str(path), "size_bytes": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256}
