"""Files as a tar archive and back: what goes into a container and comes out of it, whoever has written it.

Law: whatever the bytes are, reading them raises nothing, and no path leads out of the folder that they are unpacked in.
Deliberately not here: unpacking on this machine, which nobody does.
"""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Mapping
from typing import Final

from wieldy.sandbox.texts import is_file_name

_BROKEN: Final = (tarfile.TarError, EOFError, OSError, ValueError, OverflowError, KeyError, RecursionError)
_LATEST: Final = 1 << 32
"""Of times, in seconds since the epoch."""

_MODE: Final = 0o755
"""Of every file that is written: without modes of their own, all can be run."""


def packed(files: Mapping[str, bytes]) -> bytes:
    """An archive of the files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, file in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(file), _MODE, int(time.time())
            archive.addfile(member, io.BytesIO(file))
    return content.getvalue()


def restorable(archive: bytes, *, most_files: int, most_bytes: int) -> bytes | None:
    """An archive of the same files, folders and links, written anew; a second name of a file is a file of its own.

    Returns:
        None where it cannot be read to its end, or holds more.
    """
    content = io.BytesIO()
    number = total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=content, mode="w") as new:
            for member in old:
                name = member.name.removeprefix("./")
                if not is_file_name(name) or not _is_kept(member):
                    continue
                file = old.extractfile(member) if member.isreg() or member.islnk() else None
                kept = _renewed(member, name, 0 if file is None else file.seek(0, io.SEEK_END))
                number, total = number + 1, total + kept.size
                if number > most_files or total > most_bytes:
                    return None
                if file is not None:
                    file.seek(0)
                new.addfile(kept, file)
    except _BROKEN:
        return None
    return content.getvalue()


def _is_kept(member: tarfile.TarInfo) -> bool:
    return member.isreg() or member.isdir() or member.issym() or member.islnk()


def _renewed(member: tarfile.TarInfo, name: str, size: int) -> tarfile.TarInfo:
    """The same without what only its header said."""
    kept = tarfile.TarInfo(name)
    kept.type = member.type if member.isdir() or member.issym() else tarfile.REGTYPE
    kept.linkname = member.linkname if member.issym() else ""
    kept.size, kept.mode = size, member.mode & 0o777
    kept.mtime = min(max(0, int(member.mtime)), _LATEST)
    return kept


def files_in(archive: bytes) -> dict[str, bytes]:
    """The files of an archive that is `restorable`, by their paths."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        contents = ((member.name, opened.extractfile(member)) for member in opened if member.isreg())
        return {name: content.read() for name, content in contents if content is not None}
