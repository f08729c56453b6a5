"""Journals of every kind, each with a way to open the same one again, as another process would."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from wieldy.core.ports import Journal
from wieldy.run.journal import MemoryJournal, PostgresJournal, SqliteJournal, open_journal

sys.path.insert(0, str(Path(__file__).parent))  # the modules that these tests share; there are no packages in tests

KINDS = ("memory", "sqlite", "postgres")

_numbers = itertools.count()


def schema_url(postgres: Any) -> str:
    """The URL of tables that nobody else uses."""
    import psycopg

    name = f"journal_{next(_numbers)}"
    with psycopg.connect(postgres.url) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres.url}?options=-csearch_path%3D{name}"


@pytest.fixture
def new_run() -> Callable[[], str]:
    """Gives ids that no run has."""
    return lambda: f"run-{next(_numbers)}"


@pytest.fixture
def postgres_url(postgres: Any) -> str:
    """A database without any tables yet."""
    return schema_url(postgres)


@pytest.fixture(params=KINDS)
def open_with(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Callable[[], float]], Any]:
    """Opens an empty journal with a clock."""
    if request.param == "memory":
        return lambda clock: nullcontext(MemoryJournal(clock=clock))
    name = tmp_path / "runs.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return lambda clock: open_journal(name, clock=clock)


@pytest.fixture
def journal(open_with: Callable[[Callable[[], float]], Any]) -> Iterator[Journal]:
    """An empty journal whose clock stands still."""
    with open_with(lambda: 7.5) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgres"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The path or URL of a journal that several processes may open."""
    return str(tmp_path / "runs.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture(scope="session", params=KINDS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Journal, Journal]]:
    """The same journal, opened twice; one for all examples of a law, so runs need new ids."""
    if request.param == "memory":
        journal = MemoryJournal()
        yield journal, journal
        return
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("pair") / "runs.db"
        with SqliteJournal(path) as first, SqliteJournal(path) as second:
            yield first, second
        return
    url = schema_url(request.getfixturevalue("postgres"))
    with PostgresJournal(url) as first, PostgresJournal(url) as second:
        yield first, second


_BOUNDED = "import faulthandler; faulthandler.dump_traceback_later(60, exit=True)\n"


class Peer:
    """Another process, which carries out what it is told line by line and answers each with one line."""

    def __init__(self, code: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOUNDED + code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def tell(self, order: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def kill(self) -> None:
        """The process is dead, and nobody has taken notice of it: it is not waited for."""
        self._process.kill()
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait(60)


@pytest.fixture
def start() -> Iterator[Callable[..., Peer]]:
    """Starts processes, which have ended when the test has."""
    peers: list[Peer] = []

    def start_one(code: str, *arguments: str) -> Peer:
        peers.append(Peer(code, *arguments))
        return peers[-1]

    yield start_one
    for peer in peers:
        peer.close()


def run_python(code: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def python() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Runs code in a process of its own, to its end."""
    return run_python
