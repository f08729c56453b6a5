"""The functions of the benchmark as tools to pad other tasks with."""

from __future__ import annotations

from pathlib import Path

from wieldy.core.calls import ToolDefinition
from wieldy.evals.bfcl.categories import CATEGORIES
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.offering import offered


def bfcl_pool(place: Path) -> tuple[ToolDefinition, ...]:
    """The functions of BFCL's Python tasks, each name once.

    Raises:
        UsageError: The data is not there, or is something else.
    """
    data = BfclData(place)
    categories = [each for each in CATEGORIES.values() if each.language == "python"]
    functions = (function for category in categories for task in data.tasks(category) for function in task.functions)
    return offered(functions).definitions
