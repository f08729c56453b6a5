"""A sandbox of each tier, for tests that run code: skipped, with the reason, where a tier does not work."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import cache
from typing import Any

import anyio
import pytest

from wieldy import SandboxTierError, sandbox
from wieldy.sandbox import Session, TierName

Opener = Callable[..., AbstractAsyncContextManager[Session]]

# A tier without namespaces run by root needs an interpreter that everybody may read, which the tests' own may not be.
INTERPRETERS = (sys.executable, "/usr/bin/python3")


@cache
def interpreter_for(tier: TierName) -> str:
    """The first interpreter with which the tier works; the test is skipped where there is none."""
    reasons: list[str] = []
    for python in INTERPRETERS:
        try:
            anyio.run(_try, tier, python)
        except SandboxTierError as error:
            reasons.append(f"{python}: {error}")
        else:
            return python
    pytest.skip("; ".join(reasons))


async def _try(tier: TierName, python: str) -> None:
    async with sandbox.open(tier, python=python):
        pass


@pytest.fixture(params=["jail-ns", "jail"])
def tier(request: pytest.FixtureRequest) -> TierName:
    interpreter_for(request.param)
    return request.param


@pytest.fixture
def open_tier(tier: TierName) -> Opener:
    """Opens a sandbox of the tier, with whatever else `open` takes."""

    def opener(**options: Any) -> AbstractAsyncContextManager[Session]:
        return sandbox.open(tier, **{"python": interpreter_for(tier), **options})

    return opener


@pytest.fixture
async def session(open_tier: Opener) -> AsyncIterator[Session]:
    async with open_tier() as opened:
        yield opened


@pytest.fixture
def open_strongest() -> Opener:
    """Opens a `jail-ns`, the only tier with files of its own."""
    interpreter_for("jail-ns")

    def opener(**options: Any) -> AbstractAsyncContextManager[Session]:
        return sandbox.open("jail-ns", **options)

    return opener
