"""Which calls of a turn must wait for which earlier ones.

Law: the outcome is as if the calls ran one by one in the model's order. Calls that cannot disturb one another are free
to run at once: readers of a key share it, a writer has it for itself. A call with an effect that does not say what it
writes excludes every other call; a reading call that does not say what it reads excludes none but those. A call waits
only for earlier ones, so there is no deadlock.

Keys are paths: `a` stands for all of `a/b`, and `mail:` for all of `mail:17`. What is plainly the same spelt twice is
one key (`a//b/`, `./a/b`, combined accents); what might be elsewhere (`a/../b`) stands for all that it could
mean. Beyond that keys are compared as text: `Mail` and `mail` are two things.
Deliberately not here: running anything, and how many calls may run at once (`executor`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from wieldy.core.calls import Effect

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.tools import Tool


class Access(Struct, frozen=True, kw_only=True):
    """What one call touches.

    Attributes:
        effect: Its tool's declared effect.
        reads: Keys that it reads, as paths.
        writes: Keys that it changes, as paths.
    """

    effect: Effect
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def is_exclusive(self) -> bool:
        """Whether it may change anything at all, because it does not say what."""
        return self.effect != "read" and not self.writes


def access_of(tool: Tool, arguments: JsonObject, *, fallback: Tool | None = None) -> Access:
    """What a call with these validated arguments touches, also if the tool's fallback has to answer it."""
    if tool.reads or tool.writes:
        own = Access(effect=tool.effect, reads=tool.reads_of(arguments), writes=tool.writes_of(arguments))
    else:
        own = Access(effect=tool.effect)
    if fallback is None or own.is_exclusive:
        return own
    other = access_of(fallback, arguments)
    if other.is_exclusive:
        return other
    return Access(
        effect=own.effect if own.effect != "read" else other.effect,
        reads=own.reads + other.reads,
        writes=own.writes + other.writes,
    )


def schedule(accesses: Sequence[Access]) -> tuple[tuple[int, ...], ...]:
    """For each call, in the model's order, the indices of the earlier calls that must have ended before it starts.

    What those calls waited for themselves is left out where that is plain: behind an exclusive call, and of one key
    behind its last writer.

    Cost: linear in the number of keys and of indices that are returned.
    """
    waits: list[tuple[int, ...]] = []
    barrier: tuple[int, ...] = ()  # the last exclusive call: it waited for everything before it
    touched: _Touched | None = None  # by the calls since then
    for index, access in enumerate(accesses):
        if access.is_exclusive:
            waits.append(tuple(range(barrier[0] + 1 if barrier else 0, index)) or barrier)
            barrier, touched = (index,), None
        elif not access.reads and not access.writes:
            waits.append(barrier)
        else:
            touched = touched or _Touched()
            waits.append(touched.by(index, access) or barrier)
    return tuple(waits)


class _Touched:
    """Who read and who wrote which key, as far as it matters to those who come."""

    __slots__ = ("_readers", "_writers")

    def __init__(self) -> None:
        self._readers, self._writers = _Node(), _Node()

    def by(self, index: int, access: Access) -> tuple[int, ...]:
        """Whom the call waits for; from now on it is one of those who touched its keys."""
        reads, writes = _paths(access.reads), _paths(access.writes)
        waits = set[int]()
        for path in (*reads, *writes):
            waits.update(self._writers.about(path))
        for path in writes:
            waits.update(self._readers.about(path))
        for path in reads:
            self._readers.at(path).calls.append(index)
        for path in writes:
            # Whoever meets what is below meets this call too, which has waited for all of it.
            self._readers.clear(path)
            self._writers.clear(path)
            self._writers.at(path).calls.append(index)
        waits.discard(index)
        return tuple(sorted(waits))


_Path: TypeAlias = tuple[str, ...]


class _Node:
    """A key's place in the tree of keys, with the calls that named exactly it."""

    __slots__ = ("calls", "children")

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.children: dict[str, _Node] = {}

    def about(self, path: _Path) -> Iterable[int]:
        """The calls that named this key, one above it or one below it."""
        node = self
        for part in path:
            yield from node.calls
            child = node.children.get(part)
            if child is None:
                return
            node = child
        waiting = [node]
        while waiting:
            node = waiting.pop()
            yield from node.calls
            waiting.extend(node.children.values())

    def at(self, path: _Path) -> _Node:
        """The key's place, made if there was none."""
        node = self
        for part in path:
            node = node.children.setdefault(part, _Node())
        return node

    def clear(self, path: _Path) -> None:
        """Nobody has named this key or one below it."""
        node = self
        for part in path[:-1]:
            child = node.children.get(part)
            if child is None:
                return
            node = child
        if path:
            node.children.pop(path[-1], None)
        else:
            node.calls, node.children = [], {}


def _paths(keys: Iterable[str]) -> list[_Path]:
    return [_path(key) for key in keys]


def _path(key: str) -> _Path:
    if not key.isascii():
        key = unicodedata.normalize("NFC", key)
    # `file:./a` is `file:a`: what stands before the first colon names a kind of thing, as in a URL.
    kind, colon, rest = key.partition(":")
    fixed = [kind + colon] if colon and "/" not in kind else []
    path: list[str] = []
    for part in (rest if fixed else key).split("/"):
        if part == "..":
            return (*fixed, *path[:-1])
        if part not in {"", "."}:
            path.append(part)
    return (*fixed, *path)
