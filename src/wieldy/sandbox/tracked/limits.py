"""How much tracked code may do, and the account of what it did."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedLimits:
    """Bounds of one run of code; a run that reaches one ends as `Failed`.

    Attributes:
        steps: Expressions and statements that are evaluated; operations over many elements count as many.
        depth: Functions within functions.
        calls: Tool calls.
        size: Characters of a text, elements of a container.
        allocated: Characters and elements made over the whole run, beside those that earlier code has left; what is
            dropped is not given back.
        int_bits: Bits of a whole number.
        stdout: Characters that may be printed.
        code: Characters of the code.
        nesting: Levels of brackets, blocks and operators in the code, and of data that goes in or out.
    """

    steps: int = 1_000_000
    depth: int = 100
    calls: int = 1_000
    size: int = 1 * MEGABYTE
    allocated: int = 20 * MEGABYTE
    int_bits: int = 4096
    stdout: int = 256_000
    code: int = 100_000
    nesting: int = 60


class LimitReachedError(Exception):
    """The code may not go on; nothing in it can catch this."""


class Meter:
    """Counts what a run of code does, and ends it at a limit."""

    __slots__ = ("allocated", "limits", "steps")

    def __init__(self, limits: TrackedLimits) -> None:
        self.limits = limits
        self.steps = 0
        self.allocated = 0

    def charge(self, steps: int) -> None:
        """Counts steps that one operation takes beyond its own."""
        self.steps += steps
        if self.steps > self.limits.steps:
            raise LimitReachedError(f"more than {self.limits.steps} steps: do less, or do it in a tool")

    def make(self, size: int) -> None:
        """Counts a text or container of that many characters or elements, before it is made."""
        if size > self.limits.size:
            raise LimitReachedError(f"a text or container of more than {self.limits.size} elements")
        self.allocated += size
        if self.allocated > self.limits.allocated:
            raise LimitReachedError(f"more than {self.limits.allocated} characters and elements in all")
        self.charge(size >> 4)

    def text(self, text: str) -> str:
        """The text, counted."""
        self.make(len(text))
        return text

    def number(self, number: int) -> int:
        """The whole number, if it is not too long."""
        if number.bit_length() > self.limits.int_bits:
            raise LimitReachedError(f"a whole number of more than {self.limits.int_bits} bits")
        return number
