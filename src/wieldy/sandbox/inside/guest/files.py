"""Files of the scratch: those that the host sends, and those that the code has written."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from .channel import Channel

_PIECE_BYTES = 2 << 20
_OURS = ".matplotlib"
"""Where the environment tells a library to keep its own files."""

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
    """What regular files there are now, but for those that a library keeps where it was told to."""
    found: Seen = {}
    waiting = [scratch]
    while waiting:
        directories: list[str] = []
        for entry in _entries(waiting.pop()):
            if entry.path == f"{scratch}/{_OURS}":
                continue
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
            return sorted(entries, key=lambda each: each.name)
    except OSError:
        return []


def send_changed(channel: Channel, scratch: str, before: Seen) -> None:
    """The host has every file that was written since, or is told why it has not."""
    for name, state in seen(scratch).items():
        if before.get(name) == state:
            continue
        try:
            descriptor = os.open(f"{scratch}/{name}", os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as file:
                content = file.read()
        except OSError as error:  # the code may have closed it
            why = f"it cannot be read ({type(error).__name__})"
            channel.send({"op": "artifact", "name": _shown(name), "left_out": why, "last": True})
        else:
            send_file(channel, name, content)


def send_file(channel: Channel, name: str, content: bytes) -> None:
    """The host has the file, in pieces where it is large."""
    shown = _shown(name)
    for piece, is_last in _pieces(content):
        channel.send({"op": "artifact", "name": shown, "data": base64.b64encode(piece).decode(), "last": is_last})


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _pieces(content: bytes) -> Iterator[tuple[bytes, bool]]:
    for start in range(0, max(len(content), 1), _PIECE_BYTES):
        yield content[start : start + _PIECE_BYTES], start + _PIECE_BYTES >= len(content)
