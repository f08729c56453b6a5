"""The environment of a task that is worked on in files: tools to read, write and run, and a check in a fresh sandbox.

Law: the check sees the files that the model left, but protected ones as they were at the start. Deliberately not here:
how commands are run (`commands` for Python in the sandbox, `images` for any program in a container).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from wieldy import sandbox
from wieldy.core.errors import ToolError, UsageError
from wieldy.core.json import digest
from wieldy.evals.tasks.environments import Stage
from wieldy.evals.tasks.parts import check_texts
from wieldy.evals.tasks.workspaces.checking import (
    CHECK,
    EDITED,
    FAIL_TO_PASS,
    HIDDEN,
    NOT_RUN,
    PASS_TO_PASS,
    edited,
    hiding,
    restored,
)
from wieldy.evals.tasks.workspaces.commands import Commands, Files, PythonCommands, Ran, arguments_of
from wieldy.evals.tasks.workspaces.images import open_image
from wieldy.evals.tasks.workspaces.offered import tools_on
from wieldy.evals.tasks.workspaces.runners import results_in
from wieldy.evals.verdicts.verdict import Verdict, failed
from wieldy.sandbox import SandboxLimits

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue

_KEPT: Final = 4_000
"""Characters of a check's output that are recorded, from its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Files, and a command that checks what became of them.

    Attributes:
        files: What is there at the start, by relative paths.
        check: The command: `python -m unittest -v`, `python check.py`; with an image any command line.
        setup: A command that runs before the model is asked; None for none.
        protected: Patterns of files that must stay as they are, such as `tests/*`.
        fail_to_pass: Names of tests that fail at the start and must pass in the end, as the check tells them.
        pass_to_pass: Names of tests that pass at the start and must still do. With neither, the exit code must be 0.
        timeout_s: Seconds that one command may take.
        packages: Of this Python, that commands may import: they can then read all that are installed.
        image: Of a container in which commands run, which must be here and have `/bin/sh` and `tar`; None for Python in
            the sandbox.
    """

    files: Mapping[str, bytes]
    check: str
    setup: str | None = None
    protected: tuple[str, ...] = ()
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    timeout_s: float = 20.0
    packages: tuple[str, ...] = ()
    image: str | None = None

    def __post_init__(self) -> None:
        for name in ("protected", "fail_to_pass", "pass_to_pass", "packages"):
            check_texts(f"Workspace.{name}", getattr(self, name))
        if self.image is not None:
            self._check_of_image(self.image)
            return
        for command in (self.check, self.setup):
            try:
                arguments_of("python -c pass" if command is None else command)
            except ToolError as error:
                raise UsageError(str(error)) from error

    def _check_of_image(self, image: str) -> None:
        if not image.strip() or image.startswith("-"):
            raise UsageError(f"Expected the name of an image in `image`, found {image!r}.")
        if self.packages:
            raise UsageError("Expected no `packages` beside an `image`, which has its own; found both.")
        for name, command in (("check", self.check), ("setup", self.setup)):
            if command is not None and not command.strip():
                raise UsageError(f"Expected a command line in `{name}`, found {command!r}.")

    @property
    def identity(self) -> str:
        """A digest of the files and of all that is said of them."""
        files = {name: digest(content.hex()) for name, content in self.files.items()}
        tests = [self.fail_to_pass, self.pass_to_pass]
        return digest(files, self.check, self.setup, self.protected, tests, self.timeout_s, self.packages, self.image)

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[Stage]:
        """The files in a sandbox of their own, set up.

        Raises:
            UsageError: Code cannot be isolated on this machine, or setting up failed.
        """
        async with self._commands() as commands:
            await commands.write(self.files)
            if self.setup is not None:
                ran = await commands.run(self.setup)
                if ran.exit_code != 0:
                    raise UsageError(f"The workspace could not be set up: {self.setup}: {ran.shown[-_KEPT:]}")
            start = await commands.files()

            async def look() -> JsonValue:
                return await self._checked(start, await commands.files())

            yield Stage(tools=tools_on(commands), look=look)

    def judge(self, end: JsonValue) -> Verdict | str | None:
        """What is wrong with what the check found."""
        found = cast("dict[str, Any]", end)
        if found["edited"]:
            return failed(f"{EDITED}: {', '.join(found['edited'])} must stay as they were")
        if found["hiding"]:
            return failed(f"{HIDDEN}: {', '.join(found['hiding'])} would be imported in place of the standard library")
        if found["exit_code"] is None:
            return f"{NOT_RUN}: the check was killed ({found['killed_because']})"
        for code, names in ((FAIL_TO_PASS, self.fail_to_pass), (PASS_TO_PASS, self.pass_to_pass)):
            for name in names:
                if found["tests"].get(name) is not True:
                    said = "failed" if name in found["tests"] else "was not run"
                    return f"{code}: the test {name} {said}"
        if not (self.fail_to_pass or self.pass_to_pass) and found["exit_code"] != 0:
            return f"{CHECK}: `{self.check}` ended with exit code {found['exit_code']}"
        return None

    def measures(self, end: JsonValue) -> Mapping[str, float]:
        """That it was checked, and how many of the tests that count have passed."""
        found = cast("dict[str, Any]", end)
        names = (*self.fail_to_pass, *self.pass_to_pass)
        passed = sum(found["tests"].get(name) is True for name in names)
        return {"has_check": 1, "tests": len(names), "tests_passed": passed}

    async def _checked(self, start: Files, now: Files) -> JsonValue:
        files = restored(start, now, self.protected)
        async with self._commands() as commands:  # others: nothing that the model ran is there
            try:
                await commands.write(files)
                ran = await commands.run(self.check)
            except UsageError as error:  # the files that the model left cannot be put there together
                ran = Ran(exit_code=None, killed_because=str(error), stdout="", stderr="")
        return {
            "exit_code": ran.exit_code,
            "killed_because": ran.killed_because,
            "tests": dict(results_in(f"{ran.stdout}\n{ran.stderr}")),
            "edited": list(edited(start, now, self.protected)),
            "hiding": list(hiding(start, now)),
            "output": ran.shown[-_KEPT:],
        }

    @asynccontextmanager
    async def _commands(self) -> AsyncGenerator[Commands]:
        if self.image is not None:
            async with open_image(self.image, timeout_s=self.timeout_s) as opened:
                yield opened
            return
        limits = SandboxLimits(wall_s=self.timeout_s, cpu_s=self.timeout_s)
        async with sandbox.open(["jail-ns", "podman", "docker"], limits=limits, packages=self.packages) as session:
            yield PythonCommands(session)
