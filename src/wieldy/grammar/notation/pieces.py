"""A shape cut at the places that no regular expression can cross, with one regular expression between any two cuts.

An engine's lexer is greedy: of two neighbouring patterns the first takes all that it can, and nothing is given back.
So neighbours must be one pattern, across optional and repeated parts too. What cannot be part of a pattern is a *stop*:
a JSON value, a special token, a rule that contains itself. `Pieces` says, for a shape, which patterns lead from its
beginning to a stop, from a stop to the next and from a stop to its end; shapes are put together by putting together
their pieces. Patterns are Lark terminals' text; `None` is the pattern that matches nothing, `""` the empty text.

Source: the construction is Glushkov's, with stops for positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Pattern = str | None
EMPTY_TEXT = '""'


@dataclass(frozen=True, slots=True, eq=False)
class Stop:
    """One place in a shape that no pattern crosses; two stops with the same symbol are still two.

    Attributes:
        symbol: What the grammar has there; empty for a mere cut between two patterns.
    """

    symbol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """A shape as patterns between stops.

    Attributes:
        through: From the beginning to the end without a stop.
        into: From the beginning to each stop that can come first.
        out: From each stop that can come last to the end.
        across: From stop to stop.
    """

    through: Pattern = None
    into: dict[Stop, str] = field(default_factory=dict[Stop, str])
    out: dict[Stop, str] = field(default_factory=dict[Stop, str])
    across: dict[tuple[Stop, Stop], str] = field(default_factory=dict[tuple[Stop, Stop], str])

    def with_patterns(self, change: Callable[[str], str]) -> Pieces:
        """The same with every pattern written otherwise."""
        return Pieces(
            through=None if self.through is None else change(self.through),
            into={stop: change(pattern) for stop, pattern in self.into.items()},
            out={stop: change(pattern) for stop, pattern in self.out.items()},
            across={ends: change(pattern) for ends, pattern in self.across.items()},
        )

    @property
    def stops(self) -> frozenset[Stop]:
        """All stops of the shape: every one can be reached, and every one can be left."""
        return frozenset(self.into) | {end for _, end in self.across}

    @property
    def following(self) -> dict[Stop, tuple[Pattern, dict[Stop, str]]]:
        """For each stop: the pattern to the end, and those to the stops that may come next."""
        ways: dict[Stop, tuple[Pattern, dict[Stop, str]]] = {stop: (self.out.get(stop), {}) for stop in self.stops}
        for (start, end), pattern in self.across.items():
            ways[start][1][end] = pattern
        return ways


EMPTY = Pieces(through="")


class NotTheSameError(Exception):
    """Two shapes share stops, but what may follow those stops is not the same in both."""


def at(stop: Stop) -> Pieces:
    """Just the stop."""
    return Pieces(into={stop: ""}, out={stop: ""})


def in_order(first: Pieces, second: Pieces) -> Pieces:
    """One and then the other.

    Raises:
        NotTheSameError: They share stops.
    """
    if not first.into and not second.into:  # patterns alone, which is what most literals are
        is_possible = first.through is not None and second.through is not None
        return Pieces(through=joined(first.through or "", second.through or "") if is_possible else None)
    if first.into and second.into and not first.stops.isdisjoint(second.stops):
        raise NotTheSameError
    into, out = dict(first.into), dict(second.out)
    if first.through is not None:
        into |= {stop: joined(first.through, pattern) for stop, pattern in second.into.items()}
    if second.through is not None:
        out |= {stop: joined(pattern, second.through) for stop, pattern in first.out.items()}
    bridges = {
        (start, end): joined(leaving, entering)
        for start, leaving in first.out.items()
        for end, entering in second.into.items()
    }
    through = None if first.through is None or second.through is None else joined(first.through, second.through)
    return Pieces(through=through, into=into, out=out, across={**first.across, **second.across, **bridges})


def one_of(options: list[Pieces]) -> Pieces:
    """Any of the options. They may share stops after which the same may follow.

    Raises:
        NotTheSameError: After a stop that options share, different things may follow.
    """
    texts = list(dict.fromkeys(option.through for option in options if option.through is not None))
    into: dict[Stop, list[str]] = {}
    following: dict[Stop, tuple[Pattern, dict[Stop, str]]] = {}
    for option in options:
        for stop, pattern in option.into.items():
            into.setdefault(stop, []).append(pattern)
        for stop, ways in option.following.items():
            if following.setdefault(stop, ways) != ways:
                raise NotTheSameError
    return Pieces(
        through=either(texts) if texts else None,
        into={stop: either(list(dict.fromkeys(patterns))) for stop, patterns in into.items()},
        out={stop: pattern for option in options for stop, pattern in option.out.items()},
        across={ends: pattern for option in options for ends, pattern in option.across.items()},
    )


def looped(part: Pieces, between: str) -> Pieces:
    """The part once or more, with the pattern in between."""
    again = "" if part.through is None else repeated(joined(between, part.through), 0, None)
    before = "" if part.through is None else repeated(joined(part.through, between), 0, None)
    bridge = joined(again, between)
    across = {ends: [pattern] for ends, pattern in part.across.items()}
    for start, leaving in part.out.items():
        for end, entering in part.into.items():
            across.setdefault((start, end), []).append(joined(leaving, bridge, entering))
    return Pieces(
        through=None if part.through is None else joined(part.through, again),
        into={stop: joined(before, pattern) for stop, pattern in part.into.items()},
        out={stop: joined(pattern, again) for stop, pattern in part.out.items()},
        across={ends: either(list(dict.fromkeys(patterns))) for ends, patterns in across.items()},
    )


def joined(*patterns: str) -> str:
    """The patterns one after the other."""
    return " ".join(filter(None, patterns))


def either(patterns: list[str]) -> str:
    """Any of the patterns, of which there is at least one."""
    if len(patterns) == 1:
        return patterns[0]
    return f"({' | '.join(pattern or EMPTY_TEXT for pattern in patterns)})"


def repeated(pattern: str, at_least: int, at_most: int | None) -> str:
    """The pattern so many times."""
    if not pattern or at_most == 0:
        return ""
    if (at_least, at_most) == (1, 1):
        return pattern
    counts = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    most = "" if at_most is None else at_most
    return f"({pattern}){counts.get((at_least, at_most), f'{{{at_least},{most}}}')}"
