"""Commands of a workspace that names an image: any command line, in a container of podman or docker.

Deliberately not here: starting containers (`wieldy.sandbox.command_containers`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from wieldy.evals.tasks.workspaces.commands import Files, Ran
from wieldy.sandbox import SandboxLimits
from wieldy.sandbox.command_containers import CommandContainer, open_command_container

_MEMORY_BYTES: Final = 1 << 30
_FILES: Final = 10_000
_FILES_BYTES: Final = 256 << 20


class ImageCommands:
    """Those of a container."""

    def __init__(self, container: CommandContainer) -> None:
        self._container = container

    @property
    def words(self) -> str:
        """What a command may be."""
        return "a line for the shell; it has no standard input, and there is no network."

    async def files(self) -> Files:
        """The files as they are."""
        return await self._container.files()

    async def write(self, files: Mapping[str, bytes]) -> None:
        """The files are there, and replace those that had their names."""
        await self._container.write(files)

    async def run(self, command: str) -> Ran:
        """What came of the command."""
        outcome = await self._container.run(command)
        return Ran(
            exit_code=outcome.exit_code,
            killed_because=outcome.killed_because,
            stdout=outcome.stdout,
            stderr=outcome.stderr,
        )


@asynccontextmanager
async def open_image(image: str, *, timeout_s: float) -> AsyncGenerator[ImageCommands]:
    """A container of the image, with an empty folder.

    Raises:
        SandboxTierError: No container can be started here, or there is no such image.
    """
    limits = SandboxLimits(wall_s=timeout_s, memory_bytes=_MEMORY_BYTES, files=_FILES, files_bytes=_FILES_BYTES)
    async with open_command_container(image, limits=limits) as container:
        yield ImageCommands(container)
