"""Landlock: what of the file system a process may open, told to the kernel by the process itself.

It also closes what later versions know: TCP (4), signals and abstract sockets of others (6). Deliberately not covered
by the kernel: whether a path exists, and its modes and times; `policy` refuses the calls that would change those.

Source: the kernel's documentation of Landlock; `linux/landlock.h`.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from contextlib import suppress

from .system_calls import buffer_of, system_call

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_DIRECTORY, REMOVE_DIRECTORY, REMOVE_FILE = 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5
MAKE_DIRECTORY, MAKE_REGULAR, MAKE_SYMLINK, REFER, TRUNCATE = 1 << 7, 1 << 8, 1 << 12, 1 << 13, 1 << 14

READ = READ_FILE | READ_DIRECTORY
DEVICE = READ_FILE | WRITE_FILE
SCRATCH = (
    READ | WRITE_FILE | REMOVE_DIRECTORY | REMOVE_FILE | MAKE_DIRECTORY | MAKE_REGULAR | MAKE_SYMLINK | REFER | TRUNCATE
)

# What each version of the interface can govern: rights on files, on TCP, and scopes.
_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NETWORK_RIGHTS = 0b11
_SCOPES = 0b11


def version() -> int:
    """The version of the interface that the running kernel has, from 1.

    Raises:
        OSError: The kernel has none, or it is switched off.
    """
    return system_call("landlock_create_ruleset", None, 0, _CREATE_RULESET_VERSION)


def restrict(allowed: Iterable[tuple[str, int]]) -> None:
    """From now on this process opens only what lies beneath the paths, with the rights that stand beside each.

    Args:
        allowed: Paths and rights; a path that is not there is left out.

    Raises:
        OSError: The kernel has no Landlock, or refuses.
    """
    abi = version()
    handled = _FILE_RIGHTS[min(abi, max(_FILE_RIGHTS))]
    attributes = struct.pack("=Q", handled)
    if abi >= 4:
        attributes += struct.pack("=Q", _NETWORK_RIGHTS)
    if abi >= 6:
        attributes += struct.pack("=Q", _SCOPES)
    ruleset = system_call("landlock_create_ruleset", buffer_of(attributes), len(attributes), 0)
    try:
        for path, rights in allowed:
            with suppress(FileNotFoundError):
                _allow(ruleset, path, rights & handled)
        system_call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = buffer_of(struct.pack("=Qi", rights, beneath))
        system_call("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(beneath)
