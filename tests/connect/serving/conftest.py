"""Calls of tools as a model makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wieldy import Agent, ToolResult
from wieldy.testing import ScriptedModel, text
from wieldy.testing import call as scripted_call
from wieldy.tools import Toolset


@pytest.fixture
def call() -> Callable[..., Any]:
    """Calls a tool as a model does, and gives its result."""

    async def call_tool(toolset: Toolset, name: str, /, **arguments: Any) -> ToolResult:
        model = ScriptedModel([[scripted_call(name, arguments)], [text("done")]])
        result = await Agent(model, tools=[toolset]).run("go")
        found = next(message.result for message in result.messages if message.role == "tool")
        assert found is not None
        return found

    return call_tool
