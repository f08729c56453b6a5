"""What a network is made of: small parts that say which bytes and special tokens may come, and how few suffice.

A part is like a regular expression over bytes, with two additions: it may call a `Rule`, which makes it a grammar, and
it may ask for a special token. Every part knows its `cost`: the fewest bytes that it can be written with.
Parts only describe; `states` walks them. Those that read bytes themselves are leaves: `leaves`, `numbers`, `meeting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from typing_extensions import override

Piece: TypeAlias = bytes | int | None
"""Some bytes, a special token by its id, or None: here a text of the model's own begins that may be empty."""

Range: TypeAlias = tuple[int, int]
"""The bytes from the first to the last, both included."""

IMPOSSIBLE = 1 << 40
"""The cost of what cannot be written."""
ENDLESS = IMPOSSIBLE - 1
"""The cost of what could be, and is longer than anybody will write."""

MAX_BYTES = 10_000
"""A completion up to this size is made and confirmed again and again, at most at every token; a longer one never."""

TOKEN_COST = 1
"""A special token counts as much as one byte."""


class Part:
    """A part of a network.

    Attributes:
        cost: The fewest bytes that it is written with; `IMPOSSIBLE` if it cannot be, or as long as it is not known.
    """

    __slots__ = ("cost",)

    def __init__(self, cost: int = IMPOSSIBLE) -> None:
        self.cost = cost

    def inner(self) -> Sequence[Part]:
        """The parts directly inside."""
        return ()

    def measured(self) -> int:
        """The cost, from what is known of the inner parts' costs; a choice is made where one is lower than before."""
        return self.cost


class Leaf(Part):
    """A part that reads bytes itself, one after the other, and is deterministic.

    After a byte, what is still to be written is a leaf again.
    """

    __slots__ = ()

    @property
    def may_end(self) -> bool:
        """Whether nothing more need be written."""
        return False

    @property
    def ranges(self) -> Iterable[Range]:
        """Ranges of bytes within which all bytes lead to the same; every byte that may come is in one of them."""
        raise NotImplementedError

    @property
    def spelling(self) -> bytes:
        """The fewest bytes with which it is written."""
        raise NotImplementedError

    @property
    def peak(self) -> int:
        """No fewer bytes than it can cost now or at any time until it is written, characters being whole."""
        return self.cost

    @property
    def lasts(self) -> Iterable[Range] | None:
        """Ranges of bytes of which one is its last; None for all that there are."""
        return None

    def rises(self) -> Mapping[Range, int]:
        """By ranges of the first byte: how much dearer than now it may be at any time after that character."""
        return dict.fromkeys(self.ranges, self.peak - self.cost)

    def after(self, byte: int) -> Leaf | None:
        """What is still to be written after the byte; None if the byte may not come."""
        raise NotImplementedError


def summed(cost: int, parts: Iterable[Part]) -> int:
    """The cost of all parts together: below that of what cannot be written, unless one of them cannot."""
    return cost if cost < IMPOSSIBLE else IMPOSSIBLE if any(part.cost >= IMPOSSIBLE for part in parts) else ENDLESS


class SpecialToken(Part):
    """One special token of the vocabulary."""

    __slots__ = ("token",)

    def __init__(self, token: int) -> None:
        super().__init__(TOKEN_COST)
        self.token = token


class Chain(Part):
    """All parts, one after the other."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__()
        self.parts = tuple(parts)

    @override
    def inner(self) -> Sequence[Part]:
        return self.parts

    @override
    def measured(self) -> int:
        return summed(sum(part.cost for part in self.parts), self.parts)


class Choice(Part):
    """Any one of the options.

    Attributes:
        cheapest: The option that is written with the fewest bytes, once costs are known.
    """

    __slots__ = ("cheapest", "options")

    def __init__(self, options: Sequence[Part]) -> None:
        super().__init__()
        self.options = tuple(options)
        self.cheapest: Part | None = None

    @override
    def inner(self) -> Sequence[Part]:
        return self.options

    @override
    def measured(self) -> int:
        best = min(self.options, key=lambda option: option.cost, default=None)
        if best is None or best.cost >= self.cost:
            return self.cost
        # Changed only where the cost falls: so no choice can lead back to itself for nothing.
        self.cheapest = best
        return best.cost


class Repetition(Part):
    """The part several times. A part that may be empty has no least count: empty ones fill it up."""

    __slots__ = ("_following", "least", "most", "part")

    def __init__(self, part: Part, least: int, most: int | None) -> None:
        super().__init__()
        self.part, self.least, self.most = part, least, most
        self._following: Repetition | None = None
        self.cost = self.measured()

    @override
    def inner(self) -> Sequence[Part]:
        return (self.part,)

    @override
    def measured(self) -> int:
        return summed(self.least * self.part.cost, (self.part,) if self.least else ())

    @property
    def following(self) -> Repetition:
        """What may still come after one more."""
        if self._following is None:
            least, most = max(self.least - 1, 0), None if self.most is None else self.most - 1
            is_same = (least, most) == (self.least, self.most)
            self._following = self if is_same else Repetition(self.part, least, most)
        return self._following


class FreeText(Part):
    """A part whose text is the model's own to choose, and which must be written: a string without given values."""

    __slots__ = ("part",)

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part = part

    @override
    def inner(self) -> Sequence[Part]:
        return (self.part,)

    @override
    def measured(self) -> int:
        return self.part.cost


class Rule:
    """A named part, made when it is first needed: how a part contains itself."""

    __slots__ = ("_builder", "_part")

    def __init__(self, builder: Callable[[], Part]) -> None:
        self._builder = builder
        self._part: Part | None = None

    @property
    def part(self) -> Part:
        """What it stands for."""
        if self._part is None:
            self._part = self._builder()
        return self._part


class Call(Part):
    """What the rule says."""

    __slots__ = ("rule",)

    def __init__(self, rule: Rule) -> None:
        super().__init__()
        self.rule = rule

    @override
    def inner(self) -> Sequence[Part]:
        return (self.rule.part,)

    @override
    def measured(self) -> int:
        return self.rule.part.cost


def solve(root: Part) -> None:
    """Afterwards every part within knows its cost.

    Costs only fall: each round puts the parts that calls lead to first, so that without recursion one is enough.
    """
    order = list(inner_first(root))
    is_settled = False
    while not is_settled:
        is_settled = True
        for part in order:
            cost = part.measured()
            if cost < part.cost:
                part.cost = cost
                is_settled = False


def inner_first(root: Part) -> Iterator[Part]:
    """Every part once, those inside before those around them, as far as parts do not contain themselves."""
    waiting: list[tuple[Part, bool]] = [(root, False)]
    seen = set[Part]()
    while waiting:
        part, is_open = waiting.pop()
        if is_open:
            yield part
        elif part not in seen:
            seen.add(part)
            waiting.append((part, True))
            waiting += ((inner, False) for inner in part.inner())


def spelled(part: Part) -> list[Piece]:
    """The cheapest text of a part that can be written."""
    pieces: list[Piece] = []
    waiting = [part]
    while waiting:
        match waiting.pop():
            case Leaf() as leaf:
                pieces.append(leaf.spelling)
            case SpecialToken(token=token):
                pieces.append(token)
            case Chain(parts=parts):
                waiting += reversed(parts)
            case Choice(cheapest=cheapest) if cheapest is not None:
                waiting.append(cheapest)
            case Repetition(part=Leaf() as leaf, least=least):
                pieces.append(leaf.spelling * least)
            case Repetition(part=inner, least=least):
                waiting += [inner] * least
            case FreeText(part=inner):
                pieces.append(None)
                waiting.append(inner)
            case Call(rule=rule):
                waiting.append(rule.part)
            case _:
                raise AssertionError("A part without a text was chosen.")
    return pieces


def joined(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The same pieces with neighbouring bytes in one."""
    found: list[Piece] = []
    run: list[bytes] = []
    for piece in pieces:
        if isinstance(piece, bytes):
            run.append(piece)
            continue
        if text := b"".join(run):
            found.append(text)
        run.clear()
        found.append(piece)
    if text := b"".join(run):
        found.append(text)
    return tuple(found)
