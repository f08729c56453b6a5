"""openai-agents, with a model of its own by that library's `Model` class; its `SQLiteSession` keeps runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from runtimes.measuring import PAGE, Run, Script

NAME = PACKAGE = "openai-agents"
IMPORTS = ("from agents import Agent, Runner",)


@function_tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@function_tool
def add_in_thread(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@function_tool
async def page(a: int, b: int) -> str:
    """A page."""
    return f"{a} {b} {PAGE}"


@function_tool
async def wait(seconds: float) -> float:
    """Wait."""
    await asyncio.sleep(seconds)
    return seconds


class Scripted(Model):
    """A model that says what its script says."""

    def __init__(self, script: Script) -> None:
        self._script = script

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        del args, kwargs
        output: list[Any] = [
            ResponseFunctionToolCall(arguments=call.arguments, call_id=call.id, name=call.name, type="function_call")
            for call in self._script.ask()
        ]
        return ModelResponse(output=output or [_done()], usage=Usage(requests=1), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def _done() -> ResponseOutputMessage:
    text = ResponseOutputText(text="Done.", annotations=[], type="output_text")
    return ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")


def prepared(length: int) -> Run:
    history: list[Any] = [{"role": "user", "content": "Add."}]
    for number in range((length - 2) // 2):
        call_id = f"h{number}"
        history.append({"type": "function_call", "call_id": call_id, "name": "add", "arguments": '{"a": 1, "b": 2}'})
        history.append({"type": "function_call_output", "call_id": call_id, "output": "3"})

    async def run(script: Script, store: Any) -> None:
        agent = Agent(name="script", model=Scripted(script), tools=[add, add_in_thread, page, wait])
        result = await Runner.run(
            agent,
            list(history),
            max_turns=1_000_000,
            run_config=RunConfig(tracing_disabled=True),
            session=None if store is None else store.session(),
        )
        assert result.final_output == "Done.", result

    return run


class Sessions:
    """A session per run, all in one file."""

    name = "SQLiteSession"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: list[SQLiteSession] = []

    def session(self) -> SQLiteSession:
        session = SQLiteSession(f"s{len(self._opened)}", self.path)
        self._opened.append(session)
        return session

    def append(self, number: int) -> object:
        del number
        return None  # its interface is asynchronous and does more than append

    def close(self) -> None:
        for session in self._opened:
            session.close()


def open_stores(folder: Path, postgres: str | None) -> Iterator[AbstractContextManager[Any]]:
    del postgres
    yield closing(Sessions(folder / "sessions.db"))
