"""Where in a set of rules an error lies: each reader adds its own place in front of what the inner one says."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from wieldy.core.errors import UsageError


@contextmanager
def within(place: str) -> Generator[None]:
    """A `UsageError` that is raised inside begins with the place.

    Raises:
        UsageError: The inner one, with the place.
    """
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error
