"""Every limit ends the run with its name, the session goes on, and nothing of the sandbox is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from wieldy import UsageError
from wieldy.sandbox import GuestCall, KilledBecause, SandboxLimits, TierName

from .conftest import Opener, interpreter_for

pytestmark = pytest.mark.anyio

TIGHT = SandboxLimits(
    wall_s=2, cpu_s=10, memory_bytes=256 << 20, output_bytes=1 << 20, kept_output_bytes=1000, calls=3, files=20,
    files_bytes=1 << 20, file_bytes=1 << 19,
)  # fmt: skip


async def answer(call: GuestCall) -> int:
    return call.seq


@pytest.mark.parametrize(
    ("code", "because"),
    [
        ("while True: pass", "wall_time"),
        ("import time; time.sleep(60)", "wall_time"),
        ("x = [0] * 10**8", "memory"),
        ("x = []\nwhile True: x.append('x' * 1_000_000)", "memory"),
        ("import mmap\nx = [mmap.mmap(-1, 1 << 20) for _ in range(2000)]", "error"),
        ("while True: print('x' * 1000)", "output"),
        ("import os\nwhile True: os.write(2, b'x' * 1000)", "output"),
        ("for _ in range(4): call_sync('f')", "calls"),
        ("import os; os._exit(0)", "exit"),
        ("import os; os.abort()", "crash"),
        ("import ctypes; ctypes.string_at(0)", "crash"),
        ("import os; os.kill(os.getpid(), 9)", "crash"),
        ("import os; os.close(3)\nwhile True: pass", "protocol"),
        ("import os; os.closerange(0, 10)\nwhile True: pass", "protocol"),
        ("import os; os.write(3, b'\\xff\\xff\\xff\\xff')\nwhile True: pass", "protocol"),
        ("import os; os.write(3, b'\\0\\0\\0\\2{}')\nwhile True: pass", "protocol"),
    ],
)
async def test_what_goes_beyond_a_limit_is_ended_and_its_name_is_told(
    open_tier: Opener, code: str, because: KilledBecause
) -> None:
    # Only where time is what is tried may it be short: a machine with other work is slow.
    limits = TIGHT if because == "wall_time" else replace(TIGHT, wall_s=120)
    async with open_tier(limits=limits) as session:
        await session.run("kept = 1")
        outcome = await session.run(code, call=answer)
        if because == "error":  # the operating system refuses, and the code may catch it
            assert outcome.status == "error"
        else:
            assert (outcome.status, outcome.killed_because) == ("killed", because)
        assert (outcome.signal is not None) == (because == "crash")
        after = await session.run("'kept' in globals()")
        assert (after.status, after.value) == ("done", because == "error")


async def test_cpu_time_is_limited_apart_from_the_time_that_passes(open_tier: Opener) -> None:
    async with open_tier(limits=SandboxLimits(wall_s=60, cpu_s=0.2)) as session:
        outcome = await session.run("while True: pass")
        assert outcome.killed_because == "cpu_time"
        assert outcome.counts.cpu_s >= 0.2


async def test_the_kernel_ends_what_used_up_its_cpu_time_even_if_nobody_watches(open_tier: Opener) -> None:
    async with open_tier(limits=SandboxLimits(wall_s=60, cpu_s=60, lifetime_cpu_s=1)) as session:
        outcome = await session.run("while True: pass")
        assert outcome.killed_because == "cpu_time"


async def test_code_that_ignores_the_kernels_warning_is_ended_a_second_later(open_tier: Opener) -> None:
    async with open_tier(limits=SandboxLimits(wall_s=60, cpu_s=60, lifetime_cpu_s=1)) as session:
        outcome = await session.run("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass")
        assert outcome.killed_because == "cpu_time"


async def test_time_in_which_a_call_is_answered_is_not_the_codes(open_tier: Opener) -> None:
    limits = SandboxLimits(wall_s=1.5)

    async with open_tier(limits=limits) as session, open_tier() as other:

        async def slow(_call: GuestCall) -> str | None:
            taken = await other.run("import time; time.sleep(2)")
            return taken.killed_because

        outcome = await session.run("call_sync('slow')", call=slow)
        assert (outcome.status, outcome.value) == ("done", None)


@contextmanager
def busy(core: int, *, processes: int) -> Generator[None]:
    """So many processes want that core all the time."""
    command = [sys.executable, "-c", BURNING, str(core)]
    # Each in a session of its own, between which the kernel may share out the core first.
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) for _ in range(processes)]
    try:
        for other in others:
            assert other.stdout is not None
            other.stdout.readline()
        yield
    finally:
        for other in others:
            assert other.stdout is not None
            other.kill()
            other.wait()
            other.stdout.close()


BURNING = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint(flush=True)\nwhile True: pass"


async def test_time_in_which_others_had_the_core_is_not_the_codes(open_tier: Opener) -> None:
    core = min(os.sched_getaffinity(0))
    async with open_tier(limits=SandboxLimits(wall_s=1)) as session:
        await session.run("1")
        worker: Any = vars(session)["_worker"]
        os.sched_setaffinity(vars(worker)["_pid"], {core})
        with busy(core, processes=5):
            outcome = await session.run("import time\nwhile time.process_time() < 0.5: pass")
        assert outcome.status == "done"
        assert outcome.counts.wall_s > 1


async def test_the_beginning_of_a_long_output_is_kept_and_all_of_it_counted(open_tier: Opener) -> None:
    async with open_tier(limits=replace(TIGHT, wall_s=120)) as session:
        outcome = await session.run("print('y' * 5000)")
        assert outcome.stdout == "y" * 1000
        assert outcome.counts.output_bytes == 5001


async def test_what_was_printed_before_the_end_is_there(open_tier: Opener) -> None:
    async with open_tier(limits=replace(TIGHT, wall_s=2)) as session:
        outcome = await session.run("print('so far')\nwhile True: pass")
        assert (outcome.status, outcome.stdout) == ("killed", "so far\n")


async def test_a_memory_error_that_the_code_catches_is_the_codes_business(open_tier: Opener) -> None:
    async with open_tier(limits=replace(TIGHT, wall_s=120)) as session:
        outcome = await session.run("try:\n    x = [0] * 10**9\nexcept MemoryError:\n    x = 'caught'")
        assert (outcome.status, outcome.value) == ("done", "caught")


async def test_packages_that_leave_no_room_are_refused_when_the_sandbox_opens(open_tier: Opener) -> None:
    with pytest.raises(UsageError, match="memory_bytes"):
        async with open_tier(limits=SandboxLimits(memory_bytes=16 << 20)):
            pass


@pytest.mark.parametrize("name", ["wall_s", "memory_bytes", "calls"])
@pytest.mark.parametrize(
    "value", [0, -1, float("nan"), float("inf"), "x", "1", None, True, [1], 1 << 63, 10**400, 1j, b"1"]
)
def test_a_limit_that_is_none_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=rf"SandboxLimits\.{name} must be a (whole )?number above 0"):
        SandboxLimits(**{name: value})


def test_only_times_may_be_fractions() -> None:
    assert SandboxLimits(wall_s=0.5, cpu_s=0.5).cpu_s == 0.5
    for name in ("lifetime_cpu_s", "memory_bytes", "files", "kept_output_bytes"):
        with pytest.raises(UsageError, match="whole number"):
            SandboxLimits(**{name: 1.5})


HOST = """
import anyio, os, sys
from wieldy import sandbox

async def main():
    async with sandbox.open(sys.argv[1], python=sys.argv[2]) as session:
        async def handler(call):
            print("asked", flush=True)
            await anyio.sleep_forever()
        await session.run("call_sync('f')", call=handler)

anyio.run(main)
"""


async def test_a_host_that_dies_leaves_no_process_behind(tier: TierName) -> None:
    host = started_host(tier)
    assert host.stdout is not None
    assert host.stdout.readline() == b"asked\n"
    below = processes_below(host.pid)
    assert len(below) >= 2
    watched = [os.pidfd_open(pid) for pid in below]
    host.send_signal(signal.SIGKILL)
    host.wait()
    host.stdout.close()
    for process in watched:
        os.set_blocking(process, True)
        ended = await wait_until_readable(process)
        os.close(process)
        assert ended


def started_host(tier: TierName) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOST, tier, interpreter_for(tier)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


async def wait_until_readable(descriptor: int) -> bool:
    with anyio.move_on_after(30):
        await anyio.wait_readable(descriptor)
        return True
    return False


async def test_closing_leaves_no_process_and_no_descriptor(open_tier: Opener) -> None:
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, not paths
    others = set(processes_below(os.getpid()))
    async with open_tier() as session:
        await session.run("x = 1")
        await session.run("1", fresh=True)
        await session.run("import os; os._exit(1)")
        assert set(processes_below(os.getpid())) - others
    assert not set(processes_below(os.getpid())) - others
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def processes_below(pid: int) -> list[int]:
    """Children of the process, and theirs, that are not dead."""
    found: list[int] = []
    parents: dict[int, list[int]] = {}
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                parents.setdefault(int(parent), []).append(int(directory.name))
    waiting = [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
