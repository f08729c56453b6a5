"""The sandbox can be imported and asked on every system; each tier says there itself why it does not work."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from wieldy.sandbox.tiers import TIERS

POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog")
POSIX_ATTRIBUTES = {
    "os": ("fork", "geteuid", "getuid", "uname", "pidfd_open", "setresuid", "wait4", "killpg", "O_CLOEXEC"),
    "signal": ("SIGXCPU", "SIGSTOP", "SIGCONT", "SIGALRM", "pthread_sigmask", "pidfd_send_signal"),
    "select": ("epoll", "poll"),
    "socket": ("send_fds", "recv_fds"),
}
"""What Windows does not have. (`AF_UNIX`, `SIGKILL` and others are needed by asyncio itself on this system.)"""

BARE = f"""
import json, os, sys
import anyio, anyio._backends._asyncio, asyncio, ctypes, multiprocessing, pathlib, subprocess, tempfile, threading
import platformdirs, rich.console, typer
for name in {POSIX_ONLY!r}:
    sys.modules[name] = None
for module, names in {POSIX_ATTRIBUTES!r}.items():
    for name in names:
        sys.modules[module].__dict__.pop(name, None)
os.environ["PATH"] = ""
"""

PROBING = f"""
{BARE}
import wieldy.agent.code, wieldy.apps.cli.checks.code, wieldy.apps.cli.executing
from wieldy import sandbox
print(json.dumps({{tier.name: [tier.works, tier.reason] for tier in sandbox.probe()}}))
"""


def told_by(code: str) -> Any:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_without_what_only_posix_has_every_tier_says_why_it_does_not_work() -> None:
    found = told_by(PROBING)
    assert tuple(found) == TIERS
    for tier in ("jail-ns", "jail"):
        works, reason = found[tier]
        assert not works
        assert "lacks what it needs" in reason or "needs Linux" in reason
    for tier in ("podman", "docker"):
        assert found[tier] == [False, f"the command {tier} is not installed"]


def test_monty_needs_nothing_that_only_posix_has() -> None:
    pytest.importorskip("pydantic_monty")
    assert told_by(PROBING)["monty"] == [True, None]


def test_without_its_package_monty_says_how_to_install_it() -> None:
    hidden = PROBING.replace("print", "import wieldy.sandbox.monty; sys.path.clear(); print")
    works, reason = told_by(hidden)["monty"]
    assert not works
    assert "wieldy[monty]" in reason


def test_opening_is_refused_in_words_for_all_that_were_tried() -> None:
    code = f"""
{BARE}
import wieldy
from wieldy import sandbox
async def main():
    async with sandbox.open():
        pass
try:
    anyio.run(main)
except wieldy.SandboxTierError as error:
    print(json.dumps([str(error), error.reasons]))
"""
    text, reasons = told_by(code)
    assert set(reasons) == {"jail-ns", "jail", "podman", "docker"}
    assert all(reason in text for reason in reasons.values())
