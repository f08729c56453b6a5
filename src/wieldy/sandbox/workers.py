"""What a session needs of a tier: processes that run code, each with a channel, outputs, and a way to be ended.

Above it everything is the same for all tiers and all systems (`session`, `supervisor`, `conversation`); below it are
the jails (`jail`), and whatever speaks over standard input and output (`piped`).
"""

from __future__ import annotations

from typing import Protocol

from wieldy.sandbox.frames import FrameReader
from wieldy.sandbox.outputs import Printed


class Worker(Protocol):
    """A process that runs code.

    Attributes:
        reader: Frames that it sent.
        is_closed: Whether it sends nothing any more.
    """

    reader: FrameReader
    is_closed: bool

    @property
    def output(self) -> Printed:
        """What it printed in the present run."""
        ...

    @property
    def errors(self) -> Printed:
        """What it wrote to standard error in the present run."""
        ...

    async def ready(self) -> None:
        """It is isolated and waits for code.

        Raises:
            SandboxError: It could not be; nothing ran.
        """
        ...

    def comes_soon(self) -> bool:
        """Whether there is something to read, after a moment's wait if it came at once of late.

        The event loop stands still for that moment; going through it costs as much. A tier need not try.
        """
        ...

    async def readable(self) -> None:
        """Waits until there is something to read, or what was left unsent can be sent."""
        ...

    def read(self) -> None:
        """Takes what is there.

        Raises:
            ProtocolError: It is nothing that a worker sends.
        """
        ...

    def drain(self) -> None:
        """Takes what is left of the outputs; the worker is stopped or dead."""
        ...

    @property
    def unsent_bytes(self) -> int:
        """What it has not read yet, beyond what fits in the channel."""
        ...

    def send(self, frame: bytes) -> None:
        """The frame is sent, or what is left of it waits for the worker to read."""
        ...

    def cpu_s(self) -> float:
        """CPU time that the process has used; 0 when it has ended, and where nobody can tell."""
        ...

    def delayed_s(self) -> float:
        """Time in which the process could have run and others had its core; 0 where nobody can tell."""
        ...

    def threads_and_peak(self) -> tuple[int, int]:
        """Threads of the process, and the most bytes that it had in memory; 0 bytes where nobody can tell."""
        ...

    def stop(self) -> None:
        """The process does nothing until `go_on`, if the tier has a means to hold it; it may be stopped already."""
        ...

    def go_on(self) -> None:
        """The process goes on, if it was stopped."""
        ...

    async def ends_by_itself(self) -> bool:
        """Whether the process, whose channel is closed, is ending; then it has ended afterwards."""
        ...

    async def end(self) -> tuple[int, float, int]:
        """Ends the process: how it ended (as `subprocess` has it), its CPU seconds, the most bytes that it had."""
        ...

    async def close(self) -> None:
        """The process is ended, and nothing of it is left."""
        ...


class Workers(Protocol):
    """Where workers come from."""

    async def start(self) -> Worker:
        """A worker that is about to be ready.

        Raises:
            SandboxError: None can be started any more.
        """
        ...

    async def close(self) -> None:
        """What the workers came from is not there any more."""
        ...
