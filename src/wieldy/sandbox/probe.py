"""What isolates here: each tier is opened, and code in it tries to get out.

A tier that cannot be opened says why; one in which an attempt succeeds does not work, whatever the kernel answered when
it was set up.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import anyio

from wieldy.core.errors import SandboxError, SandboxTierError
from wieldy.sandbox.opening import open_session
from wieldy.sandbox.outcome import Outcome, Tier
from wieldy.sandbox.tiers import ISOLATES, LEAVES, TIERS, TierName

_ATTEMPTS: Final = """
import ctypes, os, socket, threading

def read_a_file_of_the_machine():
    return open(CANARY).read()

def list_the_directory_of_a_file_of_the_machine():
    return os.listdir(os.path.dirname(CANARY))

def write_a_file_of_the_machine():
    open(CANARY, "a").write("x")

def change_the_mode_of_a_file_of_the_machine():
    os.chmod(CANARY, 0o600)

def write_beside_the_standard_library():
    open(os.path.join(os.path.dirname(os.__file__), "wieldy_probe"), "w")

def open_a_socket():
    socket.socket()

def make_a_pair_of_sockets():
    socket.socketpair()

def start_a_process():
    if os.fork() == 0:
        os._exit(0)

def start_a_program():
    os.execv("/bin/true", ["/bin/true"])

def start_a_thread():
    threading.Thread(target=print).start()

def signal_its_parent():
    os.kill(os.getppid() or 1, 0)

def make_a_user_namespace():
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        raise OSError

def trace_itself():
    if ctypes.CDLL(None, use_errno=True).ptrace(0, 0, 0, 0):
        raise OSError

done = []
for attempt in list(globals().values()):
    if callable(attempt) and getattr(attempt, "__module__", "") == "__main__" and attempt.__name__ not in GIVEN:
        try:
            attempt()
        except (OSError, RuntimeError):
            continue
        done.append(attempt.__name__.replace("_", " "))
done
"""


def probe(*, python: str | None = None) -> tuple[Tier, ...]:
    """Every tier, from the strongest, with whether it works on this machine and what it isolates.

    Args:
        python: The interpreter that would run code; None is the one that runs this program.

    Cost: starts an interpreter for each tier, about a tenth of a second.
    """
    found: list[Tier] = []

    def run() -> None:
        found.extend(anyio.run(_probe_all, python))

    thread = threading.Thread(target=run)  # there may be an event loop in this one
    thread.start()
    thread.join()
    return tuple(found)


async def _probe_all(python: str | None) -> list[Tier]:
    return [await _probe(tier, python) for tier in TIERS]


async def _probe(tier: TierName, python: str | None) -> Tier:
    with _canary() as canary:
        try:
            async with open_session(tier, python=python) as session:
                code = f"CANARY = {canary!r}\nGIVEN = set(globals())\n{_ATTEMPTS}"
                return _verdict(session.tier, await session.run(code))
        except SandboxTierError as error:
            return _not_here(tier, error.reasons[tier])
        except SandboxError as error:
            return _not_here(tier, str(error))


@contextmanager
def _canary() -> Generator[str]:
    """The path of a file that its mode does not protect: only the tier does."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        canary = Path(directory) / "canary"
        canary.write_text("secret")
        canary.chmod(0o666)
        yield str(canary)


def _verdict(tier: Tier, outcome: Outcome) -> Tier:
    notes = (*tier.notes, *_notes())
    if outcome.status == "done" and outcome.value == []:
        return Tier(name=tier.name, works=True, isolates=tier.isolates, leaves=tier.leaves, notes=notes)
    reason = (
        f"code in it could {outcome.value}" if outcome.status == "done" else f"a trial in it failed: {outcome.error}"
    )
    return Tier(name=tier.name, works=False, isolates=(), leaves=tier.leaves, reason=reason, notes=notes)


def _notes() -> tuple[str, ...]:
    user = "started by root, code runs as the user nobody" if os.geteuid() == 0 else "code runs as the present user"
    if os.uname().machine == "x86_64":
        return (user,)
    return (user, f"the table of system calls for {os.uname().machine} was never tried on such a machine")


def _not_here(tier: TierName, reason: str) -> Tier:
    return Tier(name=tier, works=False, isolates=ISOLATES[tier], leaves=LEAVES[tier], reason=reason)
