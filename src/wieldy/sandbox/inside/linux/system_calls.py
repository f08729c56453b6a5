"""System calls that the standard library does not have, by their names."""

from __future__ import annotations

import ctypes
import os

from .numbers import this_architecture

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def system_call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """What the call answered.

    Args:
        name: As the kernel calls it.
        arguments: Numbers, and buffers whose addresses are meant.

    Raises:
        OSError: The kernel refused; the error says which call it was.
    """
    number = this_architecture().numbers[name]
    passed = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    answer: int = _libc.syscall(ctypes.c_long(number), *passed)
    if answer == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return answer


def buffer_of(content: bytes) -> ctypes.Array[ctypes.c_char]:
    """The bytes at an address that the kernel may read; alive as long as the object is."""
    return ctypes.create_string_buffer(content, len(content))
