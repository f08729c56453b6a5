"""A filter of system calls as a program for the kernel's packet filter machine (BPF), and how it is put in force.

The program has three parts: is the call made through the interface that the numbers are of (if not, the process is
killed: the same number means something else in another interface); what the process may do to itself; and a binary
search over the numbers, which leads to what is allowed, refused, or allowed for certain arguments. All the rest is
ENOSYS, as if the kernel had never heard of it.

Cost: the kernel tries a new filter on every number, so its time grows with the steps that a number takes.

Source: the kernel's documentation of seccomp filters; `linux/seccomp.h`, `linux/filter.h`.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable

from .numbers import Architecture
from .policy import ALLOWED, REFUSED, SCRATCH, UNSUPPORTED, Equal, Permitted, own_exceptions, standing_exceptions
from .system_calls import buffer_of, system_call

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_JUMP, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _JUMP_IF_ANY_BIT = 0x05, 0x15, 0x35, 0x45
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in `struct seccomp_data`
_FARTHEST = 255  # instructions that a conditional jump can skip

_KILL_PROCESS = 0x8000_0000
_ERRNO = 0x0005_0000
_ALLOW = 0x7FFF_0000

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1


class Filter:
    """A policy in the kernel's form: made once, put in force in each worker with what only that worker may do."""

    def __init__(self, architecture: Architecture, *, has_scratch: bool) -> None:
        self._numbers = architecture.numbers
        self._head = _refuse_foreign(architecture)
        self._search = _search(_intervals(self._decisions(has_scratch=has_scratch)))

    def program(self, pid: int) -> bytes:
        """The whole program for the worker with that process id (as the worker sees it)."""
        own = [
            _only_for(self._numbers[entry.name], _if_all(entry.conditions) + _refuse(errno.EPERM))
            for entry in own_exceptions(pid)
        ]
        return self._head + b"".join(own) + self._search

    def _decisions(self, *, has_scratch: bool) -> dict[int, bytes]:
        """What is done with a call, by its number; names that the architecture lacks are left out."""
        names = dict.fromkeys(REFUSED, _refuse(errno.EPERM))
        names |= dict.fromkeys(UNSUPPORTED, _refuse(errno.EOPNOTSUPP))
        names |= dict.fromkeys([*ALLOWED, *SCRATCH] if has_scratch else ALLOWED, _give(_ALLOW))
        for name, entries in _by_name(standing_exceptions()).items():
            names[name] = b"".join(_if_all(entry.conditions) for entry in entries) + _refuse(errno.EPERM)
        return {self._numbers[name]: code for name, code in names.items() if name in self._numbers}


def install(program: bytes) -> None:
    """From now on this process, which has one thread, makes only calls that the program allows; there is no way back.

    Raises:
        OSError: The kernel has no such filters, or refuses this one.
    """
    code = buffer_of(program)
    header = buffer_of(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    system_call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    system_call("seccomp", _SECCOMP_SET_MODE_FILTER, 0, header)


def _by_name(entries: Iterable[Permitted]) -> dict[str, list[Permitted]]:
    found: dict[str, list[Permitted]] = {}
    for entry in entries:
        found.setdefault(entry.name, []).append(entry)
    return found


def _intervals(decisions: dict[int, bytes]) -> list[tuple[int, bytes]]:
    """Where what is done changes, from 0 up: the first number and the code for it and those that follow."""
    unknown = _refuse(errno.ENOSYS)
    found: list[tuple[int, bytes]] = []
    for number in sorted({0, *decisions, *(number + 1 for number in decisions)}):
        code = decisions.get(number, unknown)
        if not found or found[-1][1] != code:
            found.append((number, code))
    return found


def _search(intervals: list[tuple[int, bytes]]) -> bytes:
    if len(intervals) == 1:
        return intervals[0][1]
    middle = len(intervals) // 2
    below, above = _search(intervals[:middle]), _search(intervals[middle:])
    first, skipped = intervals[middle][0], len(below) // 8
    if skipped <= _FARTHEST:
        return _instruction(_JUMP_IF_AT_LEAST, first, then=skipped) + below + above
    far = _instruction(_JUMP_IF_AT_LEAST, first, otherwise=1) + _instruction(_JUMP, skipped)
    return far + below + above


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction; a jump skips that many, depending on what was loaded last."""
    return struct.pack("=HBBI", code, then, otherwise, value)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, offset)


def _give(answer: int) -> bytes:
    return _instruction(_RETURN, answer)


def _refuse(code: int) -> bytes:
    return _give(_ERRNO | code)


def _only_for(number: int, then: bytes) -> bytes:
    return _instruction(_JUMP_IF_EQUAL, number, otherwise=len(then) // 8) + then


def _refuse_foreign(architecture: Architecture) -> bytes:
    checked = _load(_ARCHITECTURE) + _instruction(_JUMP_IF_EQUAL, architecture.audit, then=1) + _give(_KILL_PROCESS)
    checked += _load(_NUMBER)
    if architecture.foreign_bit:
        foreign = _instruction(_JUMP_IF_ANY_BIT, architecture.foreign_bit, otherwise=1)
        checked += foreign + _give(_KILL_PROCESS)
    return checked


def _if_all(conditions: tuple[Equal, ...]) -> bytes:
    """Allows the call where all conditions hold; else goes on behind."""
    code = _give(_ALLOW)
    for condition in reversed(conditions):
        for half in (1, 0):  # little-endian: the upper half stands behind the lower
            mask = condition.mask >> 32 * half & 0xFFFF_FFFF
            if mask == 0:
                continue
            value = condition.value >> 32 * half & mask
            test = _load(_ARGUMENTS + 8 * condition.argument + 4 * half) + _instruction(_AND, mask)
            code = test + _instruction(_JUMP_IF_EQUAL, value, otherwise=len(code) // 8) + code
    return code
