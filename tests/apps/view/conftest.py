"""A journal with a run of each kind, and the page over it: in this process, or served by the command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the module that these tests share; there are no packages in tests

from view_journals import journal_in

from wieldy.apps.cli.next_commands import NextCommands
from wieldy.apps.view.access import Door
from wieldy.apps.view.application import Viewed, view_application
from wieldy.evals.reports.page import Redaction
from wieldy.run.journal import SqliteJournal


class Seen:
    """The page in this process.

    Attributes:
        door: What it is behind.
        entered: Headers of a browser that has been given the key.
    """

    def __init__(self, file: Path, *, redact: tuple[str, ...] = (), decides: bool = False) -> None:
        viewed = Viewed(
            journal=lambda: SqliteJournal(file, read_only=True),
            commands=NextCommands(journal="runs.db"),
            redaction=Redaction(redact),
            decide_in=(lambda: SqliteJournal(file)) if decides else None,
            by="anna",
            name="runs.db",
        )
        self.door = Door(view_application(viewed), name="view")

    @asynccontextmanager
    async def client(self, *, enters: bool = True) -> AsyncGenerator[httpx2.AsyncClient]:
        transport = httpx2.ASGITransport(app=self.door)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:5000") as http:
            if enters:
                assert (await http.get(f"/?{self.door.query}")).status_code == 200
            yield http


async def told(http: httpx2.AsyncClient, route: str, **parameters: str | int) -> dict[str, Any]:
    answer = await http.get(f"/api/{route}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The file, and the ids of its runs by what they are; tests of a module share it."""
    return journal_in(tmp_path_factory.mktemp("view"))


@pytest.fixture
def own(journal: tuple[Path, dict[str, str]], tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """The same for a test that writes to it."""
    return Path(shutil.copy(journal[0], tmp_path)), journal[1]


@pytest.fixture
def seen() -> Callable[..., Seen]:
    return Seen


@pytest.fixture(scope="module")
def served(journal: tuple[Path, dict[str, str]]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as a process, and the address that it has printed."""
    command = [sys.executable, "-W", "error", "-m", "wieldy.apps.cli.main", "view", "--journal", str(journal[0])]
    process = subprocess.Popen(
        [*command, "--json", "--allow-decisions", "--by", "anna"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    yield process, json.loads(process.stdout.readline())["url"]
    process.terminate()
    process.communicate(timeout=60)
