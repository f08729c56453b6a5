"""The files that a workspace begins with: given, those of a folder, or those of a git bundle.

Deliberately not here: links and modes, which a workspace does not have.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from wieldy.core.errors import UsageError

MOST_BYTES: Final = 16 << 20
"""Of all files together."""

_GIT: Final = (
    "git",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
    "-c",
    "protocol.file.allow=always",
)


def files_in_folder(folder: Path) -> dict[str, bytes]:
    """The files in the folder and below it, by their paths; no links, and nothing in `.git`.

    Raises:
        UsageError: There is none, or they are too large.
    """
    files, total = dict[str, bytes](), 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if ".git" in name.parts or "__pycache__" in name.parts or path.is_symlink() or not path.is_file():
            continue
        total += path.stat().st_size
        if total > MOST_BYTES:
            raise UsageError(f"{folder}: expected files of {MOST_BYTES:,} bytes at most together, found more.")
        files[name.as_posix()] = path.read_bytes()
    if not files:
        raise UsageError(f"{folder}: expected a folder with the files of a workspace, found no file.")
    return files


def files_in_bundle(bundle: Path, ref: str = "HEAD") -> dict[str, bytes]:
    """The files of a commit in a git bundle, by their paths. Git reads it; nothing of the repository is run.

    Args:
        bundle: The file.
        ref: A commit as git names it: a branch or a tag of the bundle, or what can be reached from one.

    Raises:
        UsageError: Git is not here, or cannot read the bundle or the commit.
    """
    with tempfile.TemporaryDirectory() as temporary:
        repository, folder = Path(temporary) / "repository", Path(temporary) / "files"
        folder.mkdir()
        of_it = (f"--git-dir={repository}", f"--work-tree={folder}")
        wanted = "HEAD" if ref == "HEAD" else "+refs/*:refs/*"
        _git("init", "--quiet", "--bare", str(repository), about=bundle)
        _git(*of_it, "fetch", "--quiet", str(bundle.absolute()), wanted, about=bundle)
        _git(*of_it, "checkout", "--force", "FETCH_HEAD" if ref == "HEAD" else ref, "--", ".", about=bundle)
        return files_in_folder(folder)


def _git(*arguments: str, about: Path) -> None:
    try:
        done = subprocess.run((*_GIT, *arguments), capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{about}: git could not be run to read it: {error}.") from error
    if done.returncode != 0:
        raise UsageError(f"{about}: expected a git bundle with that commit: {done.stderr.strip()[:300]}")
