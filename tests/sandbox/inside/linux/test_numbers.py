"""The tables of system calls agree with the kernel's own headers, where a machine has them.

For arm64 on another machine: `apt-get install linux-libc-dev-arm64-cross`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wieldy.sandbox.inside.linux.numbers import ARCHITECTURES, ARM64, X86_64

HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/x86_64-linux-gnu/include/asm/unistd_64.h"),
    "aarch64": (
        "/usr/aarch64-linux-gnu/include/asm-generic/unistd.h",
        "/usr/include/aarch64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm-generic/unistd.h",  # of which arm64 takes all but a few numbers
    ),
}
NEWER = {"fchmodat2": 452}
"""Calls that came with Linux 6.6, which the headers of a stable distribution may not know."""


def defined_in(header: Path) -> dict[str, int]:
    """Numbers of calls by their names; where a name stands for another, that one's."""
    said = dict(re.findall(r"#define\s+(__NR\w+)\s+(\w+)", header.read_text()))
    found: dict[str, int] = {}
    for name, meant in said.items():
        value = meant
        while value in said:
            value = said[value]
        if name.startswith("__NR_") and value.isdigit():
            found[name.removeprefix("__NR_")] = int(value)
    return found


def header_of(name: str) -> Path:
    found = next(filter(Path.is_file, map(Path, HEADERS[name])), None)
    if found is None:
        pytest.skip(f"none of {', '.join(HEADERS[name])} is here")
    return found


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_number_is_that_of_the_kernels_headers(name: str) -> None:
    known = defined_in(header_of(name))
    assert len(known) > 250
    numbers = ARCHITECTURES[name].numbers
    assert {call: known.get(call, NEWER.get(call)) for call in numbers} == numbers


@pytest.mark.parametrize("numbers", [X86_64, ARM64])
def test_no_two_calls_have_one_number(numbers: dict[str, int]) -> None:
    assert len(set(numbers.values())) == len(numbers)


def test_the_kernels_names_of_architectures_are_made_of_their_elf_numbers() -> None:
    header = Path("/usr/include/linux/elf-em.h")
    if not header.is_file():
        pytest.skip(f"{header} is not here")
    machines = dict(re.findall(r"#define\s+EM_(\w+)\s+(\d+)", header.read_text()))
    is_64_bit_little_endian = 0xC000_0000
    assert ARCHITECTURES["x86_64"].audit == is_64_bit_little_endian | int(machines["X86_64"])
    assert ARCHITECTURES["aarch64"].audit == is_64_bit_little_endian | int(machines["AARCH64"])
