"""What is particular to Monty: it reaches nothing, lacks much, and its process may break without harm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy import CodeRules, SandboxTierError, UsageError, sandbox
from wieldy.sandbox import SandboxLimits
from wieldy.sandbox.inside.monty.clock import Clock

from .conftest import LIMITS, Opened

pytest.importorskip("pydantic_monty")


@contextmanager
def monty(limits: SandboxLimits = LIMITS, **options: Any) -> Iterator[Opened]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(sandbox.open("monty", limits=limits, **options)) as session,
    ):
        yield Opened(session, portal)


@pytest.fixture(scope="module")
def session() -> Iterator[Opened]:
    with monty() as opened:
        yield opened


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/hostname').read()",
        "open('written', 'w').write('x')",
        "import os\nos.listdir('/')",
        "import os\nos.environ",
        "import os\nos.getenv('PATH')",
        "import os\nos.fork()",
        "import socket",
        "import ctypes",
        "import subprocess",
        "import threading",
        "import pathlib\npathlib.Path('/etc/hostname').read_text()",
        "__import__('os').system('true')",
        "eval('open(\"/etc/hostname\").read()')",
        "().__class__.__base__.__subclasses__()",
    ],
)
def test_there_is_nothing_to_reach(session: Opened, code: str) -> None:
    outcome = session.run(code)
    assert (outcome.status, outcome.waiting) == ("error", ()), outcome


@pytest.mark.parametrize(
    ("code", "lacked"),
    [
        ("class A(dict):\n    pass", "inheritance"),
        ("def f():\n    yield 1", "yield"),
        ("x = 1\ndel x", "del"),
        ("import numpy", "numpy"),
    ],
)
def test_what_it_lacks_is_an_error_that_names_it(session: Opened, code: str, lacked: str) -> None:
    error = session.run(code).error
    assert error is not None
    assert lacked in error.message


@pytest.mark.parametrize(
    ("code", "value"), [("x = []\nx.append(x)\nx", ["[...]"]), ("d = {}\nd['a'] = d\nd", {"a": "{...}"})]
)
def test_what_contains_itself_comes_out_with_a_text_in_its_place(session: Opened, code: str, value: Any) -> None:
    assert session.run(code).value == value


def test_it_says_that_no_kernel_holds_it(session: Opened) -> None:
    said = " ".join(session.session.tier.leaves)
    assert "no kernel" in said
    assert "subclasses" in said


def test_it_has_no_files_and_no_packages() -> None:
    with monty() as opened, pytest.raises(UsageError, match="no files"):
        opened.run("1", files={"a": b""})
    for options in ({"packages": ["numpy"]}, {"readable": [str(Path(__file__).parent)]}):
        with pytest.raises(SandboxTierError, match="no packages and no files"), monty(**options):
            pass


def test_a_model_does_not_act_by_code_in_it() -> None:
    for tier in ("monty", ("jail-ns", "monty")):
        with pytest.raises(UsageError, match="found 'monty'"):
            CodeRules(tier=tier)


DEEP_LIST = "x = []\nfor _ in range(10**5):\n    x = [x]\nx"


@pytest.mark.parametrize("code", ["(" * 10000, "-" * 100_000 + "1", "def f():\n    f()\nf()", DEEP_LIST, "10 ** 9000"])
def test_what_would_exhaust_a_stack_ends_no_more_than_the_run(session: Opened, code: str) -> None:
    outcome = session.run(code)
    assert outcome.status in ("done", "error", "killed")
    assert session.run("20 + 1").value == 21


def interpreters() -> set[int]:
    found: set[int] = set()
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if b"monty\0subprocess" in (directory / "cmdline").read_bytes():
                found.add(int(directory.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
def test_when_the_interpreter_breaks_only_its_run_is_lost() -> None:
    before = interpreters()
    with monty() as opened:
        own = interpreters() - before

        async def kill(_: object) -> None:
            for pid in own & interpreters():
                if _is_below(pid, os.getpid()):
                    os.kill(pid, signal.SIGKILL)

        outcome = opened.run("call_sync('x')\n1", call=kill)
        assert (outcome.status, outcome.killed_because) == ("killed", "exit"), outcome
        assert opened.run("2").value == 2


def _is_below(pid: int, above: int) -> bool:
    while pid > 1:
        if pid == above:
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False


def test_time_of_interpreting_is_limited_even_where_it_cannot_be_interrupted() -> None:
    with monty(replace(LIMITS, cpu_s=2, memory_bytes=1 << 30)) as opened:
        outcome = opened.run("9 ** 9 ** 9")
        assert (outcome.status, outcome.killed_because in ("cpu_time", "wall_time", "memory")) == ("killed", True)
        assert opened.run("1 + 1").value == 2


def test_the_programs_environment_is_not_in_its_process(session: Opened) -> None:
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    secret = f"WIELDY_TEST_SECRET_{os.getpid()}"
    program = (
        "import anyio, glob, os, sys\n"
        "from wieldy import sandbox\n"
        "async def main():\n"
        "    async with sandbox.open('monty') as session:\n"
        "        await session.run('1')\n"
        "        found = []\n"
        "        for path in glob.glob('/proc/[0-9]*/environ'):\n"
        "            try:\n"
        "                with open(path, 'rb') as file:\n"
        f"                    if b'{secret}' in file.read():\n"
        "                        found.append(int(path.split('/')[2]))\n"
        "            except OSError:\n"
        "                pass\n"
        "        print(found == [os.getpid()])\n"
        "anyio.run(main)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, secret: "x"}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


@given(st.lists(st.tuples(st.sampled_from(["wait", "move"]), st.floats(0, 1e6)), max_size=8), st.floats(0, 1e9))
@settings(max_examples=50)
def test_a_clock_that_stands_never_goes_back(steps: list[tuple[str, float]], start: float) -> None:
    clock = Clock()
    clock.stand_at(start)
    before = clock.time()
    for kind, seconds in steps:
        if kind == "wait":
            clock.wait_until(clock.time() + seconds)
        else:
            clock.move(seconds)
        assert clock.time() >= before
        before = clock.time()
