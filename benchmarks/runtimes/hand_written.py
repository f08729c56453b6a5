"""A loop that somebody would write in an afternoon: no runtime, no journal; arguments are validated."""

from __future__ import annotations

import asyncio
import inspect
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import jsonschema_rs

from runtimes.measuring import PAGE, Run, Script

NAME = "hand-written"
PACKAGE = None
IMPORTS = ("import asyncio, json, jsonschema_rs",)

INTEGERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
SECONDS = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}


async def add(a: int, b: int) -> int:
    return a + b


def add_in_thread(a: int, b: int) -> int:
    return a + b


async def page(a: int, b: int) -> str:
    return f"{a} {b} {PAGE}"


async def wait(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


TOOLS: dict[str, tuple[Callable[..., Any], Any]] = {
    function.__name__: (function, jsonschema_rs.validator_for(schema))
    for function, schema in ((add, INTEGERS), (add_in_thread, INTEGERS), (page, INTEGERS), (wait, SECONDS))
}


async def reply_of(script: Script, messages: list[Any]) -> dict[str, Any]:
    del messages
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in script.ask()
    ]
    return {"role": "assistant", "content": None if calls else "Done.", "tool_calls": calls}


async def answer(call: dict[str, Any]) -> dict[str, Any]:
    try:
        function, validator = TOOLS[call["function"]["name"]]
        arguments = json.loads(call["function"]["arguments"])
        validator.validate(arguments)
        if inspect.iscoroutinefunction(function):
            value = await function(**arguments)
        else:
            value = await asyncio.to_thread(function, **arguments)
        content = value if isinstance(value, str) else json.dumps(value)
    except Exception as error:
        content = f"Error: {error}"
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


async def loop(script: Script, messages: list[Any], keep: Callable[[Any], object]) -> str:
    while True:
        reply = await reply_of(script, messages)
        messages.append(reply)
        keep(reply)
        if not reply["tool_calls"]:
            return reply["content"]
        results = await asyncio.gather(*map(answer, reply["tool_calls"]))
        for result in results:
            keep(result)
        messages += results


def prepared(length: int) -> Run:
    messages: list[Any] = [{"role": "user", "content": "Add."}]
    for number in range((length - 2) // 2):
        call = {"id": f"h{number}", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"h{number}", "content": "3"})

    async def run(script: Script, store: Any) -> None:
        await loop(script, list(messages), keep=store.write if store is not None else lambda message: None)

    return run


class Table:
    """A row per message, in one file with a write-ahead log."""

    name = "one SQLite table"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = NORMAL")
        self._file.execute("CREATE TABLE messages (position INTEGER PRIMARY KEY, data TEXT NOT NULL)")

    def write(self, message: Any) -> None:
        self._file.execute("INSERT INTO messages (data) VALUES (?)", (json.dumps(message),))

    def append(self, number: int) -> object:
        self.write({"role": "tool", "tool_call_id": f"c{number}", "content": PAGE[:150]})
        return number

    def close(self) -> None:
        self._file.close()


def open_stores(folder: Path, postgres: str | None) -> Iterator[AbstractContextManager[Any]]:
    del postgres
    yield closing(Table(folder / "messages.db"))
