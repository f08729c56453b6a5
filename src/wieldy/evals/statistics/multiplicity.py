"""Several tests at once: p-values that keep the chance of any false alarm among them. Deliberately not here: tests."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values, each raised so far that calling those below a level significant is wrong no more often than that.

    Law: none is lowered, their order stays, and a single one stays as it is.

    Raises:
        ValueError: One of them is no probability.

    Source: S. Holm, A simple sequentially rejective multiple test procedure (1979).
    """
    if not all(0.0 <= value <= 1.0 for value in p_values):
        raise ValueError(f"Expected probabilities, found {list(p_values)}.")
    raised, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        raised[place] = largest
    return raised
