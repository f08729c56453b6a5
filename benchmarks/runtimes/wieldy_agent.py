"""Wieldy, by its public door: an `Agent` with a model of its own, which reads no history."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from runtimes.measuring import PAGE, Run, Script
from wieldy import Agent, Limits, Message, ToolCall, ToolResult, Usage, tool
from wieldy.core.ports import Draft, ModelReply, ModelRequest
from wieldy.run.journal import MemoryJournal, SqliteJournal

NAME = PACKAGE = "wieldy"
IMPORTS = ("import wieldy", "from wieldy import Agent, tool")


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
def add_in_thread(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
async def page(a: int, b: int) -> str:
    """A page."""
    return f"{a} {b} {PAGE}"


@tool(effect="read")
async def wait(seconds: float) -> float:
    """Wait."""
    await asyncio.sleep(seconds)
    return seconds


TOOLS = (add, add_in_thread, page, wait)
LIMITS = Limits(turns=None)


class Scripted:
    """A model that says what its script says."""

    name = "benchmark:script"

    def __init__(self, script: Script) -> None:
        self._script = script

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelReply]:
        del request
        calls = [
            ToolCall(id=call.id, name=call.name, arguments=json.loads(call.arguments)) for call in self._script.ask()
        ]
        reply = ModelReply(message=Message.assistant("" if calls else "Done.", calls), usage=Usage(requests=1))
        return _Alone(reply)


class _Alone:
    """A stream of one reply; an asynchronous generator would cost several microseconds, which are not the runtime's."""

    def __init__(self, reply: ModelReply) -> None:
        self._left = [reply]

    def __aiter__(self) -> AsyncIterator[ModelReply]:
        return self

    async def __anext__(self) -> ModelReply:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


def prepared(length: int) -> Run:
    messages = [Message.user("Add.")]
    for number in range((length - 2) // 2):
        call = ToolCall(id=f"h{number}", name="add", arguments={"a": 1, "b": 2})
        messages.append(Message.assistant("", [call]))
        messages.append(Message.tool(ToolResult(tool_call_id=call.id, content="3")))

    async def run(script: Script, store: Any) -> None:
        journal = MemoryJournal() if store is None else store.journal
        result = await Agent(Scripted(script), TOOLS, journal=journal, limits=LIMITS).run(messages)
        assert result.text == "Done.", result

    return run


class Kept:
    """One of our journals."""

    def __init__(self, name: str, journal: Any, path: Path | None = None) -> None:
        self.name, self.journal, self.path = name, journal, path

    def append(self, number: int) -> object:
        result = {"tool_call_id": f"c{number}", "content": PAGE[:150]}
        return self.journal.append("alone", Draft("call_finished", {"result": result, "duration_s": 0.001}))

    def close(self) -> None:
        getattr(self.journal, "close", lambda: None)()


def open_stores(folder: Path, postgres: str | None) -> Iterator[AbstractContextManager[Kept]]:
    yield closing(Kept("memory", MemoryJournal()))
    for durability in ("process", "machine"):
        path = folder / f"{durability}.db"
        yield closing(
            Kept(f"SQLite, safe against the end of the {durability}", SqliteJournal(path, durability=durability), path)
        )
    if postgres is not None:
        yield _postgres(postgres)


@contextmanager
def _postgres(url: str) -> Iterator[Kept]:
    from wieldy.run.journal.postgres import PostgresJournal  # an extra

    with closing(Kept("PostgreSQL", PostgresJournal(url))) as kept:
        yield kept
