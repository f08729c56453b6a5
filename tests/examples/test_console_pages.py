"""Whoever writes the files of these pages and types their commands into one terminal sees what the pages show."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

for needed in ("mcp_types", "numpy"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")

DOCS = Path(__file__).parents[2] / "docs"
PORTS = ("8800", "8801", "8765")
READY = {
    "uvicorn": "(: < /dev/tcp/127.0.0.1/8800)",
    "kill": "(: < /dev/tcp/127.0.0.1/8801)",
    "python": "(: < /dev/tcp/127.0.0.1/8801)",
    "wieldy": "grep 'cannot be called' gateway.log",
    "curl": "wieldy approve last --journal calls.db | grep '[?]'",
}
"""How somebody sees that what goes on behind the terminal has come so far, by the command's first word."""
BOUND_S = 120


@dataclass(frozen=True, slots=True)
class Command:
    """What is typed, and what is then shown; `...` stands for anything."""

    typed: str
    shown: str

    @property
    def stays(self) -> bool:
        return self.typed.endswith("&")

    def matches(self, printed: str) -> bool:
        pattern = ".*".join(map(re.escape, self.shown.rstrip("\n").split("...")))
        return re.fullmatch(pattern, printed.rstrip("\n"), flags=re.DOTALL) is not None


def files_of(page: str) -> dict[str, str]:
    """What the page says to write, each under the name that was mentioned last before it."""
    parts = re.split(r"^```(\w*)\n(.*?)^```\n", page, flags=re.DOTALL | re.MULTILINE)
    blocks = zip(parts[0::3], parts[1::3], parts[2::3], strict=False)
    return {
        re.findall(r"`(\w+\.\w+)`", prose)[-1]: content
        for prose, language, content in blocks
        if language in ("python", "json", "yaml")
    }


def commands_of(page: str) -> Iterator[Command]:
    for block in re.findall(r"^```console\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
        for said in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            typed, _, shown = said.partition("\n")
            yield Command(typed, shown)


def script_of(commands: list[Command]) -> str:
    """For one shell: each command in turn, what it prints in a file of its own."""
    lines: list[str] = []
    for number, command in enumerate(commands):
        lines.append(f"{{ {command.typed}\n}} > {number}.printed 2>&1")
        if command.stays:
            lines.append(f"until {READY[shlex.split(command.typed)[0]]}; do sleep 0.05; done > {number}.ready 2>&1")
    return "\n".join(lines)


def free_ports() -> dict[str, str]:
    """One for each port of the pages, for others may use these."""
    with ExitStack() as taken:
        places = {port: taken.enter_context(socket.socket()) for port in PORTS}
        for place in places.values():
            place.bind(("127.0.0.1", 0))
        return {port: str(place.getsockname()[1]) for port, place in places.items()}


@pytest.mark.parametrize("page", ["tutorial-services.md", "tutorial-evaluation.md"])
def test_every_command_shows_what_the_page_says(page: str, forked_wieldy: tuple[str, ...], tmp_path: Path) -> None:
    free = free_ports()

    def moved(text: str) -> str:
        return re.sub(rf"\b(?:{'|'.join(PORTS)})\b", lambda found: free[found[0]], text)

    text = (DOCS / page).read_text(encoding="utf-8")
    commands = list(commands_of(moved(text)))
    assert commands
    folder, programs = tmp_path / "reader", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    wieldy = programs / "wieldy"
    wieldy.write_text(f'#!/bin/sh\nexec {shlex.join(forked_wieldy)} "$@"\n')
    wieldy.chmod(0o755)
    for name, content in files_of(moved(text)).items():
        (folder / name).write_text(content, encoding="utf-8")
    follow(moved(script_of(commands)), folder, [programs, Path(sys.executable).parent])
    for number, command in enumerate(commands):
        printed = (folder / f"{number}.printed").read_text(encoding="utf-8")
        assert command.stays or command.matches(printed), f"{command.typed}\n{printed}"


def follow(script: str, folder: Path, programs: list[Path]) -> None:
    """All of it was typed, and nothing goes on afterwards."""
    environment = {
        "PATH": os.pathsep.join([*map(str, programs), os.environ["PATH"]]),
        "HOME": str(folder),
        "LANG": "C.UTF-8",
    }
    with subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, start_new_session=True) as shell:
        try:
            assert shell.wait(BOUND_S) == 0
        finally:
            with suppress(ProcessLookupError):  # nothing was left behind
                os.killpg(shell.pid, signal.SIGKILL)
