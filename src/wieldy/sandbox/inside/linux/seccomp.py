"""A filter of system calls as a program for the kernel's packet filter machine (BPF), and how it is put in force.

The program has three parts: is the call made through the interface that the numbers are of (if not, the process is
killed: the same number means something else in another interface); what is allowed, refused, or allowed for certain
arguments; and for all the rest ENOSYS, as if the kernel had never heard of it.

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

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in `struct seccomp_data`

_KILL_PROCESS = 0x8000_0000
_ERRNO = 0x0005_0000
_ALLOW = 0x7FFF_0000

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1


class Filter:
    """A policy in the kernel's form: made once, put in force in each worker with what only that worker may do."""

    def __init__(self, architecture: Architecture, *, has_scratch: bool) -> None:
        self._numbers = architecture.numbers
        self._head = _refuse_foreign(architecture) + self._standing(has_scratch=has_scratch)
        self._tail = self._refuse(REFUSED, errno.EPERM) + self._refuse(UNSUPPORTED, errno.EOPNOTSUPP)
        self._tail += _give(_ERRNO | errno.ENOSYS)

    def program(self, pid: int) -> bytes:
        """The whole program for the worker with that process id (as the worker sees it)."""
        return self._head + self._permit(own_exceptions(pid)) + self._tail

    def _standing(self, *, has_scratch: bool) -> bytes:
        names = [*ALLOWED, *SCRATCH] if has_scratch else ALLOWED
        allowed = b"".join(self._when(name, _give(_ALLOW)) for name in names)
        return allowed + self._permit(standing_exceptions())

    def _permit(self, exceptions: Iterable[Permitted]) -> bytes:
        return b"".join(self._when(entry.name, _if_all(entry.conditions)) for entry in exceptions)

    def _refuse(self, names: Iterable[str], code: int) -> bytes:
        return b"".join(self._when(name, _give(_ERRNO | code)) for name in names)

    def _when(self, name: str, then: bytes) -> bytes:
        """The instructions run for that call only; for a call that the architecture lacks there is nothing to do."""
        number = self._numbers.get(name)
        if number is None:
            return b""
        return _jump(_JUMP_IF_EQUAL, number, otherwise=len(then) // 8) + then


def install(program: bytes) -> None:
    """From now on this process, which has one thread, makes only calls that the program allows; there is no way back.

    Raises:
        OSError: The kernel has no such filters, or refuses this one.
    """
    code = buffer_of(program)
    header = buffer_of(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    system_call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    system_call("seccomp", _SECCOMP_SET_MODE_FILTER, 0, header)


def _instruction(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, offset)


def _jump(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """Skips that many instructions, depending on what was loaded last."""
    return _instruction(code, value, then=then, otherwise=otherwise)


def _give(answer: int) -> bytes:
    return _instruction(_RETURN, answer)


def _refuse_foreign(architecture: Architecture) -> bytes:
    checked = _load(_ARCHITECTURE) + _jump(_JUMP_IF_EQUAL, architecture.audit, then=1) + _give(_KILL_PROCESS)
    checked += _load(_NUMBER)
    if architecture.foreign_bit:
        checked += _jump(_JUMP_IF_ANY_BIT, architecture.foreign_bit, otherwise=1) + _give(_KILL_PROCESS)
    return checked


def _if_all(conditions: tuple[Equal, ...]) -> bytes:
    """Allows the call where all conditions hold; else goes on behind, with the call's number loaded again."""
    behind = _load(_NUMBER)
    code = _give(_ALLOW)
    for condition in reversed(conditions):
        for half in (1, 0):  # little-endian: the upper half stands behind the lower
            offset = _ARGUMENTS + 8 * condition.argument + 4 * half
            mask = condition.mask >> 32 * half & 0xFFFF_FFFF
            if mask == 0:
                continue
            value = condition.value >> 32 * half & mask
            test = _load(offset) + _instruction(_AND, mask)
            code = test + _jump(_JUMP_IF_EQUAL, value, otherwise=len(code) // 8) + code
    return code + behind
