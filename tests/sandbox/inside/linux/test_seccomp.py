"""The program for the kernel decides as the policy says, for every call and every argument, on both architectures.

A small machine for these programs stands here, so that the numbers of an architecture that is not at hand are tried
too.
"""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.sandbox.inside.linux import policy
from wieldy.sandbox.inside.linux.numbers import ARCHITECTURES, Architecture
from wieldy.sandbox.inside.linux.seccomp import Filter

KILL, ALLOW = 0x8000_0000, 0x7FFF_0000
PID = 4242

ARM64_LACKS = {
    "access",
    "alarm",
    "chmod",
    "chown",
    "dup2",
    "epoll_create",
    "epoll_wait",
    "fork",
    "futimesat",
    "getpgrp",
    "ioperm",
    "iopl",
    "lchown",
    "link",
    "lstat",
    "mkdir",
    "mknod",
    "modify_ldt",
    "open",
    "pause",
    "pipe",
    "poll",
    "readlink",
    "rename",
    "rmdir",
    "select",
    "stat",
    "symlink",
    "time",
    "unlink",
    "utime",
    "utimes",
    "vfork",
}


def decided(program: bytes, audit: int, number: int, arguments: tuple[int, ...]) -> int:
    """What the program answers to a call."""
    data = struct.pack("<iIQ6Q", number if number < 1 << 31 else number - (1 << 32), audit, 0, *arguments)
    accumulator = position = 0
    while True:
        code, then, otherwise, value = struct.unpack_from("=HBBI", program, 8 * position)
        position += 1
        match code:
            case 0x20:
                accumulator = struct.unpack_from("<I", data, value)[0]
            case 0x54:
                accumulator &= value
            case 0x15:
                position += then if accumulator == value else otherwise
            case 0x05:
                position += value
            case 0x35:
                position += then if accumulator >= value else otherwise
            case 0x45:
                position += then if accumulator & value else otherwise
            case 0x06:
                return value
            case _:
                raise AssertionError(f"an instruction that is not used: {code:#x}")


def expected(architecture: Architecture, name: str | None, arguments: tuple[int, ...], *, has_scratch: bool) -> int:
    """The policy, read without a program."""
    if name is None:
        return 0x5_0000 | errno.ENOSYS
    if name in policy.ALLOWED or (has_scratch and name in policy.SCRATCH):
        return ALLOW
    for entry in (*policy.standing_exceptions(), *policy.own_exceptions(PID)):
        if entry.name == name and all(
            arguments[condition.argument] & condition.mask == condition.value for condition in entry.conditions
        ):
            return ALLOW
    if name in policy.UNSUPPORTED:
        return 0x5_0000 | errno.EOPNOTSUPP
    return 0x5_0000 | (errno.EPERM if name in policy.REFUSED else errno.ENOSYS)


architectures = st.sampled_from(sorted(ARCHITECTURES)).map(ARCHITECTURES.__getitem__)
interesting = st.sampled_from([0, 1, 2, 6, 8, 15, 1030, 1031, 0x5401, 0x5412, PID, 2**32, 2**32 + 15, 2**64 - 1])
six = st.tuples(*[st.one_of(interesting, st.integers(0, 2**64 - 1))] * 6)


@pytest.mark.parametrize("has_scratch", [True, False])
@given(architecture=architectures, number=st.integers(0, 2**30 - 1) | st.integers(0, 500), arguments=six)
def test_every_call_is_decided_as_the_policy_says(
    architecture: Architecture, number: int, arguments: tuple[int, ...], has_scratch: bool
) -> None:
    names = {value: name for name, value in architecture.numbers.items()}
    program = Filter(architecture, has_scratch=has_scratch).program(PID)
    found = decided(program, architecture.audit, number, arguments)
    assert found == expected(architecture, names.get(number), arguments, has_scratch=has_scratch)


@pytest.mark.parametrize("has_scratch", [True, False])
@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=list(ARCHITECTURES))
def test_every_number_there_is_leads_to_its_own_decision(architecture: Architecture, has_scratch: bool) -> None:
    names = {value: name for name, value in architecture.numbers.items()}
    program = Filter(architecture, has_scratch=has_scratch).program(PID)
    for number in range(1000):
        for arguments in ((0,) * 6, (PID,) * 6):
            found = decided(program, architecture.audit, number, arguments)
            assert found == expected(architecture, names.get(number), arguments, has_scratch=has_scratch), number


@given(architecture=architectures, number=st.integers(0, 2**32 - 1), audit=st.integers(0, 2**32 - 1), arguments=six)
def test_a_call_through_another_interface_ends_the_process(
    architecture: Architecture, number: int, audit: int, arguments: tuple[int, ...]
) -> None:
    program = Filter(architecture, has_scratch=True).program(PID)
    if audit != architecture.audit:
        assert decided(program, audit, number, arguments) == KILL
    if architecture.foreign_bit:
        assert decided(program, architecture.audit, number | architecture.foreign_bit, arguments) == KILL


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=list(ARCHITECTURES))
def test_the_program_is_one_that_the_kernel_takes(architecture: Architecture) -> None:
    program = Filter(architecture, has_scratch=True).program(PID)
    assert len(program) % 8 == 0
    assert len(program) // 8 <= 4096


def test_every_name_of_the_policy_has_a_number() -> None:
    entries = (*policy.standing_exceptions(), *policy.own_exceptions(PID))
    names = {*policy.ALLOWED, *policy.SCRATCH, *policy.REFUSED, *policy.UNSUPPORTED, *(entry.name for entry in entries)}
    assert names <= set(ARCHITECTURES["x86_64"].numbers)
    assert names - set(ARCHITECTURES["aarch64"].numbers) == ARM64_LACKS


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=list(ARCHITECTURES))
def test_no_two_names_have_the_same_number(architecture: Architecture) -> None:
    assert len(set(architecture.numbers.values())) == len(architecture.numbers)


def test_what_is_allowed_is_refused_nowhere_and_a_scratch_only_adds() -> None:
    assert not set(policy.ALLOWED) & set(policy.REFUSED)
    assert set(policy.SCRATCH) <= set(policy.REFUSED)
    assert {entry.name for entry in policy.standing_exceptions()} <= set(policy.REFUSED)


@pytest.mark.parametrize("name", ["socket", "clone", "clone3", "execve", "ptrace", "io_uring_setup", "bpf", "mount"])
def test_what_would_be_a_way_out_is_not_allowed(name: str) -> None:
    assert name not in policy.ALLOWED
    assert name not in policy.SCRATCH
