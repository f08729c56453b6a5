"""A network made deterministic, bit by bit as it is walked.

A `Rest` is what is still to be written of one rule: a part and what follows it. A `State` is all rests that the bytes
so far allow within one rule, so that every byte leads from a state to at most one other. States are made when they are
first reached and kept: the text of a string goes round in one state however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wieldy.core.errors import GrammarError
from wieldy.grammar.budget.leaves import Empty
from wieldy.grammar.budget.parts import (
    IMPOSSIBLE,
    Call,
    Chain,
    Choice,
    FreeText,
    Leaf,
    Part,
    Piece,
    Repetition,
    Rule,
    SpecialToken,
    inner_first,
    joined,
    spelled,
)

_MAX_READINGS = 300
_MAX_LOOKED_AT = 2000
"""So many bytes are looked at for a text with many readings."""


class Rest:
    """A part and what follows it within one rule; `END` has neither.

    Attributes:
        cost: The fewest bytes with which all of it is written.
    """

    __slots__ = ("cost", "following", "part")

    def __init__(self, part: Part, following: Rest | None) -> None:
        self.part, self.following = part, following
        self.cost = part.cost + (following.cost if following else 0)

    def spelled(self) -> list[Piece]:
        """The cheapest text of it."""
        pieces: list[Piece] = []
        rest: Rest | None = self
        while rest is not None:
            pieces += spelled(rest.part)
            rest = rest.following
        return pieces


class State:
    """Where a text may stand within one rule: any of the rests is still to be written.

    Attributes:
        cost: The fewest bytes to the end of the rule.
        leaves: The bytes that may come next, as leaves with what follows them.
        may_end: Whether the rule may be over.
    """

    __slots__ = (
        "_after",
        "_best",
        "_calls",
        "_most",
        "_opened",
        "_peak",
        "_spelled",
        "_states",
        "_tokens",
        "cost",
        "leaves",
        "may_end",
    )

    def __init__(self, states: States, rests: Sequence[Rest]) -> None:
        self._states = states
        self._best = min(rests, key=lambda rest: rest.cost)
        self.cost = self._best.cost
        self._most = max(rest.cost for rest in rests)
        self._peak: int | None = None
        self._opened = _Opened(states, rests)
        self.leaves = self._opened.leaves
        self.may_end = self._opened.may_end
        self._spelled: tuple[Piece, ...] | None = None
        self._after: dict[int, State | None] = {}
        self._tokens: dict[int, State] | None = None
        self._calls: list[tuple[Rule, State]] | None = None

    @property
    def tokens(self) -> dict[int, State]:
        """The special tokens that may come next, with where the text stands after them."""
        if self._tokens is None:
            self._tokens = {token: self._states.state(rests) for token, rests in self._opened.tokens.items()}
        return self._tokens

    @property
    def calls(self) -> list[tuple[Rule, State]]:
        """The rules that may begin here, each with where to go on after it."""
        if self._calls is None:
            self._calls = [(rule, self._states.state(rests)) for rule, rests in self._opened.calls.items()]
        return self._calls

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to do here but to wait for the next byte."""
        return not self._opened.calls and not self.may_end

    @property
    def is_end(self) -> bool:
        """Whether the rule is over and cannot go on."""
        return self.may_end and not self.leaves and not self._opened.tokens and not self._opened.calls

    @property
    def peak(self) -> int:
        """No fewer bytes than the way to the end of the rule can take, whichever way the text goes from here."""
        if self._peak is None:
            leaves = (leaf.peak + following.cost for leaf, following in self.leaves)
            self._peak = max((self._most, *leaves))
        return self._peak

    def spelled(self) -> tuple[Piece, ...]:
        """The cheapest way to the end of the rule."""
        if self._spelled is None:
            self._spelled = joined(self._best.spelled())
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
        found = tuple(dict.fromkeys(rests))  # in their order, so that of equal costs the same one is taken every time
        key = frozenset(found)
        if key not in self._states:
            self._states[key] = State(self, found)
        return self._states[key]

    def start(self, rule: Rule) -> State:
        """The state at the beginning of a rule."""
        if rule not in self._starts:
            self._starts[rule] = self.state([self.rest(rule.part, self.end)])
        return self._starts[rule]

    def start_of(self, part: Part) -> State:
        """The state at the beginning of a part that stands alone."""
        return self.state([self.rest(part, self.end)])


def check_readings(states: States, root: Part) -> None:
    """Raises if a text can be read in too many ways at once, which would cost as much at every byte: `.*a.{1000}b`.

    Looked for where something is repeated so often; along the bytes after which the most readings are open.

    Raises:
        GrammarError: It can.
    """
    parts = list(inner_first(root))
    if not any(isinstance(part, Repetition) and part.least > _MAX_READINGS for part in parts):
        return
    starts = [states.start(part.rule) for part in parts if isinstance(part, Call)]
    for state in (states.start_of(root), *starts):
        if _most_readings(state) > _MAX_READINGS:
            raise GrammarError(
                f"A text of the constraint can be read in more than {_MAX_READINGS} ways at once: something is "
                "repeated so often and may begin again meanwhile. A budget is not kept for such; repeat it less often, "
                "or write without a guard."
            )


def _most_readings(state: State | None) -> int:
    most, seen = 0, set[State]()
    while state is not None and state not in seen and len(seen) < _MAX_LOOKED_AT and most <= _MAX_READINGS:
        seen.add(state)
        most = max(most, len(state.leaves))
        taken = [tuple(leaf.ranges) for leaf, _ in state.leaves]
        kinds = {low for ranges in taken for low, _ in ranges}
        counts = {byte: sum(any(low <= byte <= high for low, high in ranges) for ranges in taken) for byte in kinds}
        state = state.after(max(sorted(counts), key=lambda byte: counts[byte])) if counts else None
    return most


_END = Empty()


class _Opened:
    """What may come next, with everything opened that is not itself a byte, a token or a call."""

    def __init__(self, states: States, rests: Iterable[Rest]) -> None:
        self._states = states
        self.leaves: list[tuple[Leaf, Rest]] = []
        self.tokens: dict[int, list[Rest]] = {}
        self.calls: dict[Rule, list[Rest]] = {}
        self.may_end = False
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
