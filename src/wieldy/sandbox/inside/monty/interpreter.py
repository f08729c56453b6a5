"""Code in a session of Monty, and what it meets there of the outside: calls, time, chance and waiting."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

from ..guest.channel import TooLargeError, encoded
from ..guest.code import RESULT, prepare
from ..guest.values import NotJsonError, described, plain, shortened
from ..pieces import ERRORS, OUTPUT
from .clock import Clock
from .host import Host

CPU_TIME_SIGNAL = 24
"""By which the kernel ends a process that has used up its CPU time, as Linux numbers it."""

_CHANCE_BYTES = 1 << 16


class Interpreter:
    """Runs code in one session of Monty: names stay from run to run.

    The law: the host is asked for all calls that code can issue, at once and in order, when nothing in it can go on.
    """

    def __init__(self, monty: Any, session: Any, host: Host) -> None:
        self._monty = monty
        self._session = session
        self._host = host
        self._clock = Clock()
        self._draw: Callable[[int], bytes] = os.urandom
        self._was_seeded = False
        self._forget()

    def _forget(self) -> None:
        self._issued: dict[int, bytes] = {}
        self._settled: dict[int, dict[str, Any]] = {}
        self._timers: dict[int, float] = {}

    def run(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Runs the code of the frame and says how it ended."""
        self._forget()
        self._clock.stand_at(frame.get("clock"))
        try:
            self._seed(frame.get("seed"))
            if frame.get("prelude"):
                self._fed(frame["prelude"])
            value = self._fed(frame["code"])
            if self._issued:
                self._exchange()
            name = _name_of_value(frame["code"])
            return _done(self._value_of(name) if name else value)
        except self._monty.MontyError as error:
            return self._failed(error)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:  # a value that cannot come out
            return {"op": "done", "repr": shortened(f"<a value that cannot be read: {error}>", 200)}

    def _seed(self, seed: int | None) -> None:
        if seed is None and not self._was_seeded:
            return
        self._was_seeded = True
        self._draw = os.urandom if seed is None else random.Random(seed).randbytes
        own = "" if seed is None else repr(seed)
        self._fed(f"import random as _wieldy_random\n_wieldy_random.seed({own})")

    def _value_of(self, name: str) -> Any:
        try:
            return self._fed(name)
        except self._monty.MontyRuntimeError:  # it was not assigned
            return None

    def _fed(self, code: str) -> Any:
        monty = self._monty
        step = self._session.feed_start(code, print_callback=self._print)
        while not isinstance(step, monty.MontyComplete):
            if isinstance(step, monty.NameLookupSnapshot):
                step = self._look_up(step)
            elif isinstance(step, monty.FunctionSnapshot):
                step = step.resume_not_handled() if (answer := self._called(step)) is None else step.resume(answer)
            else:
                step = step.resume(self._waited_for(step.pending_call_ids))
        return step.output

    def _print(self, stream: str, text: str) -> None:
        self._host.tell(OUTPUT if stream == "stdout" else ERRORS, text.encode("utf-8", "backslashreplace"))

    def _look_up(self, step: Any) -> Any:
        return step.resume(value=_FUNCTIONS[step.variable_name]) if step.variable_name in _FUNCTIONS else step.resume()

    def _called(self, step: Any) -> dict[str, Any] | None:
        """The answer to a function that is not the interpreter's own; None: it is left to Monty, which refuses."""
        if step.is_os_function:
            return self._of_system(step.function_name, step.args, step.call_id)
        if step.function_name not in _FUNCTIONS:
            return {"exception": NameError(f"name {step.function_name!r} is not defined")}
        try:
            self._issued[step.call_id] = _call_of(*step.args, **step.kwargs)
        except (TypeError, TooLargeError) as error:
            kind = RuntimeError if isinstance(error, TooLargeError) else TypeError
            return {"exception": kind(str(error))}
        if step.function_name == "call":
            return {"future": ...}
        self._exchange()
        return self._settled.pop(step.call_id)

    def _of_system(self, name: str, passed: tuple[Any, ...], call_id: int) -> dict[str, Any] | None:
        if name in ("asyncio.sleep", "system.async_sleep"):
            self._timers[call_id] = self._clock.time() + max(float(passed[0]), 0.0)
            return {"future": ...}
        if name in ("time.sleep", "system.sleep"):
            self._clock.wait_until(self._clock.time() + max(float(passed[0]), 0.0))
            return {"return_value": None}
        if name == "os.urandom":
            return {"return_value": self._draw(min(int(passed[0]), _CHANCE_BYTES))}
        if name == "datetime.now":
            return {"return_value": self._clock.datetime(passed[0] if passed else None)}
        if name == "date.today":
            return {"return_value": self._clock.datetime(None).date()}
        return {"return_value": self._clock.time()} if name == "time.time" else None

    def _waited_for(self, pending: list[int]) -> dict[int, dict[str, Any]]:
        """What some of that brought without which nothing in the code can go on: calls first, then what is due next."""
        if self._issued:
            self._exchange()
        timers = [self._timers[each] for each in pending if each in self._timers]
        if timers and not self._settled.keys() & set(pending):
            self._clock.wait_until(min(timers))
        now = self._clock.time()
        for each in [each for each, due in self._timers.items() if due <= now]:
            del self._timers[each]
            self._settled[each] = {"return_value": None}
        return {each: self._settled.pop(each) for each in pending if each in self._settled}

    def _exchange(self) -> None:
        """All calls that were issued are answered."""
        issued, self._issued = self._issued, {}
        self._host.send_calls(issued.values())
        waiting = list(issued)
        while waiting:
            for reply in self._host.receive()["replies"]:
                self._clock.move(reply.get("time"))
                error = reply.get("error")
                result = {"exception": RuntimeError(error["message"])} if error else {"return_value": reply["value"]}
                self._settled[waiting.pop(0)] = result

    def _failed(self, error: Any) -> dict[str, Any]:
        if isinstance(error, self._monty.MontyCrashedError):
            self._host.end(-CPU_TIME_SIGNAL if error.timed_out else 70)
        inner = error.exception()
        message = shortened(str(inner), 4000)
        if isinstance(inner, TimeoutError) and message.startswith("feed time limit exceeded"):
            self._host.end(-CPU_TIME_SIGNAL)
        frames: list[Any] = error.traceback() if hasattr(error, "traceback") else []
        return {
            "op": "error",
            "type": type(inner).__name__,
            "message": message,
            "line": frames[-1].line if frames else None,
            "traceback": shortened(error.display(), 16000),
            "exhausted": isinstance(inner, MemoryError),
        }


def call(name: str, arguments: dict[str, Any] | None = None) -> None:
    """Stands for the function of that name in the code; it is never called here."""


def call_sync(name: str, arguments: dict[str, Any] | None = None) -> None:
    """Likewise."""


_FUNCTIONS = {"call": call, "call_sync": call_sync}


def _call_of(name: Any, arguments: Any = None) -> bytes:
    try:
        return encoded({"name": plain(str(name)), "arguments": plain(dict(arguments or {}))})
    except (NotJsonError, ValueError, RecursionError) as error:
        if isinstance(error, TooLargeError):
            raise
        raise TypeError(f"the name and the arguments of the call {name!a} must be JSON: {error}") from None


def _name_of_value(code: str) -> str | None:
    """The name that has the value of the code, where that is not the value of its last expression."""
    try:
        name = prepare(code, "<code>").result
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return None if name == RESULT else name


def _done(value: Any) -> dict[str, Any]:
    try:
        end = {"op": "done", "value": plain(value)}
        encoded(end)
    except (NotJsonError, RecursionError):
        return {"op": "done", "repr": described(value)}
    except TooLargeError as error:
        return {"op": "done", "repr": f"{described(value)} ({error})"}
    return end
