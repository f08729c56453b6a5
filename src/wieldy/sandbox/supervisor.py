"""Watches one run: code and host take turns, and what goes beyond a limit is ended.

The guest is a peer that may do anything with its channel; all authority is here. In its turn the code runs until it
asks for calls, which are answered all at once, or ends; in the host's turn it stands still, held by the kernel as soon
as an answer has to be waited for. A run ends in exactly one way: the code's own end, a pause, or a verdict.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from typing import Final

import anyio

from wieldy.core.errors import ModelVisibleError
from wieldy.sandbox.conversation import Conversation, Violation
from wieldy.sandbox.frames import ProtocolError
from wieldy.sandbox.inside.guest.channel import in_frames
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.outcome import Counts, Failure, GuestCall, KilledBecause, Outcome, Status
from wieldy.sandbox.replies import Answer, Handler, reply_to_bytes
from wieldy.sandbox.stopwatch import Stopwatch
from wieldy.sandbox.texts import printed
from wieldy.sandbox.watched import Watched
from wieldy.sandbox.workers import Worker

_SHORTEST_WATCH_S: Final = 0.02
_LONGEST_DELAY: Final = 9  # times the limit on time: code that gives up its core all the time counts as delayed, too
_ANSWERS_BYTES: Final = 16 << 20
_KILL, _CPU_TIME = 9, 24  # signals, as Linux numbers them: code may run there though this does not


class Supervision:
    """One run in a worker; `until_end` once, and again with `replies` after each pause."""

    def __init__(self, worker: Worker, limits: SandboxLimits, handler: Handler | None) -> None:
        self._worker = worker
        self._limits = limits
        self._handler = handler
        self._conversation = Conversation(limits)
        self._stopwatch = Stopwatch()
        self._cpu_at_start_s = worker.cpu_s()
        self._delayed_at_start_s = worker.delayed_s()
        self._verdict: KilledBecause | None = None
        self._crashes: list[str] = []
        self._answers_bytes = 0
        worker.output.begin(limits.kept_output_bytes)
        worker.errors.begin(limits.kept_output_bytes)

    async def until_end(self, frames: Iterable[bytes]) -> Outcome:
        """Sends the frames, then watches until the run ends or is paused; a worker that cannot go on is dead then.

        Raises:
            SandboxError: The sandbox's own processes have ended.
        """
        while True:
            await self._turn(frames)
            if self._verdict is not None or not self._conversation.waiting:
                self._worker.stop()
                return await self._ended()
            if self._handler is None:
                self._worker.stop()
                self._worker.drain()
                return self._outcome("paused", self._counts(self._cpu_s(), 0))
            replies = await self._answers(self._handler, self._conversation.waiting)
            self._conversation.answered()
            frames = in_frames("replies", replies)

    def replies(self, answers: Sequence[Answer]) -> Iterable[bytes]:
        """The frames that answer the calls which wait; send them with `until_end`.

        Raises:
            ValueError: There are more or fewer answers than calls, or one cannot be sent; also TypeError and
                RecursionError. The run is still paused.
        """
        waiting = self._conversation.waiting
        if len(answers) != len(waiting):
            raise ValueError(f"expected an answer to each of the {len(waiting)} calls that wait, found {len(answers)}")
        replies = [reply_to_bytes(answer) for answer in answers]
        self._conversation.answered()
        return in_frames("replies", replies)

    async def _turn(self, frames: Iterable[bytes]) -> None:
        """The code has come to where it asks, has ended, or there is a verdict."""
        self._stopwatch.go_on()
        self._worker.go_on()
        try:
            await self._send(frames)
            while not self._take_frames() and not self._worker.is_closed:
                await self._hear()
        except Violation as verdict:
            self._verdict = verdict.because
        except ProtocolError:
            self._verdict = "protocol"
        self._stopwatch.stop()

    async def _send(self, frames: Iterable[bytes]) -> None:
        """The guest has read all of the frames but what fits in the channel."""
        for frame in frames:
            self._worker.send(frame)
            while self._worker.unsent_bytes:
                await self._hear()
                if not self._worker.reader.is_empty:
                    raise Violation("protocol", "it speaks while it is told something")

    def _take_frames(self) -> bool:
        """Takes what was sent; whether calls or the code's end were among it, which must be the last."""
        conversation, reader = self._conversation, self._worker.reader
        while (frame := reader.next()) is not None:
            conversation.take(frame, reader.last_size_bytes)
        is_over = conversation.has_ended or bool(conversation.waiting)
        if is_over and not reader.is_empty:
            raise Violation("protocol", "more after the end of its turn")
        return is_over

    async def _hear(self) -> None:
        """Waits for the guest, as long as there is time, and reads what it said or printed."""
        wall_left_s = self._wall_left_s()
        cpu_left_s = self._limits.cpu_s - self._cpu_s()
        if wall_left_s <= 0 or cpu_left_s <= 0:
            raise Violation("wall_time" if wall_left_s <= 0 else "cpu_time")
        if self._worker.comes_soon():
            self._worker.read()
        else:
            with anyio.move_on_after(max(min(wall_left_s, cpu_left_s), _SHORTEST_WATCH_S)):
                await self._worker.readable()
                self._worker.read()
        if self._worker.output.total_bytes + self._worker.errors.total_bytes > self._limits.output_bytes:
            raise Violation("output")

    async def _answers(self, handler: Handler, calls: Sequence[GuestCall]) -> list[bytes]:
        """What the handler answers to the calls, at once; they are held here, so there is a limit to their size."""
        self._answers_bytes = 0
        if len(calls) == 1:  # a task, and signals to the worker, would be half of what a call costs
            return [await Watched(self._answer(handler, calls[0]), self._worker.stop)]
        self._worker.stop()
        replies: dict[int, bytes] = {}

        async def answer(call: GuestCall) -> None:
            replies[call.seq] = await self._answer(handler, call)

        async with anyio.create_task_group() as answering:
            for call in calls:
                answering.start_soon(answer, call)
        return [replies[call.seq] for call in calls]

    async def _answer(self, handler: Handler, call: GuestCall) -> bytes:
        try:
            answer = await handler(call)
        except ModelVisibleError as error:
            answer = error
        except Exception:  # a handler is the program's code; what it raised is told to the program only
            self._crashes.append(traceback.format_exc())
            answer = Failure(kind="internal_error", message="internal error")
        try:
            reply = reply_to_bytes(answer)
        except (TypeError, ValueError, RecursionError) as error:
            self._crashes.append(traceback.format_exc())
            return _failed("result_not_sendable", f"the result cannot be sent: {type(error).__name__}")
        self._answers_bytes += len(reply)
        if self._answers_bytes > _ANSWERS_BYTES:
            return _failed(
                "too_large",
                f"the results of calls that are made at once have at most {_ANSWERS_BYTES:,} bytes together, and this "
                "one is beyond; the call took place. Make fewer calls at once.",
            )
        return reply

    def _wall_left_s(self) -> float:
        """Time in which others had the core does not count, but the code cannot make it as long as it likes."""
        wall_s = self._limits.wall_s
        left_s = wall_s - self._stopwatch.elapsed_s
        if left_s > 0:
            return left_s
        return left_s + min(self._worker.delayed_s() - self._delayed_at_start_s, wall_s * _LONGEST_DELAY)

    def _cpu_s(self) -> float:
        return max(self._worker.cpu_s() - self._cpu_at_start_s, 0.0)

    async def _ended(self) -> Outcome:
        """The code's own end, if the worker kept to the rules; else it is dead, and why is said."""
        conversation = self._conversation
        if self._verdict is None and conversation.has_ended and not conversation.is_exhausted:
            self._worker.drain()
            threads, peak_bytes = self._worker.threads_and_peak()
            if threads == 1:
                return self._outcome("error" if conversation.error else "done", self._counts(self._cpu_s(), peak_bytes))
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
            waiting=conversation.waiting if status == "paused" else (),
            remarks=(
                *conversation.remarks,
                *self._worker.output.remarks("standard output"),
                *self._worker.errors.remarks("standard error"),
            ),
            handler_crashes=tuple(self._crashes),
            counts=counts,
        )


def _failed(kind: str, message: str) -> bytes:
    return reply_to_bytes(Failure(kind=kind, message=message))


def _reason_of(status: int, *, ended_itself: bool, used_up: bool) -> KilledBecause:
    """Why a process ended on which there was no verdict."""
    if not ended_itself:
        return "protocol"
    if status == -_CPU_TIME or (status == -_KILL and used_up):
        return "cpu_time"
    return "crash" if status < 0 else "exit"
