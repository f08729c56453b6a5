"""How far raters agree beyond chance. Deliberately not here: who is right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """The agreement of two raters on the same items: 1 if they always agree, 0 if no more than chance would have it.

    It is 1 where both give all items one and the same label, for which chance explains everything.

    Raises:
        ValueError: The labels are not of the same items, or there are none.

    Source: J. Cohen, A coefficient of agreement for nominal scales (1960).
    """
    items = len(first)
    if items == 0 or items != len(second):
        raise ValueError(f"Expected labels of the same items from both raters, found {items} and {len(second)}.")
    agreed = sum(one == other for one, other in zip(first, second, strict=True)) / items
    ones, others = Counter(first), Counter(second)
    expected = math.fsum(ones[label] * others[label] for label in ones) / items**2
    return 1.0 if expected == 1.0 else (agreed - expected) / (1.0 - expected)


def krippendorff_alpha(ratings: Sequence[Sequence[Hashable | None]]) -> float:
    """The agreement of any number of raters on nominal labels: for each item its labels, None where a rater gave none.

    It is 1 where all labels that can be compared are one and the same, for which chance explains everything.

    Raises:
        ValueError: No item has two labels.

    Source: K. Krippendorff, Computing Krippendorff's alpha-reliability (2011), nominal metric.
    """
    items = [[label for label in labels if label is not None] for labels in ratings]
    items = [labels for labels in items if len(labels) > 1]
    if not items:
        raise ValueError("Expected at least one item with two labels or more, found none.")
    totals = Counter(label for labels in items for label in labels)
    values = sum(totals.values())
    differing = math.fsum(
        (len(labels) ** 2 - sum(count * count for count in Counter(labels).values())) / (len(labels) - 1)
        for labels in items
    )
    expected = (values * values - sum(count * count for count in totals.values())) / (values - 1)
    return 1.0 if expected == 0.0 else 1.0 - differing / expected


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """The agreement of several raters: for each item its labels, equally many for all.

    Raises:
        ValueError: An item has another number of labels than the first, or fewer than two.

    Source: J. L. Fleiss, Measuring nominal scale agreement among many raters (1971).
    """
    raters = len(ratings[0]) if ratings else 0
    if raters < 2 or any(len(labels) != raters for labels in ratings):
        raise ValueError("Expected the same number of labels, at least two, for each of one or more items.")
    totals, agreement = Counter[Hashable](), 0.0
    for labels in ratings:
        counts = Counter(labels)
        totals.update(counts)
        agreement += (sum(count * count for count in counts.values()) - raters) / (raters * (raters - 1))
    agreed = agreement / len(ratings)
    expected = math.fsum((count / (len(ratings) * raters)) ** 2 for count in totals.values())
    return 1.0 if expected == 1.0 else (agreed - expected) / (1.0 - expected)
