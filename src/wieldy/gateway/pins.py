"""Which definitions of tools a person has accepted: a file with the definitions and their digests.

A definition is what a server says of a tool: name, title, description, both schemas and annotations, hidden characters
and all. Law: a tool is callable only with exactly the definition that was accepted for it. The file holds the digest of
each definition and of each source's set of them; one that does not agree with itself is refused. Deliberately not here:
asking the servers (`sources`), and showing differences (`apps`).
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, canonical_json, sha256

PinState: TypeAlias = Literal["accepted", "changed", "new", "secret", "unreadable"]

PINNED: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a source says of a tool.

    Attributes:
        source: Of this name.
        original: The tool, as the source calls it.
        said: The pinned part of what it says.
    """

    source: str
    original: str
    said: JsonObject

    @property
    def digest(self) -> str:
        """SHA-256 over the canonical JSON of what is said."""
        return sha256(canonical_json(self.said))


def pinned_part(entry: Mapping[str, Any]) -> JsonObject:
    """The part of a tool's description, in the words of MCP, that is pinned."""
    return {name: entry[name] for name in PINNED if entry.get(name) is not None}


class Pins:
    """The file. It may be written by another process: it is read again when it has changed.

    Args:
        file: It need not exist.
        tell: Hears when it cannot be read any more, and when it can again.
    """

    def __init__(self, file: Path, *, tell: Callable[[str], None] = lambda said: None) -> None:
        self.file = file
        self._tell = tell
        self._stamp: tuple[int, ...] | None = None
        self._accepted: dict[str, dict[str, JsonObject]] = {}
        self._trouble: str | None = None

    def refresh(self) -> object:
        """What was accepted is up to date; the same value as long as nothing has changed.

        Raises:
            UsageError: The file cannot be read, or does not agree with itself.
        """
        try:
            found = self.file.stat()
        except FileNotFoundError:
            self._stamp, self._accepted = None, {}
            return self._stamp
        except OSError as error:
            raise UsageError(f"{self.file}: the file cannot be read: {error.strerror}.") from error
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._stamp:
            self._accepted = _read(self.file)
            self._stamp = stamp
        return self._stamp

    def look(self) -> object:
        """As `refresh`; as long as the file cannot be read, nothing is accepted, and whoever listens is told why."""
        try:
            stamp, trouble = self.refresh(), None
        except UsageError as error:
            stamp = trouble = str(error)
            self._stamp, self._accepted = None, {}
        if trouble != self._trouble:
            self._trouble = trouble
            self._tell(f"{self.file}: it can be read again." if trouble is None else f"Nothing is accepted. {trouble}")
        return stamp

    def state_of(self, definition: Definition) -> PinState:
        """Whether the definition is callable, and if not, why."""
        if self._trouble is not None:
            return "unreadable"
        accepted = self.accepted(definition.source, definition.original)
        if accepted is None:
            return "new"
        return "accepted" if sha256(canonical_json(accepted)) == definition.digest else "changed"

    def accepted(self, source: str, original: str) -> JsonObject | None:
        """What was accepted for this tool."""
        return self._accepted.get(source, {}).get(original)

    def removed(self, source: str, originals: Iterable[str]) -> tuple[str, ...]:
        """The tools of a source that were accepted and are not among these."""
        known = set(originals)
        return tuple(name for name in self._accepted.get(source, {}) if name not in known)

    def accept(self, definitions: Iterable[Definition]) -> None:
        """These are callable from now on, in every process; the file is replaced as a whole, by one at a time.

        Raises:
            UsageError: The file cannot be written.
        """
        meant = list(definitions)
        with _alone(self.file):
            self._stamp = None  # another may have written within one tick of the clock
            self.refresh()
            accepted = {source: dict(tools) for source, tools in self._accepted.items()}
            for each in meant:
                accepted.setdefault(each.source, {})[each.original] = each.said
            self._write(accepted)

    def _write(self, accepted: Mapping[str, Mapping[str, JsonObject]]) -> None:
        sources: JsonObject = {}
        for source, tools in sorted(accepted.items()):
            digests = {name: sha256(canonical_json(said)) for name, said in sorted(tools.items())}
            sources[source] = {
                "set_sha256": sha256(canonical_json(digests)),
                "tools": {name: {"sha256": digests[name], "definition": tools[name]} for name in digests},
            }
        text = json.dumps({"version": _VERSION, "sources": sources}, indent=2, ensure_ascii=True) + "\n"
        beside = self.file.with_name(f"{self.file.name}.{os.getpid()}.tmp")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(self.file)
        except OSError as error:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise UsageError(f"{self.file}: the file cannot be written: {error.strerror}.") from error
        self._stamp = None
        self.refresh()


@contextlib.contextmanager
def _alone(file: Path) -> Generator[None]:
    """Nobody else is in here for the same file, in this process or another; the lock is that of a file beside it."""
    beside = file.with_name(f"{file.name}.lock")
    try:
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise UsageError(f"{file}: the file cannot be written: {error.strerror}.") from error
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - there only

        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        import fcntl  # noqa: PLC0415 - not there

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _read(file: Path) -> dict[str, dict[str, JsonObject]]:
    wrong = f"{file}: expected the file that `wieldy gateway pins` writes, found"
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{file}: the file cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"{wrong} something else: {error}.") from error
    try:
        if content["version"] != _VERSION:
            raise UsageError(f"{wrong} one of another version.")
        accepted: dict[str, dict[str, JsonObject]] = {}
        for source, entry in content["sources"].items():
            digests = {name: str(tool["sha256"]) for name, tool in entry["tools"].items()}
            accepted[source] = {
                name: cast("JsonObject", dict(tool["definition"])) for name, tool in entry["tools"].items()
            }
            agrees = all(sha256(canonical_json(said)) == digests[name] for name, said in accepted[source].items())
            if not agrees or entry["set_sha256"] != sha256(canonical_json(digests)):
                raise UsageError(f"{wrong} digests of {source!r} that do not fit: it was changed by something else.")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{wrong} something else ({error!r:.80}).") from error
    return accepted
