"""Calls of the host from code, in lockstep: all that were issued go out at once, and all answers come back at once.

So what code does depends on the answers and never on their timing. `call` gives something to await; the event loop
(`loop`) makes the exchange when nothing in it can go on. `call_sync` makes it where it stands.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from .channel import Channel, TooLargeError, encoded
from .clock import Clock
from .values import NotJsonError, plain

_mask = cast("Any", importlib.import_module("_signal")).pthread_sigmask  # without an object for every number
_TIMERS = tuple(map(int, (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU)))
"""What the kernel sends by itself: a handler that raises would come between a call and its answer."""


class ToolError(Exception):
    """The host says that a call failed; `kind` is a stable word for how."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(slots=True)
class Issued:
    """A call that was issued.

    Attributes:
        content: As it is sent.
        future: Of whoever awaits it; None: somebody waits in `call_sync`.
        reply: None until it is answered.
    """

    content: bytes
    future: asyncio.Future[Any] | None = None
    reply: dict[str, Any] | None = None


class Calls:
    """The calls of a guest.

    The law: the host gets each call that was issued, and was not given up before it went out, once and in order.

    Attributes:
        channel: To the host.
    """

    channel: Channel

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._issued: list[Issued] = []
        self._has_lost_answers = False

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> asyncio.Future[Any]:
        """A call is issued; await the answer.

        Raises:
            ToolError: When awaited: the host says that the call failed. At once: the arguments are too large.
            TypeError: The arguments are no JSON.
        """
        issued = Issued(_content(name, arguments), asyncio.get_running_loop().create_future())
        self._issued.append(issued)
        assert issued.future is not None
        return issued.future

    def call_sync(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Waits here for the answer; calls that were issued before go with this one.

        Raises:
            ToolError: The host says that the call failed, or the arguments are too large.
            TypeError: The arguments are no JSON.
        """
        issued = Issued(_content(name, arguments))
        self._issued.append(issued)
        while issued.reply is None:
            self.exchange()
        if (error := _error_in(issued.reply)) is not None:
            raise error
        return issued.reply["value"]

    def exchange(self) -> bool:
        """What was issued is answered; whether there was something. Signals of timers come before or afterwards.

        Raises:
            MemoryError: There is no room for the answers; what they were is lost, and so is the run.
        """
        asked = [each for each in self._issued if each.future is None or not each.future.done()]
        self._issued = []
        if self._has_lost_answers:
            raise MemoryError("no memory for answers")
        if not asked:
            return False
        mask = _mask(signal.SIG_BLOCK, _TIMERS)
        try:
            self.channel.send_all("calls", [each.content for each in asked])
            answered = 0
            while answered < len(asked):
                for reply in self.channel.receive()["replies"]:
                    self._deliver(asked[answered], reply)
                    answered += 1
        except BaseException:
            self._has_lost_answers = True
            raise
        finally:
            _mask(signal.SIG_SETMASK, mask)
        return True

    def _deliver(self, issued: Issued, reply: dict[str, Any]) -> None:
        if reply.get("time") is not None:
            self._clock.move(reply["time"])
        issued.reply, future = reply, issued.future
        if future is None or future.done() or future.get_loop().is_closed():
            return
        if (error := _error_in(reply)) is not None:
            future.set_exception(error)
        else:
            future.set_result(reply["value"])


def _content(name: str, arguments: Mapping[str, Any] | None) -> bytes:
    try:
        return encoded({"name": plain(str(name)), "arguments": plain(dict(arguments or {}))})
    except NotJsonError as error:
        raise TypeError(f"the name and the arguments of the call {name!a} must be JSON: {error}") from None
    except TooLargeError as error:
        raise ToolError("too_large", f"the arguments of {name!a} cannot be sent: {error}") from None


def _error_in(reply: dict[str, Any]) -> ToolError | None:
    error = reply.get("error")
    return None if error is None else ToolError(error["kind"], error["message"])
