"""How much of the variance of a two-way table comes from its rows, its columns, and neither.

Law: where rows and columns only add up, nothing is left, and the parts are the variances of the effects. Deliberately
not here: tables with gaps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Components(NamedTuple):
    """Variance components.

    Attributes:
        rows: The variance of a row's effect, such as that of a task.
        columns: The variance of a column's effect, such as that of a model.
        residual: What is left: how they act on one another, and chance.
    """

    rows: float
    columns: float
    residual: float

    @property
    def columns_share(self) -> float:
        """The part of the columns in all of the variance; 0 where there is none."""
        total = self.rows + self.columns + self.residual
        return self.columns / total if total > 0.0 else 0.0


def two_way_components(table: Sequence[Sequence[float]]) -> Components:
    """The components of a table with one value for each row and column, both taken for samples of more.

    An estimate that comes out negative is 0: there is no sign of such a variance.

    Raises:
        ValueError: There are fewer than two rows or columns, or the rows differ in length.

    Source: the estimators of the analysis of variance with random effects, as in S. R. Searle, G. Casella and C. E.
        McCulloch, Variance Components (1992).
    """
    height, width = len(table), min(map(len, table), default=0)
    if height < 2 or width < 2 or any(len(row) != width for row in table):
        raise ValueError(f"Expected at least two rows of at least two values each, found {height} of {width} or more.")
    of_rows = [math.fsum(row) / width for row in table]
    of_columns = [math.fsum(column) / height for column in zip(*table, strict=True)]
    mean = math.fsum(of_rows) / height
    between_rows = width * math.fsum((each - mean) ** 2 for each in of_rows) / (height - 1)
    between_columns = height * math.fsum((each - mean) ** 2 for each in of_columns) / (width - 1)
    left = math.fsum(
        (value - of_rows[at] - of_columns[column] + mean) ** 2
        for at, row in enumerate(table)
        for column, value in enumerate(row)
    )
    residual = left / ((height - 1) * (width - 1))
    return Components(
        rows=max(0.0, (between_rows - residual) / width),
        columns=max(0.0, (between_columns - residual) / height),
        residual=residual,
    )
