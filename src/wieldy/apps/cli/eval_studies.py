"""What `wieldy eval` makes of tasks before they are run: variants, sizes of toolsets, and who plays tau2's customers.

Deliberately not here: what these are (`wieldy.evals.tasks.variants`, `wieldy.evals.tasks.scaling`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.text import Text

from wieldy.agent.parts import resolved
from wieldy.apps.cli.terminal import err
from wieldy.core.errors import UsageError
from wieldy.evals.bfcl.fetching import default_cache_folder, fetch
from wieldy.evals.bfcl.pool import bfcl_pool
from wieldy.evals.cases.case import Suite
from wieldy.evals.tasks.scaling import scaled
from wieldy.evals.tasks.task import Task
from wieldy.evals.tasks.variants import with_variants
from wieldy.evals.tau2.package import DOMAINS, WHEEL_NAME
from wieldy.evals.tau2.suite import tau2_suite


def change_wanted(
    scale: Sequence[str], *, variants: bool, data: Path | None
) -> Callable[[Sequence[Task]], Sequence[Task]] | None:
    """Makes of a file's tasks those that are run; None for the tasks themselves.

    Raises:
        UsageError: A size is no whole number above 0, or both are wanted.
        DataNotAvailableError: The tools to pad with are not here and cannot be fetched.
    """
    if scale and variants:
        raise UsageError("Expected --variants or --scale, found both: what comes of it could be put down to neither.")
    if variants:
        return with_variants
    if not scale:
        return None
    if not all(size.isdecimal() and int(size) > 0 for size in scale):
        raise UsageError(f"Expected --scale with numbers of tools, such as 5,50,500, found {','.join(scale)!r}.")
    place = data or fetch(tell=lambda words: err().block(Text(words)))
    return partial(scaled, sizes=sorted({int(size) for size in scale}), pool=bfcl_pool(place))


def tau2_wanted(
    domains: Sequence[str], *, user: str | None, wheel: Path | None, limit: int | None, assertions: bool
) -> Suite:
    """tau2's tasks with who plays the customer; with their assertions in words if there is who judges them.

    Raises:
        UsageError: The wheel is not there, or there is no such domain or model.
    """
    place = wheel or default_cache_folder() / WHEEL_NAME
    named = DOMAINS[:3] if "all" in domains else tuple(domains)
    playing = None if user is None else resolved(user)
    return tau2_suite(place, named, user=playing, limit=limit, assertions=assertions)
