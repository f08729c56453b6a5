"""Numbers within bounds, exactly: which digits may follow, and the fewest that make the number valid.

`3` under a minimum of 40 is completed to `300`; that is arithmetic, and no automaton of any size is built for it.
Numbers without bounds are ordinary parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from typing_extensions import override

from wieldy.grammar.budget.parts import IMPOSSIBLE, Leaf, Range

_MORE_DIGITS = 3
"""Characters that a number may lack beside the digits of its bounds: a sign, a point, and one digit more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a number must fulfil.

    Attributes:
        is_whole: It has no decimals.
        low: The least value, or the value that it must exceed.
        high: The largest value, or the value that it must stay below.
        step: It is a multiple of this.
    """

    is_whole: bool
    low: Fraction | None = None
    is_low_excluded: bool = False
    high: Fraction | None = None
    is_high_excluded: bool = False
    step: Fraction | None = None

    @property
    def most_digits(self) -> int:
        """No fewer characters than any beginning of such a number can lack."""
        values = (self.low, self.high, self.step)
        return _MORE_DIGITS + sum(len(str(value)) for value in values if value is not None)

    @property
    def decimals(self) -> int | None:
        """How many decimals it has if any: the engine writes multiples of 0.25 with two; None for any number."""
        if self.is_whole:
            return 0
        if self.step is None:
            return None
        decimals = 0
        while (self.step * 10**decimals).denominator != 1:
            decimals += 1
        return decimals

    def least(self, low: int, high: int, decimals: int, *, is_negative: bool) -> int | None:
        """The least number between the two whose so many last digits are decimals, and that fulfils the bounds."""
        unit = Fraction(1, 10**decimals)
        least, most = (self.low, self.high) if not is_negative else (_negated(self.high), _negated(self.low))
        is_least_out, is_most_out = self.is_low_excluded, self.is_high_excluded
        if is_negative:
            is_least_out, is_most_out = is_most_out, is_least_out
            if self.low is not None or self.high is not None:
                low = max(low, 1)  # the engine knows no negative zero where there are bounds
        if least is not None:
            low = max(low, _above(least / unit, is_excluded=is_least_out))
        if most is not None:
            high = min(high, -_above(-(most / unit), is_excluded=is_most_out))
        every = 1 if self.step is None else (self.step / unit).numerator
        low = -(-low // every) * every
        return low if low <= high else None


def _negated(value: Fraction | None) -> Fraction | None:
    return None if value is None else -value


def _above(value: Fraction, *, is_excluded: bool) -> int:
    """The least whole number that is not below the value, or that is above it."""
    whole = -(-value.numerator // value.denominator)
    return whole + 1 if is_excluded and whole == value else whole


class Number(Leaf):
    """A number within bounds of which some characters have been written."""

    __slots__ = ("_bounds", "_lacking", "_written")

    def __init__(self, bounds: Bounds, written: str) -> None:
        self._bounds, self._written = bounds, written
        self._lacking = _lacking(bounds, written)
        super().__init__(IMPOSSIBLE if self._lacking is None else len(self._lacking))

    @property
    @override
    def may_end(self) -> bool:
        return self.cost == 0

    @property
    @override
    def ranges(self) -> Iterable[Range]:
        return ((byte, byte) for byte in b"-.0123456789")

    @property
    @override
    def lasts(self) -> Iterable[Range]:
        return ((ord("0"), ord("9")),)

    @property
    @override
    def spelling(self) -> bytes:
        return (self._lacking or "").encode()

    @property
    @override
    def peak(self) -> int:
        return self._bounds.most_digits

    @override
    def after(self, byte: int) -> Leaf | None:
        character = chr(byte)
        written = self._written
        unsigned = written.removeprefix("-")
        if character == "-":
            is_next = not written
        elif character == ".":
            is_next = bool(unsigned) and "." not in unsigned and not self._bounds.is_whole
        else:
            is_next = character in "0123456789" and unsigned != "0"
        return number(self._bounds, written + character) if is_next else None


@lru_cache(maxsize=10_000)
def number(bounds: Bounds, written: str = "") -> Number:
    """The part for a number that has been begun; the same object for the same beginning."""
    return Number(bounds, written)


def _lacking(bounds: Bounds, written: str) -> str | None:
    """The fewest characters that make it a number within the bounds; None if none do."""
    if not written:
        ways = [_lacking(bounds, "-")] if bounds.low is None or bounds.low < 0 else []
        found = [f"-{way}" for way in ways if way is not None]
        return min((way for way in (_lacking_digits(bounds, ""), *found) if way is not None), key=len, default=None)
    return _lacking_digits(bounds, written)


def _lacking_digits(bounds: Bounds, written: str) -> str | None:
    whole, dot, decimals = written.removeprefix("-").partition(".")
    digits = int(whole + decimals or "0")
    for more_whole, more_decimals in _ways(bounds, whole, decimals if dot else None):
        more = more_whole + (more_decimals or 0)
        low, high = digits * 10**more, (digits + 1) * 10**more - 1
        if not whole and more_whole > 1:
            low = 10 ** (more - 1)  # no leading zero
        is_negative = written.startswith("-")
        found = bounds.least(low, high, len(decimals) + (more_decimals or 0), is_negative=is_negative)
        if found is not None:
            last = f"{found:0{more}d}"[len(f"{found:0{more}d}") - more :]
            point = "" if dot or more_decimals is None else "."
            return last[:more_whole] + point + last[more_whole:]
    return None


def _ways(bounds: Bounds, whole: str, decimals: str | None) -> Iterator[tuple[int, int | None]]:
    """How many digits may be added before and after the decimal point (None: there is none), fewest first."""
    for more in range(bounds.most_digits):
        if decimals is not None:
            lacks = bounds.decimals is not None and len(decimals) + more != bounds.decimals
            if len(decimals) + more and not lacks:
                yield 0, more
            continue
        most_whole = 0 if whole == "0" else more
        if more <= most_whole and (whole or more):
            yield more, None
        for more_decimals in range(1, more):
            more_whole = more - 1 - more_decimals
            is_right = bounds.decimals in (None, more_decimals) and not bounds.is_whole
            if is_right and more_whole <= most_whole and (whole or more_whole):
                yield more_whole, more_decimals
