"""A network made deterministic, bit by bit as it is walked.

A `Rest` is what is still to be written of one rule: a part and what follows it. A `State` is all rests that the bytes
so far allow within one rule, so that every byte leads from a state to at most one other. States are made when they are
first reached and kept: the text of a string goes round in one state however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from wieldy.grammar.budget.parts import (
    IMPOSSIBLE,
    Call,
    Chain,
    Choice,
    Empty,
    FreeText,
    Leaf,
    Part,
    Piece,
    Repetition,
    Rule,
    SpecialToken,
    spelled,
)


class Rest:
    """A part and what follows it within one rule; `END` has neither.

    Attributes:
        cost: The fewest bytes with which all of it is written.
    """

    __slots__ = ("cost", "following", "part")

    def __init__(self, part: Part, following: Rest | None) -> None:
        self.part, self.following = part, following
        self.cost = part.cost + (following.cost if following else 0)

    def spelled(self) -> tuple[list[Piece], int]:
        """The cheapest text of it, and how many free texts are in it."""
        pieces: list[Piece] = []
        free_texts = 0
        rest: Rest | None = self
        while rest is not None:
            more, free = spelled(rest.part)
            pieces += more
            free_texts += free
            rest = rest.following
        return pieces, free_texts


class State:
    """Where a text may stand within one rule: any of the rests is still to be written.

    Attributes:
        cost: The fewest bytes to the end of the rule.
        leaves: What may come next, as leaves with what follows them.
        tokens: The special tokens that may come next.
        calls: The rules that may begin here, each with where to go on after it.
        may_end: Whether the rule may be over.
    """

    __slots__ = ("_after", "_best", "_spelled", "_states", "calls", "cost", "leaves", "may_end", "tokens")

    def __init__(self, states: States, rests: Iterable[Rest]) -> None:
        self._states = states
        self._best = min(rests, key=lambda rest: rest.cost)
        self._spelled: tuple[tuple[Piece, ...], int] | None = None
        self.cost = self._best.cost
        self._after: dict[int, State | None] = {}
        opened = _Opened(states)
        opened.open(rests)
        self.leaves = opened.leaves
        self.may_end = opened.may_end
        self.tokens = {token: states.state(found) for token, found in opened.tokens.items()}
        self.calls = [(rule, states.state(found)) for rule, found in opened.calls.items()]

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to do here but to wait for the next byte."""
        return not self.calls and not self.may_end

    @property
    def is_end(self) -> bool:
        """Whether the rule is over and cannot go on."""
        return self.may_end and not self.leaves and not self.tokens and not self.calls

    def spelled(self) -> tuple[tuple[Piece, ...], int]:
        """The cheapest way to the end of the rule, and how many free texts are in it."""
        if self._spelled is None:
            pieces, free_texts = self._best.spelled()
            self._spelled = (joined(pieces), free_texts)
        return self._spelled

    def after(self, byte: int) -> State | None:
        """Where the text stands after the byte; None if it may not come."""
        if byte not in self._after:
            rests: list[Rest] = []
            for leaf, following in self.leaves:
                left = leaf.after(byte)
                if left is not None and left.cost < IMPOSSIBLE:
                    rests.append(self._states.rest(left, following))
            self._after[byte] = self._states.state(rests) if rests else None
        return self._after[byte]


class States:
    """The states that were reached so far, each once."""

    def __init__(self) -> None:
        self._rests: dict[tuple[Part, Rest | None], Rest] = {}
        self._states: dict[frozenset[Rest], State] = {}
        self._starts: dict[Rule, State] = {}
        self.end = self.rest(_END, None)

    def __len__(self) -> int:
        return len(self._states)

    def rest(self, part: Part, following: Rest | None) -> Rest:
        """The part and what follows it; the same object for the same ones."""
        if isinstance(part, Empty) and following is not None:
            return following
        key = (part, following)
        if key not in self._rests:
            self._rests[key] = Rest(part, following)
        return self._rests[key]

    def state(self, rests: Iterable[Rest]) -> State:
        """The state for the rests, of which there is at least one; the same object for the same ones."""
        key = frozenset(rests)
        if key not in self._states:
            self._states[key] = State(self, key)
        return self._states[key]

    def start(self, rule: Rule) -> State:
        """The state at the beginning of a rule."""
        if rule not in self._starts:
            self._starts[rule] = self.state([self.rest(rule.part, self.end)])
        return self._starts[rule]

    def start_of(self, part: Part) -> State:
        """The state at the beginning of a part that stands alone."""
        return self.state([self.rest(part, self.end)])


_END = Empty()


class _Opened:
    """What may come next, with everything opened that is not itself a byte, a token or a call."""

    def __init__(self, states: States) -> None:
        self._states = states
        self.leaves: list[tuple[Leaf, Rest]] = []
        self.tokens: dict[int, list[Rest]] = {}
        self.calls: dict[Rule, list[Rest]] = {}
        self.may_end = False

    def open(self, rests: Iterable[Rest]) -> None:
        waiting = list(rests)
        seen = set(waiting)
        while waiting:
            for rest in self._opened(waiting.pop()):
                if rest not in seen and rest.cost < IMPOSSIBLE:
                    seen.add(rest)
                    waiting.append(rest)

    def _opened(self, rest: Rest) -> Iterable[Rest]:
        """The rests that this one may stand for; what needs something to come is kept instead."""
        following = rest.following
        make = self._states.rest
        match rest.part:
            case _ if following is None:
                self.may_end = True
                return ()
            case Leaf() as leaf:
                self.leaves.append((leaf, following))
                return (following,) if leaf.may_end else ()
            case SpecialToken(token=token):
                self.tokens.setdefault(token, []).append(following)
                return ()
            case Call(rule=rule):
                self.calls.setdefault(rule, []).append(following)
                return ()
            case Chain(parts=parts):
                for part in reversed(parts):
                    following = make(part, following)
                return (following,)
            case Choice(options=options):
                return [make(option, following) for option in options]
            case FreeText(part=part):
                return (make(part, following),)
            case _:
                return self._repeated(rest.part, following)

    def _repeated(self, part: Part, following: Rest) -> Iterable[Rest]:
        assert isinstance(part, Repetition)
        make = self._states.rest
        again = () if part.most == 0 else (make(part.part, make(part.following, following)),)
        return again if part.least else (*again, following)


def joined(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The same pieces with neighbouring bytes in one."""
    found: list[Piece] = []
    run: list[bytes] = []
    for piece in chain(pieces, [None]):
        if isinstance(piece, bytes):
            run.append(piece)
            continue
        if text := b"".join(run):
            found.append(text)
        run.clear()
        if piece is not None:
            found.append(piece)
    return tuple(found)
