"""Scoring by shared words: BM25 over weighted fields, and which share of a query's weight an entry covers.

Numbers of a query are over the entries that may be found: what somebody must not see has no influence on what he sees.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from wieldy.index.words import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wieldy.index.entry import Entry

_SATURATION: Final = 1.2
_LENGTH: Final = 0.5
"""The two numbers of BM25: how soon repeating a word adds nothing, and how far long entries count less. The length is
that of name and text: an entry with many parts is not the less what it is."""
_NAME, _TEXT, _LABELS, _DETAILS = 2.0, 1.0, 1.0, 0.5
"""What a word counts for, by where it stands."""


class Lexical:
    """Rows of words; a row is never used for another entry."""

    def __init__(self) -> None:
        self._postings: dict[str, tuple[list[int], list[float]]] = {}
        self._arrays: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        self._lengths = np.zeros(16)
        self._count = 0

    def add(self, entry: Entry) -> None:
        """The next row."""
        weights = defaultdict[str, float](float)
        length = 0.0
        for text, weight, is_counted in (
            (entry.name, _NAME, True),
            (entry.text, _TEXT, True),
            (" ".join(entry.labels), _LABELS, False),
            (" ".join(entry.details), _DETAILS, False),
        ):
            found = terms(text)
            length += weight * len(found) * is_counted
            for term in found:
                weights[term] += weight
        for term, weight in weights.items():
            rows, counts = self._postings.setdefault(term, ([], []))
            rows.append(self._count)
            counts.append(weight)
            self._arrays.pop(term, None)
        if self._count == len(self._lengths):
            self._lengths = np.concatenate([self._lengths, np.zeros(self._count)])
        self._lengths[self._count] = length
        self._count += 1

    def scores(self, query: str, among: NDArray[np.bool_] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For each row, its BM25 and the share of the query's weight that it covers (0 to 1).

        Args:
            query: Any text.
            among: One truth a row: which may be found, at least one of them; None for all.
        """
        scores, covered = np.zeros(self._count), np.zeros(self._count)
        lengths = self._lengths[: self._count]
        found = lengths if among is None else lengths[among]
        total, usual = len(found), max(float(found.mean()), 1.0)
        whole = 0.0
        for term in dict.fromkeys(terms(query)):
            rows, weights = self._rows_of(term)
            holders = len(rows) if among is None else int(among[rows].sum())
            rarity = math.log(1 + (total - holders + 0.5) / (holders + 0.5))
            whole += rarity
            if holders:
                norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[rows] / usual)
                scores[rows] += rarity * weights * (_SATURATION + 1) / (weights + norm)
                covered[rows] += rarity
        return scores, covered / whole if whole else covered

    def _rows_of(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        arrays = self._arrays.get(term)
        if arrays is None:
            rows, weights = self._postings.get(term, ([], []))
            arrays = (np.array(rows, dtype=np.int64), np.array(weights))
            if rows:
                self._arrays[term] = arrays
        return arrays
