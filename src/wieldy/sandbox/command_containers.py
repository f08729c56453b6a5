"""A container in which command lines run: a shell and all that an image has, on files in a folder of their own.

The engine isolates it as it does containers for code (`Engine.isolated`); but its processes may start others, which no
jail allows. Its first process reads standard input, so the container ends when the program does. Law: a command that is
ended leaves the files as they were before it. Deliberately not here: calls of tools, which code in a `session` makes.
"""

from __future__ import annotations

import secrets
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio

from wieldy.core.errors import SandboxError, SandboxTierError, UsageError
from wieldy.sandbox.archives import files_in, packed, restorable
from wieldy.sandbox.containers import Engine, EngineName, find
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.outputs import Printed
from wieldy.sandbox.texts import printed
from wieldy.sandbox.tiers import StartError

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, Process

FOLDER: Final = "/workspace"

_SHELL: Final = "/bin/sh"
_FIRST_PROCESS: Final = "echo ready; while read -r _; do :; done"
_ENVIRONMENT: Final = {"HOME": "/tmp", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
_PROCESSES: Final = 256
_START_S: Final = 60.0
_COPY_S: Final = 60.0
_ENDING_S: Final = 5.0
_ARCHIVE_BYTES: Final = 1 << 12
"""What an archive may take for each file beside its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """What came of a command line.

    Attributes:
        exit_code: As the engine tells it; None where the command was ended.
        killed_because: The limit that it went beyond, or what else ended it; None where it came to its end.
        stdout, stderr: The beginning of what was printed, without control characters.
    """

    exit_code: int | None
    killed_because: str | None
    stdout: str
    stderr: str


@asynccontextmanager
async def open_command_container(
    image: str, *, limits: SandboxLimits, engines: Sequence[EngineName] = ("podman", "docker")
) -> AsyncGenerator[CommandContainer]:
    """A container that runs, with an empty folder; it is gone at the end.

    Args:
        image: One that is here already, with `/bin/sh` and `tar`.
        limits: `wall_s` and the output's are of each command; memory, files and their sizes of the container.
        engines: The first that works is taken.

    Raises:
        SandboxTierError: None of the engines works here or has the image; with the reasons.
    """
    reasons = dict[str, str]()
    for name in engines:
        container: CommandContainer | None = None
        try:
            try:
                container = CommandContainer(await find(name, image), limits)
                await container.start()
            except (StartError, SandboxError) as error:
                reasons[name] = str(error)
                continue
            yield container
            return
        finally:
            if container is not None:
                await container.close()
    said = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    raise SandboxTierError(
        f"commands in the image {image!r} need podman or docker, and neither can run them here: {said}", reasons=reasons
    )


class CommandContainer:
    """The container, used by one caller at a time."""

    def __init__(self, engine: Engine, limits: SandboxLimits) -> None:
        self._engine = engine
        self._limits = limits
        self._name = ""
        self._first: Process | None = None
        self._archive = packed({})

    @property
    def image(self) -> str:
        """The image's id."""
        return self._engine.image

    async def start(self) -> None:
        """It runs.

        Raises:
            SandboxError: It could not be started, or its image lacks what is needed.
        """
        self._name = f"wieldy-{secrets.token_hex(8)}"
        pipe = subprocess.PIPE
        command = [*self._command(), "--entrypoint", _SHELL, self._engine.image, "-c", _FIRST_PROCESS]
        try:
            self._first = await anyio.open_process(
                command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise SandboxError(f"{self._engine.path} cannot be started: {error}") from None
        said = b""
        with anyio.move_on_after(_START_S), suppress(anyio.EndOfStream):
            assert self._first.stdout is not None
            while b"ready\n" not in said:
                said += await self._first.stdout.receive()
        if b"ready\n" not in said:
            reason = await self._last_words()
            await self.close()
            raise SandboxError(f"the container could not be started: {reason}")

    def _command(self) -> list[str]:
        limits = self._limits
        held = partial(self._engine.isolated, self._name, processes=_PROCESSES)
        folders = (FOLDER, "/tmp")
        return [
            *held(memory_bytes=limits.memory_bytes + len(folders) * limits.files_bytes),
            *(
                part
                for folder in folders
                for part in ("--tmpfs", f"{folder}:rw,exec,nosuid,nodev,size={limits.files_bytes},mode=1777")
            ),
            *("--workdir", FOLDER),
            *(part for name, value in _ENVIRONMENT.items() for part in ("--env", f"{name}={value}")),
        ]

    async def _last_words(self) -> str:
        assert self._first is not None
        assert self._first.stderr is not None
        said = b""
        with anyio.move_on_after(1.0), suppress(anyio.EndOfStream):
            while len(said) < 1 << 14:
                said += await self._first.stderr.receive()
        lines = said.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    async def write(self, files: Mapping[str, bytes]) -> None:
        """The files are in the folder, and those that had their names are not; whatever else is there stays.

        Raises:
            UsageError: They cannot be put there, such as where there is no room.
            SandboxError: The container cannot be used any more.
        """
        outcome, _ = await self._run(("tar", "-xf", "-"), given=packed(files), wall_s=_COPY_S)
        if outcome.exit_code != 0:
            raise UsageError(f"Files could not be put into the container: {outcome.stderr.strip()[-300:]}")
        if not await self._keep():
            await self._again()
            raise UsageError(f"Expected files of {self._limits.files_bytes:,} bytes at most together, found more.")

    async def files(self) -> dict[str, bytes]:
        """The files in the folder as they were when the last command had ended; no links, and no odd names."""
        return files_in(self._archive)

    async def run(self, command: str) -> CommandOutcome:
        """What came of a command line, given to the shell in the folder, without standard input.

        Raises:
            SandboxError: The container cannot be used any more.
        """
        outcome, _ = await self._run((_SHELL, "-c", command), wall_s=self._limits.wall_s)
        because = outcome.killed_because
        if because is None and not await self._keep():
            because = "what it left cannot be gone on from: too many processes, or files that are too many or too large"
        if because is None:
            return outcome
        await self._again()
        return CommandOutcome(exit_code=None, killed_because=because, stdout=outcome.stdout, stderr=outcome.stderr)

    async def _keep(self) -> bool:
        """Whether the files could be taken as they are now."""
        limits = self._limits
        outcome, archive = await self._run(
            ("tar", "-cf", "-", "."), wall_s=_COPY_S, most_bytes=limits.files_bytes + limits.files * _ARCHIVE_BYTES
        )
        if outcome.killed_because is not None:
            return False
        restored = restorable(archive, most_files=limits.files, most_bytes=limits.files_bytes)
        if restored is not None:
            self._archive = restored
        return restored is not None

    async def _again(self) -> None:
        """Another container, with the files that were taken last."""
        await self.close()
        await self.start()
        outcome, _ = await self._run(("tar", "-xf", "-"), given=self._archive, wall_s=_COPY_S)
        if outcome.exit_code != 0:
            raise SandboxError(f"The container could not be begun anew: {outcome.stderr.strip()[-300:]}")

    async def _run(
        self, command: Sequence[str], *, wall_s: float, given: bytes | None = None, most_bytes: int | None = None
    ) -> tuple[CommandOutcome, bytes]:
        """What came of a command, and all bytes that it wrote to standard output, if so many are wanted."""
        output, errors = Printed(), Printed()
        output.begin(self._limits.kept_output_bytes if most_bytes is None else most_bytes)
        errors.begin(self._limits.kept_output_bytes)
        interactive = () if given is None else ("--interactive",)
        try:
            process = await anyio.open_process(
                [self._engine.path, "exec", *interactive, self._name, *command],
                stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                cwd=tempfile.gettempdir(),  # podman's monitor leaves a file there when memory ran out
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"{self._engine.path} cannot be started: {error}") from None
        most = self._limits.output_bytes if most_bytes is None else most_bytes
        because = await _followed(process, given or b"", (output, errors), wall_s=wall_s, most_bytes=most)
        outcome = CommandOutcome(
            exit_code=process.returncode if because is None else None,
            killed_because=because,
            stdout=printed(output.kept) if most_bytes is None else "",
            stderr=printed(errors.kept),
        )
        return outcome, output.kept

    async def close(self) -> None:
        """Nothing of it is left."""
        first, self._first = self._first, None
        if first is None:
            return
        with anyio.CancelScope(shield=True):
            await self._engine.remove(self._name)
            with anyio.move_on_after(_ENDING_S):
                await first.wait()
            if first.returncode is None:
                with suppress(ProcessLookupError):
                    first.kill()
            await first.aclose()


async def _followed(
    process: Process, given: bytes, outputs: tuple[Printed, Printed], *, wall_s: float, most_bytes: int
) -> str | None:
    """Why the process was ended; None where it came to its end, with all that it printed taken."""
    assert process.stdout is not None
    assert process.stderr is not None
    too_much = anyio.Event()

    async def send() -> None:
        if process.stdin is not None:
            with suppress(anyio.BrokenResourceError, OSError):
                await process.stdin.send(given)
            await process.stdin.aclose()

    async def listen(stream: ByteReceiveStream, taken: Printed) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                taken.take(await stream.receive())
                if sum(each.total_bytes for each in outputs) > most_bytes:
                    too_much.set()
                    group.cancel_scope.cancel()

    try:
        with anyio.move_on_after(wall_s) as waiting:
            async with anyio.create_task_group() as group:
                group.start_soon(send)
                group.start_soon(listen, process.stdout, outputs[0])
                group.start_soon(listen, process.stderr, outputs[1])
            if not too_much.is_set():
                await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
            await process.aclose()
    if too_much.is_set():
        return "output_bytes"
    return "wall_s" if waiting.cancelled_caught else None
