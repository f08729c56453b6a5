"""The machine: Python, system, memory, disk."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

from wieldy.apps.cli.checks.records import Check, gigabytes

ENOUGH_MEMORY_BYTES = 2_500_000_000
"""The embedded model's weights, its working memory and the rest of a small system."""

_CONTROL_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def check_python() -> Check:
    """Which Python runs this."""
    found = platform.python_version()
    details = {"version": found, "executable": sys.executable}
    return Check(name="Python", state="good", found=f"{found} at {sys.executable}", details={**details})


def check_platform() -> Check:
    """Which system this is."""
    cores = os.cpu_count() or 1
    found = f"{platform.system()} {platform.release()} on {platform.machine()}, {cores} cores"
    return Check(name="Platform", state="good", found=found, details={"platform": platform.platform(), "cores": cores})


def check_memory() -> Check:
    """Whether the embedded model fits into memory."""
    total = _memory_bytes()
    if total is None:
        return Check(name="Memory", state="note", found="this system does not say", details={"total_bytes": None})
    enough = total >= ENOUGH_MEMORY_BYTES
    return Check(
        name="Memory",
        state="good" if enough else "note",
        found=gigabytes(total),
        details={"total_bytes": total},
        advice=None
        if enough
        else f"The embedded model wants about {gigabytes(ENOUGH_MEMORY_BYTES)}: close other programs, or use a server.",
    )


def check_disk(folder: Path, *, needed_bytes: int) -> Check:
    """Whether there is room for what has to be fetched."""
    place = nearest_existing(folder)
    free = shutil.disk_usage(place).free
    details = {"folder": str(folder), "free_bytes": free, "needed_bytes": needed_bytes}
    if free >= needed_bytes:
        return Check(name="Disk", state="good", found=f"{gigabytes(free)} free in {folder}", details={**details})
    return Check(
        name="Disk",
        state="lacking",
        found=f"{gigabytes(free)} free in {folder}, about {gigabytes(needed_bytes)} needed",
        details={**details},
        advice="Free some room there, or let the cache of your user be on another disk.",
    )


def nearest_existing(path: Path) -> Path:
    """The path itself, or the first folder above it that exists."""
    return next((place for place in (path, *path.parents) if is_there(place)), Path(path.anchor))


def is_there(path: Path) -> bool:
    """Whether the path exists, as far as this user may know."""
    return os.access(path, os.F_OK)  # `Path.exists` raises where a folder above may not be looked into


def why_not_writable(folder: Path) -> str | None:
    """Why no file can be made in the folder, which need not exist yet; None if one can."""
    place = nearest_existing(folder)
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return None
    return "whose folder cannot be written" if place == folder else f"whose folder cannot be made in {place}"


def _memory_bytes() -> int | None:
    sizes = [_limit_in(Path(file)) for file in _CONTROL_GROUP_LIMITS]
    if hasattr(os, "sysconf"):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    known = [size for size in sizes if size is not None]
    return min(known, default=None)


def _limit_in(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or `max`
        return None
