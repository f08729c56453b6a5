"""Files of the scratch: those that the host sends, and those that the code has written."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from .channel import Channel

_PIECE_BYTES = 2 << 20

Seen = dict[str, tuple[int, int, int]]
"""Files by their names: which one it is, how large, when it was last written."""


_realpath = os.path.realpath


def go_without_links() -> None:
    """Paths are made absolute where the kernel does not tell where links lead, as it does not without a scratch."""

    def realpath(filename: Any, *, strict: bool = False) -> Any:
        try:
            return _realpath(filename, strict=strict)
        except PermissionError:
            if strict:
                raise
            return os.path.abspath(filename)  # noqa: PTH100 - `Path.resolve` asks for links

    os.path.realpath = cast("Any", realpath)


def put(scratch: str, name: str, content: bytes, *, is_first: bool) -> None:
    """The scratch has the file, in directories if the name has some; further pieces are added to it."""
    path = Path(scratch) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb" if is_first else "ab") as file:
        file.write(content)


def seen(scratch: str) -> Seen:
    """What regular files there are now; hidden ones, and those in hidden directories, are the business of libraries."""
    found: Seen = {}
    waiting = [scratch]
    while waiting:
        directories: list[str] = []
        for entry in _entries(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                state = entry.stat(follow_symlinks=False)
                found[entry.path[len(scratch) + 1 :]] = state.st_ino, state.st_size, state.st_mtime_ns
        waiting += reversed(directories)
    return found


def _entries(directory: str) -> list[os.DirEntry[str]]:
    """By their names; none of a directory that the code has closed."""
    try:
        with os.scandir(directory) as entries:
            return sorted((each for each in entries if not each.name.startswith(".")), key=lambda each: each.name)
    except OSError:
        return []


def send_changed(channel: Channel, scratch: str, before: Seen) -> None:
    """The host has every file that was written since."""
    for name, state in seen(scratch).items():
        if before.get(name) == state:
            continue
        descriptor = os.open(f"{scratch}/{name}", os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            send_file(channel, name, file.read())


def send_file(channel: Channel, name: str, content: bytes) -> None:
    """The host has the file, in pieces where it is large."""
    shown = name.encode("utf-8", "backslashreplace").decode()
    for piece, is_last in _pieces(content):
        channel.send({"op": "artifact", "name": shown, "data": base64.b64encode(piece).decode(), "last": is_last})


def _pieces(content: bytes) -> Iterator[tuple[bytes, bool]]:
    for start in range(0, max(len(content), 1), _PIECE_BYTES):
        yield content[start : start + _PIECE_BYTES], start + _PIECE_BYTES >= len(content)
