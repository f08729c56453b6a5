"""What the tests of code actions share: whether a sandbox works here, and agents that act by code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest

from wieldy import Agent, sandbox
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.testing import ScriptedModel, call, text


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


def acts(*codes: str) -> ScriptedModel:
    """A model that runs these codes, one a turn, and says what the last one brought."""

    def turn(messages: Sequence[Message]) -> list[Any]:
        done = sum(message.role == "tool" for message in messages)
        return [call("python", {"code": codes[done]})] if done < len(codes) else [text(messages[-1].text)]

    return ScriptedModel(turn)


@pytest.fixture
def coder(sandboxed: None) -> Callable[..., Agent]:
    """An agent whose model runs these codes, one a turn."""

    def agent(*codes: str, tools: Sequence[Any] = (), **options: Any) -> Agent:
        return Agent(acts(*codes), tools, actions="code", **options)

    return agent
