"""What isolates here: each tier is opened, and code in it tries to get out.

A tier that cannot be opened says why; one in which an attempt succeeds does not work, whatever was answered when it was
set up.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import anyio

from wieldy.core.errors import SandboxError, SandboxTierError
from wieldy.sandbox.opening import open_session
from wieldy.sandbox.outcome import Outcome, Tier
from wieldy.sandbox.tiers import BY_KERNEL, ISOLATES, LEAVES, TIERS, TierName

_ATTEMPTS: Final = """
def read_a_file_of_the_machine():
    return open(CANARY).read()

def list_the_directory_of_a_file_of_the_machine():
    import os
    return os.listdir(CANARY.rpartition("/")[0])

def write_a_file_of_the_machine():
    open(CANARY, "a").write("x")

def change_the_mode_of_a_file_of_the_machine():
    import os
    os.chmod(CANARY, 0o600)

def write_beside_the_standard_library():
    import os
    open(os.path.join(os.path.dirname(os.__file__), "wieldy_probe"), "w")

def open_a_socket():
    import socket
    socket.socket()

def make_a_pair_of_sockets():
    import socket
    socket.socketpair()

def start_a_process():
    import os
    if os.fork() == 0:
        os._exit(0)

def start_a_program():
    import os
    os.execv("/bin/true", ["/bin/true"])

def start_a_thread():
    import threading
    threading.Thread(target=print).start()

def signal_its_parent():
    import os
    os.kill(os.getppid() or 1, 0)

def make_a_user_namespace():
    import ctypes
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        raise OSError

def trace_itself():
    import ctypes
    if ctypes.CDLL(None, use_errno=True).ptrace(0, 0, 0, 0):
        raise OSError
"""
_NAMES: Final = re.findall(r"^def (\w+)", _ATTEMPTS, re.MULTILINE)
_TRYING: Final = f"""
done = []
for name, attempt in [{", ".join(f"({name!r}, {name})" for name in _NAMES)}]:
    try:
        attempt()
    except REFUSALS:
        continue
    done.append(name.replace("_", " "))
done
"""
_BY_KERNEL: Final = "OSError, RuntimeError"
_BY_INTERPRETER: Final = "OSError, RuntimeError, AttributeError, ImportError, NameError"
"""How something is refused: by a kernel, or by an interpreter that has no such thing."""


def probe(*, python: str | None = None, image: str | None = None) -> tuple[Tier, ...]:
    """Every tier, from the strongest, with whether it works on this machine and what it isolates.

    Args:
        python: The interpreter that would run code; None is the one that runs this program.
        image: Of containers, as `open` takes it.

    Cost: starts an interpreter for each tier, about a tenth of a second, and two containers.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:  # there may be an event loop in this one
        return thread.submit(anyio.run, _probe_all, python, image).result()


async def _probe_all(python: str | None, image: str | None) -> tuple[Tier, ...]:
    return tuple([await _probe(tier, python, image) for tier in TIERS])


async def _probe(tier: TierName, python: str | None, image: str | None) -> Tier:
    refusals = _BY_KERNEL if tier in BY_KERNEL else _BY_INTERPRETER
    with _canary() as canary:
        code = f"CANARY = {canary!r}\nREFUSALS = ({refusals})\n{_ATTEMPTS}{_TRYING}"
        try:
            async with open_session(tier, python=python, image=image) as session:
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
        yield canary.as_posix()


def _verdict(tier: Tier, outcome: Outcome) -> Tier:
    if outcome.status == "done" and outcome.value == []:
        return tier
    said = outcome.error or outcome.killed_because
    reason = f"code in it could {outcome.value}" if outcome.status == "done" else f"a trial in it failed: {said}"
    return Tier(name=tier.name, works=False, isolates=(), leaves=tier.leaves, reason=reason, notes=tier.notes)


def _not_here(tier: TierName, reason: str) -> Tier:
    return Tier(name=tier, works=False, isolates=ISOLATES[tier], leaves=LEAVES[tier], reason=reason)
