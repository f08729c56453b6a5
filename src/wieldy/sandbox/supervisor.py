"""Watches one run: passes frames to the conversation, lets the handler answer calls, and ends what goes beyond a limit.

The guest is a peer that may do anything with its channel; all authority is here. Handlers run at once, and answers go
back in the order in which they come. A run ends in exactly one way: the code's own end, a pause, or a verdict.
"""

from __future__ import annotations

import signal
import traceback
from typing import Final

import anyio
from anyio.abc import TaskGroup

from wieldy.core.errors import ModelVisibleError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.sandbox.conversation import Conversation, Violation
from wieldy.sandbox.frames import ProtocolError
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.outcome import Counts, GuestCall, KilledBecause, Outcome, Pause, Reply, Status
from wieldy.sandbox.replies import Handler, failure, failure_frame, success
from wieldy.sandbox.stopwatch import Stopwatch
from wieldy.sandbox.texts import printed
from wieldy.sandbox.worker import Worker

_UNSENT_BYTES: Final = 8 << 20
_SHORTEST_WATCH_S: Final = 0.02
_SETTLING_LOOKS: Final = 50
_SETTLING_S: Final = 0.002


class Supervision:
    """One run in a worker; `until_end` once, and again after each pause."""

    def __init__(self, worker: Worker, limits: SandboxLimits, handler: Handler | None) -> None:
        self._worker = worker
        self._limits = limits
        self._handler = handler
        self._conversation = Conversation(limits)
        self._stopwatch = Stopwatch()
        self._cpu_at_start_s = worker.cpu_s()
        self._verdict: KilledBecause | None = None
        self._crashes: list[str] = []
        self._idle: list[Desk] = []
        self._turn = anyio.CancelScope()
        worker.output.begin(limits.kept_output_bytes)
        worker.errors.begin(limits.kept_output_bytes)

    async def until_end(self, *frames: JsonObject, handler: Handler | None = None) -> Outcome:
        """Sends the frames, then watches until the run ends or is paused; a worker that cannot go on is dead then.

        Raises:
            SandboxError: The sandbox's own processes have ended.
        """
        self._handler = handler or self._handler
        self._turn = anyio.CancelScope()
        self._idle.clear()
        self._worker.send(*frames)
        self._stopwatch.go_on()
        self._worker.go_on()
        async with anyio.create_task_group() as handlers:
            with self._turn:
                handlers.start_soon(self._watch)
                handlers.start_soon(self._pause_if_nothing_goes_on)
                await self._converse(handlers)
            self._worker.stop()
            handlers.cancel_scope.cancel()
        self._stopwatch.stop()
        if self._verdict is None and self._conversation.is_paused:
            return self._outcome("paused", await self._counts_of_living())
        return await self._ended()

    def answer(self, seq: int | None, answer: JsonValue | Reply | ModelVisibleError) -> JsonObject:
        """The frame that answers a call which waits.

        Raises:
            ValueError: No such call waits, or the answer is no JSON.
        """
        waiting = self._conversation.waiting
        chosen = next(iter(waiting)) if seq is None and len(waiting) == 1 else seq
        if chosen not in waiting:
            raise ValueError(f"one of the calls {sorted(waiting)} must be named (seq=), and {seq!r} was")
        self._conversation.answered(chosen)
        return failure(chosen, answer) if isinstance(answer, ModelVisibleError) else success(chosen, answer)

    async def _converse(self, handlers: TaskGroup) -> None:
        try:
            while not self._take_frames(handlers) and not self._worker.is_closed:
                await self._worker.readable()
                self._worker.read()
                self._check_output()
        except Violation as verdict:
            self._verdict = verdict.because
        except ProtocolError:
            self._verdict = "protocol"

    def _take_frames(self, handlers: TaskGroup) -> bool:
        """Takes what was sent; whether the code's end was among it, which must be the last."""
        while (frame := self._worker.reader.next()) is not None:
            call = self._conversation.take(frame, self._worker.reader.last_size_bytes)
            if call is not None:
                self._stopwatch.stop()
                self._assign(call, handlers)
        if self._conversation.has_ended and not self._worker.reader.is_empty:
            raise Violation("protocol", "more after the end")
        return self._conversation.has_ended

    def _check_output(self) -> None:
        if self._worker.output.total_bytes + self._worker.errors.total_bytes > self._limits.output_bytes:
            raise Violation("output")

    def _assign(self, call: GuestCall, handlers: TaskGroup) -> None:
        if self._idle:
            self._idle.pop().take(call)
        else:
            handlers.start_soon(self._answer_calls, call)

    async def _answer_calls(self, call: GuestCall) -> None:
        """Answers this call, then others: a new task for each would be a third of what a call costs."""
        while True:
            await self._handle(call)
            desk = Desk()
            self._idle.append(desk)
            call = await desk.next_call()

    async def _handle(self, call: GuestCall) -> None:
        """Lets the handler answer, and sends what it answered."""
        frame: JsonObject | None
        try:
            if self._handler is None:
                frame = failure_frame(call.seq, "unknown_tool", "no tools can be called here")
            else:
                answer = await self._handler(call)
                frame = None if isinstance(answer, Pause) else success(call.seq, answer)
        except ModelVisibleError as error:
            frame = failure(call.seq, error)
        except Exception:  # a handler is the program's code; what it raised is told to the program only
            self._crashes.append(traceback.format_exc())
            frame = failure_frame(call.seq, "internal_error", "internal error")
        if frame is None:
            self._conversation.postponed(call.seq)
        else:
            self._send_reply(call.seq, frame)
        if not self._conversation.running:
            self._stopwatch.go_on()
        await self._pause_if_nothing_goes_on()

    async def _pause_if_nothing_goes_on(self) -> None:
        """Ends the turn when only answers from elsewhere are missing, and the code has come to where it needs them."""
        for _ in range(_SETTLING_LOOKS):
            if not self._conversation.is_paused:
                return
            if self._worker.is_waiting():
                break
            await anyio.sleep(_SETTLING_S)
        if self._conversation.is_paused:  # code that never rests is stopped where it is
            self._turn.cancel()

    def _send_reply(self, seq: int, frame: JsonObject) -> None:
        self._conversation.answered(seq)
        if self._verdict is not None:  # of other calls that are being answered, nothing is kept any more
            return
        try:
            self._worker.send(frame)
        except (TypeError, ValueError, RecursionError) as error:
            self._crashes.append(traceback.format_exc())
            self._worker.send(
                failure_frame(seq, "result_not_sendable", f"the result cannot be sent: {type(error).__name__}")
            )
        if self._worker.unsent_bytes > _UNSENT_BYTES:
            self._verdict = "protocol"
            self._turn.cancel()

    async def _watch(self) -> None:
        """Ends the turn when time is used up; sleeps as long as that certainly cannot be."""
        while True:
            wall_left_s = self._limits.wall_s - self._stopwatch.elapsed_s
            cpu_left_s = self._limits.cpu_s - self._cpu_s()
            if wall_left_s <= 0 or cpu_left_s <= 0:
                self._verdict = self._verdict or ("wall_time" if wall_left_s <= 0 else "cpu_time")
                self._turn.cancel()
                return
            await anyio.sleep(max(min(wall_left_s, cpu_left_s), _SHORTEST_WATCH_S))

    def _cpu_s(self) -> float:
        return max(self._worker.cpu_s() - self._cpu_at_start_s, 0.0)

    async def _ended(self) -> Outcome:
        """The code's own end, if the worker kept to the rules; else it is dead, and why is said."""
        conversation = self._conversation
        if self._verdict is None and conversation.has_ended and not conversation.is_exhausted:
            counts, threads = await self._counts_of_living(), self._worker.threads_and_peak()[0]
            if threads == 1:
                return self._outcome("error" if conversation.error else "done", counts)
            self._verdict = "processes"
        if conversation.is_exhausted:
            self._verdict = self._verdict or "memory"
        return await self._killed()

    async def _killed(self) -> Outcome:
        ended_itself = False
        if self._verdict is None:  # the channel is closed: did the process end, or only close it?
            self._worker.go_on()
            ended_itself = await self._worker.ends_by_itself()
        status, cpu_s, peak_bytes = await self._worker.end()
        self._worker.drain()
        used_up = cpu_s >= self._limits.lifetime_cpu_s
        because = self._verdict or _reason_of(status, ended_itself=ended_itself, used_up=used_up)
        counts = self._counts(max(cpu_s - self._cpu_at_start_s, 0.0), peak_bytes)
        crash = -status if because == "crash" else None
        return self._outcome("killed", counts, because=because, crash_signal=crash)

    async def _counts_of_living(self) -> Counts:
        self._worker.drain()
        return self._counts(self._cpu_s(), self._worker.threads_and_peak()[1])

    def _counts(self, cpu_s: float, peak_bytes: int) -> Counts:
        return Counts(
            calls=self._conversation.calls,
            cpu_s=cpu_s,
            wall_s=self._stopwatch.elapsed_s,
            peak_memory_bytes=peak_bytes,
            output_bytes=self._worker.output.total_bytes + self._worker.errors.total_bytes,
        )

    def _outcome(
        self,
        status: Status,
        counts: Counts,
        *,
        because: KilledBecause | None = None,
        crash_signal: int | None = None,
    ) -> Outcome:
        conversation = self._conversation
        is_done = status == "done"
        return Outcome(
            status=status,
            value=conversation.value if is_done else None,
            value_repr=conversation.value_repr if is_done else None,
            stdout=printed(self._worker.output.kept),
            stderr=printed(self._worker.errors.kept),
            artifacts=conversation.artifacts,
            error=conversation.error,
            killed_because=because,
            signal=crash_signal,
            waiting=tuple(conversation.waiting.values()) if status == "paused" else (),
            handler_crashes=tuple(self._crashes),
            counts=counts,
        )


def _reason_of(status: int, *, ended_itself: bool, used_up: bool) -> KilledBecause:
    """Why a process ended on which there was no verdict."""
    if not ended_itself:
        return "protocol"
    if status == -signal.SIGXCPU or (status == -signal.SIGKILL and used_up):
        return "cpu_time"
    return "crash" if status < 0 else "exit"


class Desk:
    """Where a task that has answered a call waits for the next."""

    def __init__(self) -> None:
        self._has_call = anyio.Event()
        self._call: GuestCall | None = None

    def take(self, call: GuestCall) -> None:
        """The call is the next of the task that waits here."""
        self._call = call
        self._has_call.set()

    async def next_call(self) -> GuestCall:
        """Waits for a call."""
        await self._has_call.wait()
        assert self._call is not None
        return self._call
