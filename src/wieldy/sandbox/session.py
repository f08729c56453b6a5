"""A sandbox that is open: code runs in it, one run after the other, sharing variables or starting afresh.

There is a worker that the present variables live in, stopped between runs, and one more that is started already, for a
fresh start without waiting.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, cast

from wieldy.core.errors import SandboxError, UsageError
from wieldy.core.json import JsonObject
from wieldy.sandbox.frames import frame_of
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.options import Opened
from wieldy.sandbox.outcome import Outcome, Tier
from wieldy.sandbox.replies import Answer, Handler
from wieldy.sandbox.supervisor import Supervision
from wieldy.sandbox.texts import is_file_name
from wieldy.sandbox.tiers import StartError
from wieldy.sandbox.workers import Worker

_PIECE_BYTES: Final = 2 << 20


class Session:
    """An open sandbox.

    Attributes:
        tier: How code is isolated in it.
    """

    def __init__(self, tier: Tier, opened: Opened, limits: SandboxLimits) -> None:
        self.tier = tier
        self._workers = opened.workers
        self._limits = limits
        self._inputs = opened.inputs
        self._has_files = opened.has_files
        self._spare: Worker | None = None
        self._worker: Worker | None = None
        self._retired: Worker | None = None
        self._paused: Supervision | None = None
        self._is_busy = self._is_closed = False

    async def check(self) -> None:
        """A worker is isolated and waits.

        Raises:
            StartError: It could not be.
        """
        try:
            self._spare = self._spare or await self._workers.start()
            await self._spare.ready()
        except SandboxError as error:
            raise StartError(str(error)) from None

    async def run(
        self,
        code: str,
        *,
        call: Handler | None = None,
        prelude: str = "",
        files: Mapping[str, bytes] | None = None,
        seed: int | None = None,
        clock: float | datetime | None = None,
        fresh: bool = False,
    ) -> Outcome:
        """What came of the code.

        Args:
            code: Python; `await` may stand at its top. Its value is that of the last expression, else of the name that
                was assigned last.
            call: Answers the calls that the code makes: `await call(name, arguments)` or `call_sync(name, arguments)`.
                Without it a run is paused where the code needs answers.
            prelude: Python that runs before, in the same namespace; it counts for no line.
            files: What the working directory has before, by relative paths.
            seed: Chance follows from it; None is real chance.
            clock: The code's time, in seconds since 1970 or as a time with its zone; it stands there, and moves by what
                the code waits for and by the times that replies carry. None is the real clock.
            fresh: Whether to forget the variables and files of earlier runs, and one that is paused.

        Raises:
            UsageError: Another run is under way or paused, the session is closed, or the arguments cannot be sent.
            SandboxError: The sandbox's own processes have ended.
        """
        if not isinstance(seed, int | None):  # pyright: ignore[reportUnnecessaryIsInstance] - whatever was written
            raise UsageError(f"seed: expected a whole number or None, found {seed!r:.100}")
        if not isinstance(clock, float | int | datetime | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"clock: expected seconds since 1970 or a time, found {clock!r:.100}")
        for text in (code, prelude):
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UsageError(f"expected code as text, found {text!r:.100}")
        frames = self._frames_of_files({} if files is None else files)
        start = _to_bytes(
            {
                "op": "run",
                "code": code,
                "prelude": prelude,
                "seed": seed,
                "clock": clock.timestamp() if isinstance(clock, datetime) else clock,
            }
        )
        with self._occupied():
            if self._paused is not None and not fresh:
                raise UsageError("a run is paused here: `answer` it, `close` the session, or begin with fresh=True")
            self._paused = None
            worker = await self._worker_for(fresh=fresh)
            self._write_inputs(files or {})
            supervision = Supervision(worker, self._limits, call)
            return await self._supervised(supervision, [*frames, start])

    async def answer(self, answers: Sequence[Answer]) -> Outcome:
        """What came of the paused run, after all calls that it waits for are answered.

        Args:
            answers: One for each call of `Outcome.waiting`, in that order: a value, a `Reply`, or a failure.

        Raises:
            UsageError: No run is paused, there are more or fewer answers than calls, or one cannot be sent.
            SandboxError: The sandbox's own processes have ended.
        """
        with self._occupied():
            supervision = self._paused
            if supervision is None:
                raise UsageError("no run is paused here")
            try:
                frames = supervision.replies(answers)
            except (TypeError, ValueError, RecursionError) as error:
                raise UsageError(f"these answers cannot be sent into the sandbox: {error}") from None
            self._paused = None
            return await self._supervised(supervision, frames)

    async def close(self) -> None:
        """No process and no file of the sandbox is left; a paused run is over."""
        for worker in (self._worker, self._spare, self._retired):
            if worker is not None:
                await worker.close()
        self._worker = self._spare = self._retired = self._paused = None
        self._is_closed = True
        await self._workers.close()
        if self._inputs is not None:
            shutil.rmtree(self._inputs, ignore_errors=True)

    async def _supervised(self, supervision: Supervision, frames: Iterable[bytes]) -> Outcome:
        outcome: Outcome | None = None
        try:
            outcome = await supervision.until_end(frames)
            return outcome
        finally:
            if self._retired is not None:
                await self._retired.close()
                self._retired = None
            if outcome is None or outcome.status == "killed":
                await self._forget_worker()
            elif outcome.status == "paused":
                self._paused = supervision
            if self._spare is None and outcome is not None:
                with suppress(SandboxError):  # the outcome is not lost with the sandbox; the next run will say
                    self._spare = await self._workers.start()

    async def _worker_for(self, *, fresh: bool) -> Worker:
        if fresh and self._retired is None:
            self._retired, self._worker = self._worker, None  # it is stopped, and ended when there is time for that
            self._remove_inputs()
        if self._worker is None:
            self._worker, self._spare = self._spare or await self._workers.start(), None
        await self._worker.ready()
        return self._worker

    async def _forget_worker(self) -> None:
        if self._worker is not None:
            await self._worker.close()
            self._worker = None
        self._remove_inputs()

    def _remove_inputs(self) -> None:
        for left in self._inputs.iterdir() if self._inputs is not None else ():
            shutil.rmtree(left) if left.is_dir() else left.unlink()

    def _frames_of_files(self, files: Mapping[str, bytes]) -> list[bytes]:
        if not isinstance(files, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - whatever was written
            raise UsageError(f"files: expected contents by their paths, found {files!r:.100}")
        if files and not self._has_files:
            raise UsageError(f"the tier {self.tier.name} has no files: give the content in the code, or by a call")
        for name, content in cast("Mapping[object, object]", files).items():
            if not isinstance(name, str) or not is_file_name(name):
                raise UsageError(f"{name!r} is no relative path of a file that can be put into the sandbox")
            if not isinstance(content, bytes | bytearray):
                raise UsageError(f"files: expected the content of {name!r} as bytes, found {type(content).__name__}")
        if sum(map(len, files.values())) > self._limits.files_bytes or len(files) > self._limits.files:
            raise UsageError("the files are more or larger than `SandboxLimits` says they may be")
        if self._inputs is not None:
            return []
        return [
            _to_bytes(
                {
                    "op": "file",
                    "name": name,
                    "data": base64.b64encode(content[start : start + _PIECE_BYTES]).decode(),
                    "first": start == 0,
                }
            )
            for name, content in files.items()
            for start in range(0, max(len(content), 1), _PIECE_BYTES)
        ]

    def _write_inputs(self, files: Mapping[str, bytes]) -> None:
        if self._inputs is not None:
            try:
                for name, content in files.items():
                    path = self._inputs / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
            except OSError as error:  # a file where another name needs a directory
                raise UsageError(f"the files cannot be put into the sandbox: {error}") from None

    def _occupied(self) -> _Occupied:
        return _Occupied(self)


class _Occupied:
    """While it is entered, a session does one thing."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> None:
        if self._session._is_closed:  # pyright: ignore[reportPrivateUsage] - a part of the session
            raise UsageError("this session is closed: open another")
        if self._session._is_busy:  # pyright: ignore[reportPrivateUsage] - a part of the session
            raise UsageError("a run is under way in this session: wait for it, or open another session")
        self._session._is_busy = True  # pyright: ignore[reportPrivateUsage]

    def __exit__(self, *_: object) -> None:
        self._session._is_busy = False  # pyright: ignore[reportPrivateUsage]


def _to_bytes(content: JsonObject) -> bytes:
    try:
        return frame_of(content)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"this cannot be sent into the sandbox: {error}") from None
