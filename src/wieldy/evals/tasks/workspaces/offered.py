"""The tools by which a model works on the files of a workspace: read, write and run, one call after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from wieldy.core.errors import ToolError, UsageError
from wieldy.evals.tasks.workspaces.commands import Commands
from wieldy.sandbox.texts import is_file_name
from wieldy.tools import tool

_NAMED: Final = 50
"""Files that are named where one is not there."""

_RUN: Final = "Run a command in the workspace, and read what it printed and its exit code. The command is"


def tools_on(commands: Commands) -> list[Callable[..., object]]:
    """What the model may do."""
    one = anyio.Lock()

    @tool(effect="read")
    async def read(path: str) -> str:
        """What is in a file of the workspace.

        Args:
            path: Relative to the workspace; "." lists all files.
        """
        async with one:
            files = await commands.files()
            if path in (".", "", "./"):
                return "\n".join(sorted(files))
            if path not in files:
                raise ToolError(f"There is no file {path!r}. There are: {', '.join(sorted(files)[:_NAMED])}.")
            return files[path].decode("utf-8", errors="replace")

    @tool(effect="idempotent")
    async def write(path: str, content: str) -> str:
        """Write a file of the workspace; one that is there is replaced.

        Args:
            path: Relative to the workspace.
            content: All that is to be in the file.
        """
        async with one:
            if not is_file_name(path):
                raise ToolError(f"{path!r} is no relative path of a file in the workspace.")
            try:
                await commands.write({path: content.encode()})
            except UsageError as error:
                raise ToolError(str(error)) from error
            return f"Written: {path}, {len(content.encode())} bytes."

    @tool(effect="unsafe", description=f"{_RUN} {commands.words}")
    async def run(command: str) -> str:
        async with one:
            return (await commands.run(command)).shown

    return [read, write, run]
