"""Calls of the host from code: numbered when they are issued, answered in whatever order the host answers.

`call` gives something to await, so that many can be under way; `call_sync` waits here. Both read the same channel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from .channel import Channel
from .values import NotJsonError, plain


class ToolError(Exception):
    """The host says that a call failed; `kind` is a stable word for how."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Calls:
    """The calls of one run."""

    def __init__(self, channel: Channel, on_time: Callable[[float], None]) -> None:
        self._channel = channel
        self._on_time = on_time
        self._issued = 0
        self._futures: dict[int, asyncio.Future[Any] | None] = {}  # None: somebody waits in `call_sync`
        self._replies: dict[int, dict[str, Any]] = {}
        self._watched: asyncio.AbstractEventLoop | None = None

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> asyncio.Future[Any]:
        """Asks the host at once; await the answer.

        Raises:
            ToolError: When awaited: the host says that the call failed.
            TypeError: The arguments are no JSON.
            RuntimeError: No event loop is running: use `call_sync`, or `await`.
        """
        loop = asyncio.get_running_loop()
        if self._watched is not loop:
            loop.add_reader(self._channel.descriptor, self._read)
            self._watched = loop
        future: asyncio.Future[Any] = loop.create_future()
        self._futures[self._issue(name, arguments)] = future
        return future

    def call_sync(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Asks the host and waits for the answer.

        Raises:
            ToolError: The host says that the call failed.
            TypeError: The arguments are no JSON.
        """
        sequence = self._issue(name, arguments)
        self._futures[sequence] = None
        while sequence not in self._replies:
            self._deliver(self._channel.receive())
        return _value_of(self._replies.pop(sequence))

    def finish(self) -> None:
        """Waits until every call is answered."""
        while self._futures:
            self._deliver(self._channel.receive())

    def _issue(self, name: str, arguments: Mapping[str, Any] | None) -> int:
        try:
            name, passed = plain(str(name)), plain(dict(arguments or {}))
        except NotJsonError as error:
            raise TypeError(f"the name and the arguments of the call {name!a} must be JSON: {error}") from None
        sequence = self._issued + 1
        self._channel.send({"op": "call", "seq": sequence, "name": name, "arguments": passed})
        self._issued = sequence
        return sequence

    def _read(self) -> None:
        self._channel.fill()
        while frame := self._channel.next():
            self._deliver(frame)

    def _deliver(self, reply: dict[str, Any]) -> None:
        if reply.get("time") is not None:
            self._on_time(reply["time"])
        future = self._futures.pop(reply["seq"])
        if future is None:
            self._replies[reply["seq"]] = reply
        elif not future.done() and not future.get_loop().is_closed():
            try:
                future.set_result(_value_of(reply))
            except ToolError as error:
                future.set_exception(error)


def _value_of(reply: dict[str, Any]) -> Any:
    if "error" in reply:
        raise ToolError(reply["error"]["kind"], reply["error"]["message"])
    return reply["value"]
