"""What an attempt to get out is: code as data, its kind, and the oracle that tells from outside whether it got out.

The attempts stand in the modules `attempts_*`; `all_attempts` reads them all. The code runs after `PRELUDE`, which
holds what an attacker would write down first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from wieldy.sandbox.inside.linux.numbers import this_architecture

Kind = Literal[
    "rpc", "file", "process", "cpu", "kernel", "network", "memory-bomb", "crash", "interpreter", "disk", "output",
    "env", "proc", "session", "memory", "metadata",
]  # fmt: skip
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Control = Literal["unlocked", "trusting"]
"""Where the attempt must succeed, or its oracle proves nothing.

`unlocked`: a process of the same user under Wieldy's own supervisor, without the kernel's isolation. `trusting`: a host
that runs code in its own process, believes what it is told and limits nothing, for what the supervisor must prevent.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A piece of code that tries to get out, or to take more than it may.

    Attributes:
        name: Unique.
        oracle: The name of the one that must tell of it where nothing isolates (`escape_oracles.ORACLES`).
        then: Code of a later run with a fresh start, that looks for what the first left behind.
        known: Tiers that do not keep code from it, and say so.
        is_optional: Whether machines differ in what it needs (a kernel's feature, a setting); where the control does
            not succeed, it does not count.
    """

    name: str
    kind: Kind
    oracle: str
    control: Control
    code: str
    then: str | None = None
    known: tuple[str, ...] = ()
    is_optional: bool = False


PRELUDE: Final = '''
import ctypes, json, os, sys

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

def kernel(name, *arguments):
    """What the kernel answers, and its error's number."""
    number = NUMBERS[name] if isinstance(name, str) else name
    ctypes.set_errno(0)
    passed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = _libc.syscall(ctypes.c_long(number), *passed)
    return answer, ctypes.get_errno() if answer == -1 else 0

def claim(what):
    print("CLAIM", what, flush=True)

def exists(what):
    print("EXISTS", what, flush=True)

def reaches(name, *arguments):
    """Claims success if the kernel deals with the call: any answer but that it is forbidden or unknown."""
    answer, error = kernel(name, *arguments)
    if error not in (1, 13, 38):
        claim(f"{name}: {answer}, error {error}")
    return answer

def send(content, size=None):
    """Writes to the channel what the guest would never write."""
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    content = (len(content) if size is None else size).to_bytes(4, "big") + content
    while content:
        content = content[os.write(CHANNEL, content):]
'''


def prelude(given: dict[str, Any], code: str) -> str:
    """The names that the code may use, and what they are this time."""
    numbers = {name: number for name, number in this_architecture().numbers.items() if name in code}
    given = {"NUMBERS": numbers, **given}
    return "".join(f"{name} = {value!r}\n" for name, value in given.items()) + PRELUDE


def all_attempts() -> tuple[Attempt, ...]:
    """Every attempt, in the order of kinds."""
    import attempts_files
    import attempts_host
    import attempts_kernel
    import attempts_limits
    import attempts_processes
    import attempts_rpc

    modules = (attempts_rpc, attempts_files, attempts_processes, attempts_limits, attempts_kernel, attempts_host)
    attempts = [attempt for module in modules for attempt in module.ATTEMPTS]
    assert len({attempt.name for attempt in attempts}) == len(attempts), "two attempts of one name"
    return tuple(sorted(attempts, key=lambda attempt: KINDS.index(attempt.kind)))


def every_second(attempts: Sequence[Attempt], first: int) -> tuple[Attempt, ...]:
    """One half of them: of each kind every second one, from the first or the second on, and at least one."""
    by_kind = [[attempt for attempt in attempts if attempt.kind == kind] for kind in KINDS]
    return tuple(attempt for of_kind in by_kind for attempt in (of_kind[first::2] or of_kind))


def frame(**content: Any) -> str:
    """A frame, as code that sends it."""
    return f"send({json.dumps(content)!r}.encode())\n"
