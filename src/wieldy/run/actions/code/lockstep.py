"""Code in lockstep: every call that it can issue goes to the host at once, and all answers come back at once.

So what code does depends on the answers alone and never on their timing, and running it again with the recorded
answers is the same by construction. Time in it stands while it computes; waiting makes it jump, and takes none.
`GUEST` is the half that runs in the sandbox: its event loop asks the host, by one call that waits, whenever nothing in
it can go on. The other half knows that everything which comes from there may be anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.record import Record
from wieldy.sandbox import GuestCall, Outcome, Pause, SandboxLimits
from wieldy.sandbox import Session as Sandbox

_BATCH: Final = "*batch*"
_MORE: Final = "*more*"
MAX_REPLY_BYTES: Final = 3_500_000
"""Of what goes to the guest at once; a frame carries 4 MiB."""

GUEST: Final = """
import asyncio, json, time as _wieldy_time
_wieldy_ask, _wieldy_waiting = call_sync, []
_wieldy_clock, _wieldy_passed = _wieldy_time.time.__self__, 0.0
def _wieldy_plain(value, depth=0):
    if depth > 80:
        raise TypeError("arguments must be JSON: these are nested too deeply")
    if isinstance(value, dict):
        return {str(name): _wieldy_plain(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_wieldy_plain(item, depth + 1) for item in value]
    if value is not None and not isinstance(value, (bool, int, float, str)):
        if not hasattr(value, "tolist"):
            raise TypeError(f"arguments must be JSON: found a value of the type {type(value).__name__}")
        return _wieldy_plain(value.tolist(), depth + 1)
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        if isinstance(value, int) and value.bit_length() > 13_000:
            raise ValueError("an integer with too many digits")
    except ValueError as error:
        raise TypeError(f"arguments must be JSON: {error}") from None
    return value
def _wieldy_asked(name, arguments):
    return {"name": str(name), "arguments": _wieldy_plain(dict(arguments or {}))}
def _wieldy_round(*last):
    waiting = [(future, asked) for future, asked in _wieldy_waiting if not future.done()]
    _wieldy_waiting.clear()
    asked = [*(one for _, one in waiting), *last]
    try:
        replies = _wieldy_replies(asked) if asked else []
    except ValueError as error:
        replies = [{"error": {"kind": "too_large", "message": f"the arguments cannot be sent: {error}"}} for _ in asked]
    for (future, _), reply in zip(waiting, replies):
        if "error" in reply:
            future.set_exception(ToolError(reply["error"]["kind"], reply["error"]["message"]))
        else:
            future.set_result(reply["value"])
    return replies[len(waiting):]
def _wieldy_replies(asked):
    answer = _wieldy_ask("*batch*", {"calls": asked})
    replies = list(answer["replies"])
    while answer["more"]:
        answer = _wieldy_ask("*more*", {})
        replies += answer["replies"]
    return replies
def _wieldy_pass(seconds):
    global _wieldy_passed
    if not seconds >= 0:
        raise ValueError("sleep length must be non-negative")
    _wieldy_passed += seconds
    _wieldy_clock.move(_wieldy_clock.now + seconds)
def _wieldy_watch(loop):
    selector = loop._selector
    select = selector.select
    def idle(timeout=None):
        if timeout == 0:
            return select(0)
        if _wieldy_waiting:
            _wieldy_round()
        elif timeout is None:
            raise RuntimeError("the code waits for something that will never come")
        else:
            _wieldy_pass(timeout)
        return select(0)
    selector.select = idle
def _wieldy_run_forever(loop, run_forever=getattr(asyncio.BaseEventLoop, "_wieldy", asyncio.BaseEventLoop.run_forever)):
    _wieldy_watch(loop)
    return run_forever(loop)
asyncio.BaseEventLoop._wieldy = getattr(asyncio.BaseEventLoop, "_wieldy", asyncio.BaseEventLoop.run_forever)
asyncio.BaseEventLoop.run_forever = _wieldy_run_forever
asyncio.BaseEventLoop.time = lambda loop: _wieldy_passed
_wieldy_time.sleep = _wieldy_pass
def call(name, arguments=None):
    future = asyncio.get_running_loop().create_future()
    _wieldy_waiting.append((future, _wieldy_asked(name, arguments)))
    return future
def call_sync(name, arguments=None):
    [reply] = _wieldy_round(_wieldy_asked(name, arguments))
    if "error" in reply:
        raise ToolError(reply["error"]["kind"], reply["error"]["message"])
    return reply["value"]
"""


class Calls(Record, frozen=True, kw_only=True):
    """What code asks for before it can go on, in the order in which it was asked."""

    calls: tuple[GuestCall, ...]


class Reply(Record, frozen=True, kw_only=True):
    """What a call brought."""

    value: JsonValue


class ToolFailure(Record, frozen=True, kw_only=True):
    """A call failed; code gets a `ToolError`."""

    kind: str
    message: str


Step: TypeAlias = "Calls | Outcome"


class Session:
    """A sandbox in which code runs in lockstep.

    Args:
        sandbox: Open.
        limits: Of each action, for the number of its calls.
    """

    def __init__(self, sandbox: Sandbox, *, limits: SandboxLimits) -> None:
        self._sandbox = sandbox
        self._most_calls = limits.calls
        self._issued = 0

    async def start(self, code: str, *, prelude: str, seed: int, clock: float, fresh: bool) -> Step:
        """What the code asks for first, or how it ended.

        Args:
            code: Python.
            prelude: Runs before it, after `GUEST`.
            seed: Of its chance.
            clock: Where its time stands, in seconds since the epoch.
            fresh: Whether to begin without the names of earlier code; code that is under way is given up then.
        """
        self._issued = 0
        outcome = await self._sandbox.run(
            code, call=_later, prelude=f"{GUEST}{prelude}", seed=seed, clock=clock, fresh=fresh
        )
        return self._step(outcome)

    async def answer(self, replies: Sequence[Reply | ToolFailure]) -> Step:
        """What the code asks for next, or how it ended, after the calls that it waits for brought this.

        Args:
            replies: In the order of the calls; none is larger than `MAX_REPLY_BYTES`.
        """
        pieces = _pieces(replies)
        while True:
            piece = pieces.pop(0)
            outcome = await self._sandbox.resume({"replies": list[JsonValue](piece), "more": bool(pieces)})
            if not pieces:
                return self._step(outcome)
            if outcome.status != "paused" or [call.name for call in outcome.waiting] != [_MORE]:
                return outcome if outcome.status != "paused" else _violation(outcome)

    def _step(self, outcome: Outcome) -> Step:
        if outcome.status != "paused":
            return outcome
        asked = _calls_in(outcome.waiting)
        if asked is None:
            return _violation(outcome)
        first, self._issued = self._issued + 1, self._issued + len(asked)
        if self._issued > self._most_calls:
            return _killed(outcome, "calls")
        return Calls(
            calls=tuple(
                GuestCall(seq=seq, name=name, arguments=arguments) for seq, (name, arguments) in enumerate(asked, first)
            )
        )


async def _later(call: GuestCall) -> Pause:
    del call
    return Pause()


def _pieces(replies: Sequence[Reply | ToolFailure]) -> list[list[JsonObject]]:
    """The replies in frames; the last one may be empty, as it is where there are none."""
    pieces: list[list[JsonObject]] = [[]]
    left = MAX_REPLY_BYTES
    for reply in replies:
        data = _to_json(reply)
        size = size_bytes(data)
        if size > left and pieces[-1]:
            pieces.append([])
            left = MAX_REPLY_BYTES
        pieces[-1].append(data)
        left -= size
    return pieces


def size_bytes(value: JsonValue) -> int:
    """Of a value on its way, as frames have it."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _to_json(reply: Reply | ToolFailure) -> JsonObject:
    if isinstance(reply, Reply):
        return {"value": reply.value}
    return {"error": {"kind": reply.kind, "message": reply.message}}


def _calls_in(waiting: Sequence[GuestCall]) -> list[tuple[str, JsonObject]] | None:
    """The names and arguments; None if they are not as the guest's half writes them."""
    if [call.name for call in waiting] != [_BATCH]:
        return None
    asked = waiting[0].arguments.get("calls")
    if not isinstance(asked, list) or not asked:
        return None
    found: list[tuple[str, JsonObject]] = []
    for one in asked:
        name = one.get("name") if isinstance(one, dict) else None
        arguments = one.get("arguments") if isinstance(one, dict) else None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return None
        found.append((name, arguments))
    return found


def _violation(outcome: Outcome) -> Outcome:
    return _killed(outcome, "protocol")


def _killed(outcome: Outcome, because: Literal["protocol", "calls"]) -> Outcome:
    # Its process is given up with the next start, which is a fresh one.
    return replace(outcome, status="killed", killed_because=because, waiting=())
