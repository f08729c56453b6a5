"""What one run's guest may say, and what it means: a state machine that decides and never waits.

The law: the guest asks for a batch of calls and says nothing more until all of them are answered; after `done` or
`error` nothing comes. Whatever else it says is a `Violation` that names why the run is killed. Sizes and names of files
are checked here too.
"""

from __future__ import annotations

import base64
import binascii
from typing import cast

from wieldy.core.json import JsonObject, JsonValue
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.outcome import Artifact, CodeError, GuestCall, KilledBecause
from wieldy.sandbox.texts import is_file_name, leads_elsewhere, media_type_of, printed, shown_name

_TEXT_CHARACTERS = 20_000
_MOST_REMARKS = 20
_BAD_NAME = "its name is too long, or has characters that not every system takes"
_BATCH_BYTES = 16 << 20


class Violation(Exception):  # noqa: N818 - not an error of ours: a verdict about the guest
    """The run is to be killed, for that reason."""

    def __init__(self, because: KilledBecause, detail: str = "") -> None:
        super().__init__(detail or because)
        self.because: KilledBecause = because


class Conversation:
    """One run, from the code that was sent to its end.

    Attributes:
        calls: How many were made; the next one gets the number that follows.
        waiting: The batch that is to be answered, once all of it has come.
        has_ended: Whether `done` or `error` came.
        is_exhausted: Whether the code ended because it got no more memory.
    """

    def __init__(self, limits: SandboxLimits) -> None:
        self._limits = limits
        self.calls = 0
        self.waiting: tuple[GuestCall, ...] = ()
        self.has_ended = False
        self.is_exhausted = False
        self.value: JsonValue = None
        self.value_repr: str | None = None
        self.error: CodeError | None = None
        self._artifacts: dict[str, bytearray] = {}
        self._unfinished: str | None = None
        self._left_out: dict[str, str] = {}
        self._files = 0
        self._artifact_bytes = 0
        self._asked: list[GuestCall] = []
        self._asked_bytes = 0

    def take(self, frame: JsonObject, size_bytes: int = 0) -> None:
        """What the guest said is known.

        Args:
            frame: As it was read.
            size_bytes: How long it was; a batch is held here, so there is a limit to it.

        Raises:
            Violation: The guest never says that, or it is beyond a limit.
        """
        operation = frame.get("op")
        if self.has_ended or self.waiting:
            raise Violation("protocol", "a frame after the end, or before calls were answered")
        if operation == "calls":
            self._take_calls(frame, size_bytes)
        elif self._asked:
            raise Violation("protocol", "something between the calls of a batch")
        elif operation == "artifact":
            self._artifact(frame)
        elif operation == "done":
            self._done(frame)
        elif operation == "error":
            self._error(frame)
        else:
            raise Violation("protocol", "a frame of no known kind")

    def answered(self) -> None:
        """All calls of the batch have their answers."""
        self.waiting, self._asked_bytes = (), 0

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """The files that came whole."""
        return tuple(
            Artifact(name=name, media_type=media_type_of(name), content=bytes(content))
            for name, content in self._artifacts.items()
            if name != self._unfinished
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Which files are not among the artifacts, and why."""
        told = [f"The file {shown_name(name)} is left out: {why}." for name, why in self._left_out.items()]
        more = len(told) - _MOST_REMARKS
        return (*told[:_MOST_REMARKS], *([f"{more} more files are left out."] if more > 0 else []))

    def _take_calls(self, frame: JsonObject, size_bytes: int) -> None:
        asked, has_more = frame.get("calls"), frame.get("more")
        if not isinstance(asked, list) or not asked or not isinstance(has_more, bool):
            raise Violation("protocol", "a batch that the guest never writes")
        self._asked_bytes += size_bytes
        if self.calls + len(asked) > self._limits.calls or self._asked_bytes > _BATCH_BYTES:
            raise Violation("calls")
        for each in asked:
            self.calls += 1
            self._asked.append(_call_in(each, self.calls))
        if not has_more:
            self.waiting, self._asked = tuple(self._asked), []

    def _artifact(self, frame: JsonObject) -> None:
        name, why = frame.get("name"), frame.get("left_out")
        content = b"" if isinstance(why, str) else _bytes_of(frame.get("data"))
        if not isinstance(name, str) or leads_elsewhere(name):
            raise Violation("files", "a file's name that leads elsewhere")
        is_new = name != self._unfinished
        if is_new and (name in self._artifacts or self._unfinished is not None):
            raise Violation("protocol", "pieces of two files at once, or a file twice")
        self._artifact_bytes += len(content)
        self._files += is_new
        if self._files > self._limits.files or self._artifact_bytes > self._limits.files_bytes:
            raise Violation("files")
        if isinstance(why, str):
            self._left_out[name] = _shown(why)
        elif not is_file_name(name):
            self._left_out[name] = _BAD_NAME
        else:
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


def _call_in(asked: JsonValue, seq: int) -> GuestCall:
    name, arguments = (asked.get("name"), asked.get("arguments")) if isinstance(asked, dict) else (None, None)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Violation("protocol", "a call that the guest never writes")
    return GuestCall(seq=seq, name=name, arguments=arguments)


def _shown(text: str) -> str:
    return printed(text[:_TEXT_CHARACTERS].encode())


def _bytes_of(data: JsonValue) -> bytes:
    if not isinstance(data, str):
        raise Violation("protocol", "a file without content")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise Violation("protocol", "a file that is no base64") from None
