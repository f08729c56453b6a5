"""Entries, found by words and by meaning together.

A query's scores by words (`lexical`) and by meaning (`vectors`) are made comparable, each by its own mean and spread
over all entries that may be found, and added. An entry that the query names stands first whatever the scores are. Where
even the best entry shares little with the query, in words or in meaning, nothing fits, and nothing is returned.

Laws: an index that was changed answers as one that was made anew; entries that may not be found change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from wieldy.core.record import Record
from wieldy.index.lexical import Lexical
from wieldy.index.vectors import DIMENSIONS, Vectors, installed_vectors
from wieldy.index.words import split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wieldy.index.entry import Entry

_MEANING: Final = 0.55
"""What meaning counts for; the rest is words. Set on the functions of BFCL (`benchmarks/search.py`), where anything
from 0.4 to 0.7 is about as good."""
FITS: Final = 0.25
"""An entry fits if its cosine and the share of the query's words that it covers come to this together."""
_NAMES: Final = re.compile(r"[\w.\-/]+")
_QUOTED: Final = re.compile(r"""`([^`]+)`|"([^"]+)"|'([^']+)'""")
_MADE: Final = re.compile(r"[\W\d_]|(?<=[a-z])[A-Z]")
"""What no word of prose has, and so makes it a name."""
_LONGEST_QUERY: Final = 4_000


class Hit(Record, frozen=True, kw_only=True):
    """An entry that was found.

    Attributes:
        name: The entry's.
        score: Above 0 the better; comparable within one search.
        is_named: Whether the query has its name.
    """

    name: str
    score: float
    is_named: bool = False


class Index:
    """Entries that can be found.

    Args:
        entries: To begin with.
        vectors: Of words; None for those of the package that is installed.

    Raises:
        UsageError: There are no vectors here.
    """

    def __init__(self, entries: Iterable[Entry] = (), *, vectors: Vectors | None = None) -> None:
        self._vectors = installed_vectors() if vectors is None else vectors
        self._clear()
        self.add(*entries)

    def add(self, *entries: Entry) -> None:
        """These are in the index; one that has the name of another takes its place, behind all others."""
        fresh = {entry.name: entry for entry in entries}
        self.remove(*fresh)
        if not fresh:
            return
        start = len(self._entries)
        for entry in fresh.values():
            self._rows[entry.name] = len(self._entries)
            self._folded.setdefault(_folded(entry.name), {})[entry.name] = None
            self._entries.append(entry)
            self._lexical.add(entry)
        self._grow(len(self._entries))
        self._matrix[start : len(self._entries)] = self._vectors.of([_told(entry) for entry in fresh.values()])
        self._alive[start : len(self._entries)] = True

    def remove(self, *names: str) -> None:
        """These are not in the index; names that it does not have are passed over."""
        for name in names:
            row = self._rows.pop(name, None)
            if row is not None:
                self._alive[row] = False
                self._entries[row] = None
                alike = self._folded[_folded(name)]
                del alike[name]
                if not alike:
                    del self._folded[_folded(name)]
        if len(self._entries) > 2 * len(self._rows) + 16:
            kept = [entry for entry in self._entries if entry is not None]
            self._clear()
            self.add(*kept)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def search(self, *queries: str, limit: int = 5, allowed: Callable[[str], bool] | None = None) -> tuple[Hit, ...]:
        """The entries that fit best, the best first; none if nothing fits.

        Args:
            queries: Any texts. What fits one of several fits; each has its turn for a place in the result.
            limit: How many at most.
            allowed: Which names may be found; None for all.
        """
        among = self._among(allowed)
        if limit < 1 or (not among.any() if among is not None else not self._rows):
            return ()
        asked = [query[:_LONGEST_QUERY] for query in dict.fromkeys(queries) if query.strip()]
        lists = [self._ranked(query, among, limit) for query in asked]
        return _in_turns(lists, limit)

    def _among(self, allowed: Callable[[str], bool] | None) -> NDArray[np.bool_] | None:
        """Which rows may be found; None for all."""
        if allowed is None:
            return None if len(self._rows) == len(self._entries) else self._alive[: len(self._entries)]
        among = np.zeros(len(self._entries), dtype=bool)
        among[[row for name, row in self._rows.items() if allowed(name)]] = True
        return among

    def _ranked(self, query: str, among: NDArray[np.bool_] | None, limit: int) -> list[Hit]:
        cosines = self._matrix[: len(self._entries)] @ self._vectors.of([query])[0]
        words, covered = self._lexical.scores(query, among)
        scores = _MEANING * _standard(cosines, among) + (1 - _MEANING) * _standard(words, among)
        named = [row for row in self._named(query) if among is None or among[row]]
        fits = cosines + covered >= FITS if among is None else among & (cosines + covered >= FITS)
        best = _largest(scores, limit + len(named), fits)
        rows = [*named, *(row for row in best if row not in named)][:limit]
        entries = [(row, entry) for row in rows if (entry := self._entries[row]) is not None]
        return [
            Hit(name=entry.name, score=round(float(scores[row]), 6), is_named=row in named) for row, entry in entries
        ]

    def _named(self, query: str) -> list[int]:
        """The rows whose names the query has, in order: all of it, in quotes, or as a word that is clearly a name."""
        quoted = [match[match.lastindex or 0] for match in _QUOTED.finditer(query)]
        words = [match[0].strip(".-/") for match in _NAMES.finditer(query)]
        candidates = [query.strip(), *quoted, *(word for word in words if _MADE.search(word))]
        found: dict[str, None] = {}
        for candidate in candidates:
            if candidate in self._rows:
                found[candidate] = None
            found |= self._folded.get(_folded(candidate), {})
        return [self._rows[name] for name in found]

    def _grow(self, count: int) -> None:
        if count > len(self._matrix):
            more = max(count, 2 * len(self._matrix)) - len(self._matrix)
            self._matrix = np.concatenate([self._matrix, np.zeros((more, DIMENSIONS), dtype=np.float32)])
            self._alive = np.concatenate([self._alive, np.zeros(more, dtype=bool)])

    def _clear(self) -> None:
        self._entries: list[Entry | None] = []
        self._rows: dict[str, int] = {}
        self._folded: dict[str, dict[str, None]] = {}
        self._lexical = Lexical()
        self._matrix: NDArray[np.float32] = np.zeros((16, DIMENSIONS), dtype=np.float32)
        self._alive: NDArray[np.bool_] = np.zeros(16, dtype=bool)


def _told(entry: Entry) -> str:
    """The entry as a text whose meaning is its own; its parts are told only where nothing else is."""
    return f"{' '.join(split(entry.name))}. {entry.text or ' '.join(split(' '.join(entry.labels)))}"


def _folded(name: str) -> str:
    """The same for all ways of writing a name: `getUser`, `get_user`, "Get user"."""
    return " ".join(split(name)) or name


def _standard(scores: NDArray[np.floating], among: NDArray[np.bool_] | None) -> NDArray[np.floating]:
    """By how many standard deviations each is above the mean of those that may be found."""
    found = scores if among is None else scores[among]
    spread = found.std()
    return (scores - found.mean()) / spread if spread > 0 else np.zeros(len(scores))


def _largest(scores: NDArray[np.floating], count: int, among: NDArray[np.bool_]) -> list[int]:
    """The rows of the largest among those that fit, in order; of equal ones the first."""
    rows = np.flatnonzero(among)
    found = scores[rows]
    if count < len(found):
        rows = rows[found >= np.partition(found, -count)[-count]]
    return [int(row) for row in rows[np.argsort(-scores[rows], kind="stable")][:count]]


def _in_turns(lists: Sequence[Sequence[Hit]], limit: int) -> tuple[Hit, ...]:
    """The first of each list, then the second of each; named ones before all others."""
    found: dict[str, Hit] = {}
    for place in range(max(map(len, lists), default=0)):
        for hits in lists:
            if place < len(hits):
                found.setdefault(hits[place].name, hits[place])
    return tuple(sorted(found.values(), key=lambda hit: not hit.is_named)[:limit])
