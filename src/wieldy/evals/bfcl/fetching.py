"""Where BFCL's data is: in a place that is named, in an installed `bfcl_eval`, in our cache, or from the package index.

A wheel is fetched by pip, as data: its size and checksum are pinned, and nothing of it is installed or imported. What
of it is run, and on which conditions, is said in `conversations.services`. Which index is asked is pip's own
configuration.
"""

from __future__ import annotations

import hashlib
import importlib.util
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from wieldy.core.errors import ModelNotAvailableError, RunError

VERSION: Final = "2026.3.23"
WHEEL_NAME: Final = f"bfcl_eval-{VERSION}-py3-none-any.whl"
WHEEL_BYTES: Final = 1_925_664
WHEEL_SHA256: Final = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"

_DOWNLOAD: Final = (
    *("-m", "pip", "download", f"bfcl_eval=={VERSION}", "--no-deps", "--only-binary=:all:", "--no-input"),
    *("--progress-bar=off", "--disable-pip-version-check"),
)


class DataNotAvailableError(RunError):
    """The data of a benchmark is not on this machine and could not be fetched."""


def find(*, cache_folder: Path | None = None) -> Path | None:
    """Where the data is on this machine: in an installed package, or in a wheel that was fetched; None if nowhere."""
    # For a package at the top level this looks where it is, and runs nothing of it.
    spec = importlib.util.find_spec("bfcl_eval")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (Path(place) / "data").is_dir():
            return Path(place) / "data"
    wheel = (cache_folder or default_cache_folder()) / WHEEL_NAME
    return wheel if wheel.is_file() and is_pinned(wheel) else None


def fetch(*, cache_folder: Path | None = None, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Where the data is, fetched if it was not there before.

    Args:
        cache_folder: Where a wheel is kept; the user's cache folder if left out.
        tell: Is told in words what takes time.

    Raises:
        DataNotAvailableError: It could not be fetched, or is not what is pinned.
    """
    found = find(cache_folder=cache_folder)
    if found is not None:
        return found
    folder = cache_folder or default_cache_folder()
    tell(f"BFCL's data (bfcl_eval {VERSION}, {WHEEL_BYTES / 1e6:.1f} MB) is fetched from the package index; once.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="fetching-") as temporary:
        wheel = _download(Path(temporary))
        if not is_pinned(wheel):
            raise DataNotAvailableError(
                f"The wheel of bfcl_eval {VERSION} that pip brought is not the pinned one: expected {WHEEL_BYTES} "
                f"bytes with sha256 {WHEEL_SHA256}, found {wheel.stat().st_size} bytes. It was deleted."
            )
        return wheel.replace(folder / WHEEL_NAME)


def is_pinned(wheel: Path) -> bool:
    """Whether the file is the one whose size and checksum are known."""
    if wheel.stat().st_size != WHEEL_BYTES:
        return False
    return hashlib.sha256(wheel.read_bytes()).hexdigest() == WHEEL_SHA256


def default_cache_folder() -> Path:
    """The user's cache folder for data of benchmarks."""
    from platformdirs import user_cache_path  # noqa: PLC0415 - only where nothing else is named

    return user_cache_path("wieldy", appauthor=False) / "benchmarks"


def _download(folder: Path) -> Path:
    from wieldy.connect.models.weights_process import run_python  # noqa: PLC0415 - only to fetch

    advice = f"Fetch {WHEEL_NAME} on another machine, and name it: --data {WHEEL_NAME}."
    try:
        finished = run_python((*_DOWNLOAD, "--dest", str(folder)), folder=folder, on_bytes=lambda _: None)
    except (ModelNotAvailableError, OSError) as error:
        raise DataNotAvailableError(f"BFCL's data could not be fetched: {error}. {advice}") from error
    wheel = folder / WHEEL_NAME
    if finished.exit_code != 0 or not wheel.is_file():
        lines = [line for line in finished.output.splitlines() if line.startswith("ERROR:")]
        why = (lines or finished.output.splitlines() or ["pip said nothing"])[-1]
        raise DataNotAvailableError(f"pip could not download bfcl_eval {VERSION}: {why[:300]}. {advice}")
    return wheel
