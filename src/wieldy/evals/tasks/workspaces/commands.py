"""Commands of a workspace: where they run, and what came of one. Here those of the sandbox, which has Python only.

Law: a command that was ended leaves the files as they were before it. Each runs in a fresh worker, as `python FILE`,
`python -m MODULE` or `python -c CODE` would: the worker can start no other program. Its exit code is what the worker
says, which code there could forge. Deliberately not here: containers, which have other programs (`images`).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from wieldy.core.errors import ToolError

if TYPE_CHECKING:
    from wieldy.sandbox import Outcome, Session

Files = dict[str, bytes]

PYTHON: Final = ("python", "python3")

_RUNNER: Final = """
def _run_command(arguments):
    import os, runpy, sys, traceback
    sys.dont_write_bytecode = True
    place = os.getcwd()  # what runs here may go elsewhere
    first, rest = arguments[0], arguments[1:]
    code = 0
    try:
        if first == "-m":
            sys.argv[:] = rest
            sys.path.insert(0, place)
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        elif first == "-c":
            sys.argv[:] = ["-c", *rest[1:]]
            sys.path.insert(0, place)
            exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
        else:
            sys.argv[:] = arguments
            sys.path.insert(0, os.path.dirname(os.path.abspath(first)))
            runpy.run_path(first, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            code = int(end.code or 0)
        else:
            print(end.code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    there = [
        os.path.relpath(os.path.join(folder, name), place)
        for folder, _, names in os.walk(place)
        for name in names
    ]
    return {"exit_code": code, "files": there}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of a command.

    Attributes:
        exit_code: None where it was killed.
        killed_because: The limit that it went beyond, or how else it was ended; None where it came to its end.
    """

    exit_code: int | None
    killed_because: str | None
    stdout: str
    stderr: str

    @property
    def shown(self) -> str:
        """As a model reads it."""
        end = f"killed: {self.killed_because}" if self.exit_code is None else f"exit code {self.exit_code}"
        return "\n".join(part.rstrip("\n") for part in (self.stdout, self.stderr, f"[{end}]") if part)


class Commands(Protocol):
    """Files, and commands that run on them, one after the other."""

    @property
    def words(self) -> str:
        """What a command may be, for a model."""
        ...

    async def files(self) -> Files:
        """The files as they are."""
        ...

    async def write(self, files: Mapping[str, bytes]) -> None:
        """The files are there, and replace those that had their names.

        Raises:
            UsageError: They cannot be put there together.
        """
        ...

    async def run(self, command: str) -> Ran:
        """What came of the command.

        Raises:
            ToolError: It is none that can be run.
            UsageError: There are more or larger files than there may be.
            SandboxError: The sandbox's own processes have ended.
        """
        ...


class PythonCommands:
    """Those of a sandbox."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._files: Files = {}

    @property
    def words(self) -> str:
        """What a command may be."""
        return "`python FILE`, `python -m MODULE` or `python -c CODE`, with arguments; there is no shell."

    async def files(self) -> Files:
        """The files as they are."""
        return dict(self._files)

    async def write(self, files: Mapping[str, bytes]) -> None:
        """The files are there, and replace those that had their names."""
        self._files.update(files)

    async def run(self, command: str) -> Ran:
        """What came of the command."""
        code = f"_end = _run_command({arguments_of(command)!r})"
        outcome = await self._session.run(code, prelude=_RUNNER, files=dict(self._files), fresh=True)
        end = _end_of(outcome)
        if end is None:
            error = "no word of its end" if outcome.error is None else outcome.error.type
            because = outcome.killed_because or error
            return Ran(exit_code=None, killed_because=because, stdout=outcome.stdout, stderr=outcome.stderr)
        exit_code, there = end
        kept = {name: content for name, content in self._files.items() if name in there}
        self._files = {**kept, **{each.name: each.content for each in outcome.artifacts}}
        return Ran(exit_code=exit_code, killed_because=None, stdout=outcome.stdout, stderr=outcome.stderr)


def arguments_of(command: str) -> list[str]:
    """What Python is given.

    Raises:
        ToolError: It is another program, or nothing is given to Python.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ToolError(f"The command {command!r} cannot be read: {error}.") from error
    is_complete = len(words) > 1 and (words[1] not in ("-m", "-c") or len(words) > 2)
    if not is_complete or words[0] not in PYTHON or (words[1].startswith("-") and words[1] not in ("-m", "-c")):
        raise ToolError(
            f"Expected `python FILE`, `python -m MODULE` or `python -c CODE` with arguments, found {command!r}: the "
            "sandbox has no other program, and no shell. A workspace with an `image` runs any command line."
        )
    return words[1:]


def _end_of(outcome: Outcome) -> tuple[int, set[str]] | None:
    """The exit code and the names of files, as the worker says; None if it says something else."""
    value: Any = outcome.value
    if outcome.status != "done" or not isinstance(value, dict):
        return None
    said = cast("dict[str, Any]", value)
    code, names = said.get("exit_code"), said.get("files")
    if not isinstance(code, int) or not isinstance(names, list):
        return None
    return code, {str(name) for name in cast("list[object]", names)}
