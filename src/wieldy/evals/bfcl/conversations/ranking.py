"""BM25+, as the benchmark's memories search their keys with it: equal to that of `rank_bm25` 0.2.2 to the last bit.

That package needs numpy, which is fifty times the size of the base install, for one formula. Its operations are done
here in its order, so that the numbers a model sees are the same; `conformance/bfcl/agree_memory.py` compares them.
Deliberately not here: a search for anything else (`wieldy.index`).
Source: Trotman, Puurula and Burgess, Improvements to BM25 and Language Models Examined (2014).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

K1: Final = 1.5
B: Final = 0.75
DELTA: Final = 1


class BM25Plus:
    """Texts, as lists of words, that are ranked by a query.

    Raises:
        ZeroDivisionError: There are no texts; the original ends with that error, which its users see.
    """

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(document) for document in corpus]
        self._lengths = [len(document) for document in corpus]
        self._mean_length = sum(self._lengths) / len(self._lengths)
        documents = Counter(word for counts in self._counts for word in counts)
        self._weights = {word: math.log((len(self._lengths) + 1) / number) for word, number in documents.items()}

    def get_scores(self, query: Sequence[str]) -> list[float]:
        """A score for each text, in their order; a word that the query has twice counts twice.

        Cost: words of the query times texts.
        """
        scores = [0.0] * len(self._lengths)
        for word in query:
            weight = self._weights.get(word, 0)
            for at, (counts, length) in enumerate(zip(self._counts, self._lengths, strict=True)):
                number = counts[word]
                share = (number * (K1 + 1)) / (K1 * (1 - B + B * length / self._mean_length) + number)
                scores[at] += weight * (DELTA + share)
        return scores
