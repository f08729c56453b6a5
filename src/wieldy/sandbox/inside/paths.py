"""Which files of the machine a running interpreter still needs: its library, shared libraries, packages if asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .linux import landlock

TIME_ZONES = "/usr/share/zoneinfo"
DEVICES = ("/dev/null", "/dev/zero")
_SHARED_PREFIXES = ("/usr", "/usr/local")  # their `lib` holds more than the interpreter's own


def package_directories() -> tuple[str, ...]:
    """Where this interpreter's environment keeps installed packages; without `site`, which was not run."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    environment = Path(sys.executable).parent.parent
    if (environment / "pyvenv.cfg").is_file():
        return (str(environment / "lib" / version / "site-packages"),)
    prefix = Path(sys.base_prefix)
    candidates = (
        prefix / "lib" / version / "site-packages",
        Path("/usr/local/lib") / version / "dist-packages",
        Path("/usr/lib/python3/dist-packages"),
    )
    return tuple(str(path) for path in candidates if path.is_dir() and path.is_relative_to(prefix))


def library_paths() -> tuple[str, ...]:
    """Directories of the standard library, and those from which shared libraries are loaded."""
    paths = {path for path in sys.path if path and Path(path).exists()}
    paths |= _directories_of_loaded_libraries()
    if sys.base_prefix not in _SHARED_PREFIXES:
        paths.add(str(Path(sys.base_prefix) / "lib"))
    paths.add(TIME_ZONES)
    return tuple(sorted(path for path in paths if not _has_parent_in(path, paths)))


def hidden_directories() -> tuple[str, ...]:
    """Directories of installed packages that lie within the standard library's."""
    return tuple(str(Path(path) / name) for path in sys.path for name in ("site-packages", "dist-packages"))


def _directories_of_loaded_libraries() -> set[str]:
    with Path("/proc/self/maps").open(encoding="utf-8", errors="surrogateescape") as maps:
        mapped = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if line.count("/")}
    return {os.path.realpath(Path(path).parent) for path in mapped if ".so" in Path(path).name} | {
        str(Path(path).parent) for path in mapped if ".so" in Path(path).name
    }


def _has_parent_in(path: str, paths: set[str]) -> bool:
    return any(str(parent) in paths for parent in Path(path).parents)


def readable_except(paths: tuple[str, ...], hidden: tuple[str, ...]) -> list[tuple[str, int]]:
    """The paths with the right to read what lies beneath them, but of the hidden directories only the names in them.

    Landlock adds rights and takes none away, so a directory that has a hidden one is given entry by entry.
    """
    allowed: list[tuple[str, int]] = []
    for path in paths:
        within = [each for each in hidden if Path(each).parent == Path(path) and Path(each).exists()]
        if not within:
            allowed.append((path, landlock.READ if Path(path).is_dir() else landlock.READ_FILE))
            continue
        allowed.append((path, landlock.READ_DIRECTORY))
        entries = (str(entry) for entry in Path(path).iterdir() if str(entry) not in within)
        allowed += ((entry, landlock.READ if Path(entry).is_dir() else landlock.READ_FILE) for entry in entries)
    return allowed
