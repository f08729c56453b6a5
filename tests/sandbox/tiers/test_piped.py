"""What comes over standard output is believed in nothing, and no process is left, whatever the other end does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import SandboxError
from wieldy.sandbox import SandboxLimits, Session, Tier, piped
from wieldy.sandbox.frames import ProtocolError
from wieldy.sandbox.inside import pieces
from wieldy.sandbox.inside.pieces import PieceReader, TooLongError, piece
from wieldy.sandbox.options import Opened
from wieldy.sandbox.piped import PipedWorker, open_piped

from .conftest import opening
from .container_images import IMAGE

LIMITS = SandboxLimits(wall_s=60, calls=20, output_bytes=1 << 20)
READY = '{"op":"ready"}'
PRELUDE = f"""
import json, os, sys, time
def tell(stream, content):
    sys.stdout.buffer.write(stream.encode() + len(content).to_bytes(4, "big") + content)
    sys.stdout.buffer.flush()
def say(*contents):
    encoded = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in contents]
    tell("c", b"".join(len(each).to_bytes(4, "big") + each for each in encoded))
say({READY!r}.encode())
os.read(0, 1 << 20)
"""

STREAMS = st.sampled_from([pieces.CHANNEL, pieces.OUTPUT, pieces.USAGE, pieces.ENDED, 0, 255])


@given(st.lists(st.tuples(STREAMS, st.binary(max_size=40))), st.lists(st.integers(1, 30), min_size=1))
def test_pieces_are_the_same_wherever_the_bytes_are_cut(told: list[tuple[int, bytes]], cuts: list[int]) -> None:
    content = b"".join(piece(stream, each) for stream, each in told)
    reader, found = PieceReader(), list[tuple[int, bytes]]()
    while content:
        for cut in cuts:
            reader.feed(content[:cut])
            content = content[cut:]
            while (taken := reader.next()) is not None:
                found.append(taken)
    assert found == told
    assert reader.next() is None


def test_a_piece_that_says_it_is_longer_than_any_is_not_waited_for() -> None:
    reader = PieceReader()
    reader.feed(b"c\xff\xff\xff\xff")
    with pytest.raises(TooLongError):
        reader.next()


class Others:
    """Workers that are a script of the tests, in place of a sandbox."""

    def __init__(self, script: str) -> None:
        self._script = script
        self.pids: list[int] = []

    async def start(self) -> PipedWorker:
        worker = await open_piped([sys.executable, "-c", self._script], b"", None)
        self.pids.append(worker._process.pid)
        return worker

    async def close(self) -> None:
        pass


async def session_of(script: str, wall_s: float = 60) -> tuple[Session, Others]:
    others = Others(script)
    tier = Tier(name="other", works=True, isolates=(), leaves=())
    return Session(tier, Opened(workers=others, notes=()), replace(LIMITS, wall_s=wall_s)), others


def is_there(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


NEVER = "while os.read(0, 1 << 16): pass"
"""Until its standard input is closed."""
LIES = {
    "a stream that there is not": ('tell("?", b"x")', "protocol"),
    "a piece that is too long": ('sys.stdout.buffer.write(b"c" + b"\\xff" * 4); sys.stdout.buffer.flush()', "protocol"),
    "usage that is no JSON": ('tell("u", b"{")', "protocol"),
    "usage that is nested without end": ('tell("u", b"[" * 100000)', "protocol"),
    "usage that is no number": ('tell("u", b\'{"cpu_s": [1], "threads": 1, "peak_bytes": 1}\')', "protocol"),
    "usage that is no finite number": ('tell("u", b\'{"cpu_s": 1e999, "threads": 1, "peak_bytes": NaN}\')', "protocol"),
    "an end that is no JSON": ('tell("x", b"nothing")', "protocol"),
    "a frame that is no JSON": ('say(b"{")', "protocol"),
    "more after the end": ('say({"op": "done", "value": 1}, {"op": "done", "value": 2})', "protocol"),
    "several threads": (
        'tell("u", b\'{"cpu_s": 0, "threads": 2, "peak_bytes": 1}\'); say({"op": "done", "value": 1})',
        "processes",
    ),
    "that CPU time is used up": ('tell("u", b\'{"cpu_s": 99, "threads": 1, "peak_bytes": 1}\')', "cpu_time"),
    "more than may be printed": ('tell("o", b"x" * (1 << 19)); tell("e", b"x" * (1 << 20))', "output"),
    "an end by a signal": ('tell("x", b\'{"status": -11, "cpu_s": 1, "peak_bytes": 1}\')', "crash"),
    "an end by the limit on CPU time": ('tell("x", b\'{"status": -24, "cpu_s": 1, "peak_bytes": 1}\')', "cpu_time"),
    "that the channel is closed and all goes on": (
        'tell("x", b\'{"status": null, "cpu_s": 1, "peak_bytes": 1}\')',
        "protocol",
    ),
    "nothing any more": ("os._exit(3)", "exit"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("lie", LIES)
async def test_a_lie_ends_the_run_and_its_process(lie: str) -> None:
    script, because = LIES[lie]
    session, others = await session_of(f"{PRELUDE}\n{script}\n{NEVER}")
    outcome = await session.run("1")
    assert (outcome.status, outcome.killed_because) == ("killed", because)
    assert not is_there(others.pids[0])
    await session.close()
    assert not any(map(is_there, others.pids))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import sys; sys.exit('there is no engine')", "there is no engine"),
        ("import os; os.close(1); sum(range(10**6)); os.write(2, b'late words')", "late words"),
        ("pass", "it said nothing"),
        ("print('Hello, I am no sandbox')", "no sandbox"),
        (f"{PRELUDE.replace(READY, '{}')}", "could not be locked in"),
        ('import sys; sys.stdout.buffer.write(b"f\\0\\0\\0\\3why"); sys.stdout.buffer.flush()', "why"),
    ],
)
async def test_what_does_not_become_ready_says_why(script: str, said: str) -> None:
    worker = await open_piped([sys.executable, "-c", script], b"hello", None)
    with pytest.raises(SandboxError, match=said):
        await worker.ready()
    await worker.close()
    assert worker._process.returncode is not None


@pytest.mark.anyio
async def test_a_command_that_is_not_there_is_told() -> None:
    with pytest.raises(SandboxError, match="nowhere"):
        await open_piped(["/nowhere/command"], b"", None)


STUBBORN = f"{PRELUDE}\nimport signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True:\n    time.sleep(60)"


@pytest.mark.anyio
async def test_what_does_not_end_by_itself_is_removed_and_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piped, "_ENDING_S", 1.0)
    removed: list[bool] = []

    async def remove() -> None:
        removed.append(True)

    worker = await open_piped([sys.executable, "-c", STUBBORN], b"", None, remove=remove)
    await worker.ready()
    await worker.close()
    assert removed
    assert worker._process.returncode == -signal.SIGKILL


@pytest.mark.anyio
async def test_what_is_not_there_to_be_removed_is_removed_once_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piped, "_ENDING_S", 60.0)
    removed: list[bool] = []

    async def remove() -> None:
        removed.append(True)
        if len(removed) == 2:
            os.kill(worker._process.pid, signal.SIGUSR1)  # an interrupt is ignored by what runs in the background

    worker = await open_piped([sys.executable, "-c", STUBBORN], b"", None, remove=remove)
    await worker.ready()
    await worker.close()
    assert len(removed) == 2
    assert worker._process.returncode not in (None, -signal.SIGKILL)


@pytest.mark.anyio
async def test_one_that_reads_nothing_is_ended_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piped, "_ENDING_S", 1.0)
    deaf = PRELUDE.replace("os.read(0, 1 << 20)", "")
    session, _ = await session_of(f"{deaf}\ntime.sleep(60)", wall_s=1)
    outcome = await session.run("x" * 3_000_000)  # more than a pipe holds
    assert (outcome.status, outcome.killed_because) == ("killed", "wall_time")
    await session.close()


def test_reading_what_is_no_piece_is_an_error_of_the_protocol_only() -> None:
    class Silent:
        stdin = stdout = stderr = None

    @given(st.binary(max_size=60))
    def law(content: bytes) -> None:
        worker = PipedWorker(Silent())  # pyright: ignore[reportArgumentType] - what is read is put there
        worker._received += content
        with contextlib.suppress(ProtocolError):
            worker.read()
        worker.threads_and_peak(), worker.cpu_s()

    law()


KILLED = """
import sys, anyio
from wieldy import sandbox
async def main():
    limits = sandbox.SandboxLimits(wall_s=10**6, cpu_s=10**6)
    async with sandbox.open(sys.argv[1], limits=limits, image=sys.argv[2]) as session:
        async def answer(call):
            print("runs", flush=True)
        await session.run("call_sync('x')\\nwhile True:\\n    pass", call=answer)
anyio.run(main)
"""


def command_of(pid: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def processes() -> dict[int, int]:
    """All that are not dead, with their parents."""
    found: dict[int, int] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                found[int(directory.name)] = int(parent)
    return found


def started_by(pid: int) -> set[int]:
    """Processes below that one, and those of its containers, which the engine puts elsewhere."""
    parents = processes()
    names = {command[command.index(b"--name") + 1] for each in parents if b"--name" in (command := command_of(each))}
    found = {pid}
    while True:
        own = {name for each in found for name in names if name in command_of(each)}
        more = {each for each, parent in parents.items() if parent in found or own & set(command_of(each))}
        if more <= found:
            return found - {pid}
        found |= more


async def gone(pids: set[int]) -> None:
    with anyio.fail_after(60):
        while pids & processes().keys():  # noqa: ASYNC110 - nobody tells when a process is gone
            await anyio.sleep(0.05)


WORDS = {"podman": b"inside.container", "monty": b"inside.monty.start"}


def runs_code(tier: str, pids: set[int]) -> bool:
    return any(WORDS[tier] in b" ".join(command_of(pid)) for pid in pids)


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@linux_only
def test_when_the_program_is_killed_nothing_of_its_sandbox_goes_on(tier: Any) -> None:
    program = subprocess.Popen([sys.executable, "-c", KILLED, tier, IMAGE], stdout=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stdout.readline() == b"runs\n"
    started = started_by(program.pid)
    assert runs_code(tier, started)
    program.kill()
    program.wait()
    anyio.run(gone, started)
    program.stdout.close()


@linux_only
def test_nothing_is_left_of_a_sandbox_that_was_closed(tier: Any) -> None:
    async def use() -> set[int]:
        async with opening(tier) as session:
            await session.run("1")
            await session.run("2", fresh=True)
            await session.run("call_sync('x')")
            return {pid for pid in started_by(os.getpid()) if runs_code(tier, {pid})}

    started = anyio.run(use)
    assert started
    anyio.run(gone, started)
