"""pydantic-ai, with a model of its own by that library's `Model` class. It keeps no runs by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.usage import RequestUsage

from runtimes.measuring import PAGE, Run, Script

NAME, PACKAGE = "pydantic-ai", "pydantic-ai-slim"
IMPORTS = ("from pydantic_ai import Agent",)


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def add_in_thread(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def page(a: int, b: int) -> str:
    """A page."""
    return f"{a} {b} {PAGE}"


async def wait(seconds: float) -> float:
    """Wait."""
    await asyncio.sleep(seconds)
    return seconds


class Scripted(Model):
    """A model that says what its script says."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    @property
    def model_name(self) -> str:
        return "script"

    @property
    def system(self) -> str:
        return "benchmark"

    async def request(self, messages: Any, model_settings: Any, model_request_parameters: Any) -> ModelResponse:
        calls = self._script.ask()
        parts: list[Any] = [ToolCallPart(call.name, call.arguments, call.id) for call in calls]
        return ModelResponse(parts=parts or [TextPart("Done.")], usage=RequestUsage(input_tokens=1, output_tokens=1))


def prepared(length: int) -> Run:
    history: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart("Add.")])]
    for number in range((length - 2) // 2):
        call = ToolCallPart("add", '{"a": 1, "b": 2}', f"h{number}")
        history.append(ModelResponse(parts=[call]))
        history.append(ModelRequest(parts=[ToolReturnPart("add", 3, call.tool_call_id)]))

    async def run(script: Script, store: Any) -> None:
        assert store is None
        agent = Agent(Scripted(script), tools=[add, add_in_thread, page, wait])
        result = await agent.run(message_history=list(history), usage_limits=UsageLimits(request_limit=None))
        assert result.output == "Done.", result

    return run


def open_stores(folder: Path, postgres: str | None) -> Iterator[AbstractContextManager[Any]]:
    del folder, postgres
    return iter(())
