"""What one run's guest may say, and what it means: a state machine that decides and never waits.

The law: calls are numbered 1, 2, 3 without gaps, each is answered once, and after `done` or `error` nothing comes.
Whatever else the guest says is a `Violation` that names why the run is killed. Sizes and names of files are checked
here too.
"""

from __future__ import annotations

import base64
import binascii
from typing import cast

from wieldy.core.json import JsonObject, JsonValue
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.outcome import Artifact, CodeError, GuestCall, KilledBecause
from wieldy.sandbox.texts import is_file_name, media_type_of, printed

_TEXT_CHARACTERS = 20_000
_OPEN_BYTES = 16 << 20


class Violation(Exception):  # noqa: N818 - not an error of ours: a verdict about the guest
    """The run is to be killed, for that reason."""

    def __init__(self, because: KilledBecause, detail: str = "") -> None:
        super().__init__(detail or because)
        self.because: KilledBecause = because


class Conversation:
    """One run, from the code that was sent to its end.

    Attributes:
        calls: How many were made.
        running: Calls that a handler is at work on.
        waiting: Calls whose handlers said that the answer comes later.
        has_ended: Whether `done` or `error` came.
        is_exhausted: Whether the code ended because it got no more memory.
    """

    def __init__(self, limits: SandboxLimits) -> None:
        self._limits = limits
        self.calls = 0
        self.running: dict[int, GuestCall] = {}
        self.waiting: dict[int, GuestCall] = {}
        self.has_ended = False
        self.is_exhausted = False
        self.value: JsonValue = None
        self.value_repr: str | None = None
        self.error: CodeError | None = None
        self._artifacts: dict[str, bytearray] = {}
        self._unfinished: str | None = None
        self._artifact_bytes = 0
        self._open_bytes: dict[int, int] = {}

    def take(self, frame: JsonObject, size_bytes: int = 0) -> GuestCall | None:
        """What the guest said is known; a call is given back, to be answered.

        Args:
            frame: As it was read.
            size_bytes: How long it was; what waits for answers is held here, so there is a limit to it.

        Raises:
            Violation: The guest never says that, or it is beyond a limit.
        """
        operation = frame.get("op")
        if self.has_ended:
            raise Violation("protocol", "a frame after the end")
        if operation == "call":
            return self._call(frame, size_bytes)
        if operation == "artifact":
            self._artifact(frame)
        elif operation == "done":
            self._done(frame)
        elif operation == "error":
            self._error(frame)
        else:
            raise Violation("protocol", "a frame of no known kind")
        return None

    def answered(self, seq: int) -> None:
        """The call has its answer."""
        self.running.pop(seq, None)
        self.waiting.pop(seq, None)
        self._open_bytes.pop(seq, None)

    def postponed(self, seq: int) -> None:
        """The call waits for an answer from elsewhere."""
        self.waiting[seq] = self.running.pop(seq)

    @property
    def is_paused(self) -> bool:
        """Whether every call that has no answer waits for one from elsewhere, and there is such a call."""
        return bool(self.waiting) and not self.running and not self.has_ended

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """The files that came whole."""
        return tuple(
            Artifact(name=name, media_type=media_type_of(name), content=bytes(content))
            for name, content in self._artifacts.items()
            if name != self._unfinished
        )

    def _call(self, frame: JsonObject, size_bytes: int) -> GuestCall:
        seq, name, arguments = frame.get("seq"), frame.get("name"), frame.get("arguments")
        if (
            type(seq) is not int
            or seq != self.calls + 1
            or not isinstance(name, str)
            or not isinstance(arguments, dict)
        ):
            raise Violation("protocol", "a call that the guest never writes")
        self._open_bytes[seq] = size_bytes
        if self.calls >= self._limits.calls or sum(self._open_bytes.values()) > _OPEN_BYTES:
            raise Violation("calls")
        self.calls = seq
        call = GuestCall(seq=seq, name=name, arguments=arguments)
        self.running[seq] = call
        return call

    def _artifact(self, frame: JsonObject) -> None:
        name, content = frame.get("name"), _bytes_of(frame.get("data"))
        if not isinstance(name, str) or not is_file_name(name):
            raise Violation("files", "a file's name that leads elsewhere or cannot be shown")
        if name != self._unfinished and (name in self._artifacts or self._unfinished is not None):
            raise Violation("protocol", "pieces of two files at once, or a file twice")
        self._artifact_bytes += len(content)
        files = len({*self._artifacts, name})
        if files > self._limits.files or self._artifact_bytes > self._limits.files_bytes:
            raise Violation("files")
        self._artifacts.setdefault(name, bytearray()).extend(content)
        self._unfinished = None if frame.get("last") is True else name

    def _done(self, frame: JsonObject) -> None:
        described = frame.get("repr")
        if described is not None and not isinstance(described, str):
            raise Violation("protocol", "a description that is no text")
        self.has_ended = True
        self.value_repr = described if described is None else _shown(described)
        self.value = frame.get("value") if described is None else None

    def _error(self, frame: JsonObject) -> None:
        texts = [frame.get("type"), frame.get("message"), frame.get("traceback")]
        line = frame.get("line")
        if not all(isinstance(text, str) for text in texts) or not (line is None or type(line) is int):
            raise Violation("protocol", "an error that the guest never writes")
        kind, message, traceback = (_shown(text) for text in cast("list[str]", texts))
        self.has_ended = True
        self.is_exhausted = frame.get("exhausted") is True
        self.error = CodeError(type=kind, message=message, line=line, traceback=traceback)


def _shown(text: str) -> str:
    return printed(text[:_TEXT_CHARACTERS].encode())


def _bytes_of(data: JsonValue) -> bytes:
    if not isinstance(data, str):
        raise Violation("protocol", "a file without content")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Violation("protocol", "a file that is no base64") from None
