"""What the tests of agents share: whether a sandbox works here."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from wieldy import sandbox
from wieldy.core.errors import UsageError

# Programs and what runs them, importable by their names.
sys.path.insert(0, str(Path(__file__).parent))


def _why_not() -> str | None:
    async def try_it() -> None:
        async with sandbox.open():
            pass

    try:
        anyio.run(try_it)
    except UsageError as error:
        return str(error)
    return None


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skips, with the reason, where no code can be isolated."""
    reason = _why_not()
    if reason is not None:
        pytest.skip(reason)
