"""Sandboxes of the tiers that speak over standard input and output, open for all tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from wieldy import sandbox
from wieldy.sandbox import Outcome, SandboxLimits, Session, TierName

from .container_images import IMAGE

LIMITS = SandboxLimits(wall_s=120, cpu_s=1, memory_bytes=128 << 20, output_bytes=1 << 20, calls=40, files=20)


@pytest.fixture(scope="module", params=["podman", "monty"])
def tier(request: pytest.FixtureRequest) -> TierName:
    """One of the tiers, if it works here."""
    if request.param == "podman":
        request.getfixturevalue("podman")
    elif find_spec("pydantic_monty") is None:
        pytest.skip("monty: pydantic-monty is not installed")
    return request.param


def opening(tier: TierName, limits: SandboxLimits = LIMITS) -> Any:
    """A sandbox of the tier, to be entered."""
    return sandbox.open(tier, limits=limits, image=IMAGE)


class Opened:
    """A session that is used from tests which do not wait themselves, as those of Hypothesis."""

    def __init__(self, session: Session, portal: BlockingPortal) -> None:
        self.session = session
        self._portal = portal

    def run(self, code: str, **options: Any) -> Outcome:
        """As the session's own."""

        async def run() -> Outcome:
            return await self.session.run(code, **options)

        return self._portal.call(run)

    def answer(self, *answers: Any) -> Outcome:
        """As the session's own."""
        return self._portal.call(self.session.answer, answers)


@pytest.fixture(scope="module")
def opened(tier: TierName) -> Iterator[Opened]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opening(tier)) as session:
        yield Opened(session, portal)
