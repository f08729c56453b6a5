"""Where a text stands within a whole network, and how it is completed with the fewest bytes.

Rules call one another, so where a text stands has a stack. Stacks that begin alike are one (a graph-structured stack,
as generalised LL parsers have it): a rule that begins at some position of the text is one `Frame`, with every place
from which it was called. So left recursion and ambiguity cost no more than their frames, and a frame never changes
once the text has gone on: standings are immutable, and going back is keeping the earlier one.
Source: Scott and Johnstone, GLL Parsing (2010).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from wieldy.grammar.budget.parts import IMPOSSIBLE, Piece, Rule, joined
from wieldy.grammar.budget.states import State, States


class Frame:
    """A rule that began at some position, and where to go on when it is over; the bottom one goes nowhere.

    Attributes:
        cost: The fewest bytes from the end of the rule to the end of the whole text.
    """

    __slots__ = ("_best", "_peak", "_place", "_rest", "cost", "has_ended", "position", "returns")

    def __init__(self, position: int, *, is_bottom: bool = False) -> None:
        self.position = position
        self.returns: dict[tuple[State, Frame], None] = {}
        self.has_ended = False
        self.cost = 0 if is_bottom else IMPOSSIBLE
        self._best: tuple[State, Frame] | None = None
        self._rest: tuple[Piece, ...] | None = None
        self._peak: int | None = None
        self._place: Hashable = None

    def measured(self) -> bool:
        """Whether its cost fell, from what is known of the frames below."""
        cost_before = self.cost
        for state, below in self.returns:
            if state.cost + below.cost < self.cost:
                self.cost = state.cost + below.cost
                self._best = (state, below)
        return self.cost < cost_before

    @property
    def place(self) -> Hashable:
        """Equal for frames that return to equal places."""
        if self._place is None:
            self._place = self.position  # while it is being found out, for a rule that returns to itself
            self._place = frozenset((state, below.place) for state, below in self.returns)
        return self._place

    @property
    def peak(self) -> int:
        """No fewer bytes than from the end of the rule to the end of the text, to whichever place it returns."""
        if self._peak is None:
            self._peak = IMPOSSIBLE  # while it is being found out: a rule that returns to itself has no bound
            self._peak = max((state.peak + below.peak for state, below in self.returns), default=0)
        return self._peak

    @property
    def below(self) -> Frame | None:
        """The frame to which the cheapest way to the end returns."""
        return None if self._best is None else self._best[1]

    def spelled(self) -> tuple[Piece, ...]:
        """The cheapest way from the end of the rule to the end of the text."""
        if self._rest is None:
            pieces = list[Piece]()
            frame = self
            while frame._best is not None:
                state, frame = frame._best
                pieces += state.spelled()
            self._rest = joined(pieces)
        return self._rest


class Standing:
    """Where a text stands: which states of which frames it may be in. Immutable.

    Attributes:
        is_complete: Whether the text may end here.
        cost: The fewest bytes with which it is completed.
    """

    __slots__ = ("_heads", "_position", "_states", "cost", "is_complete")

    def __init__(self, states: States, heads: Iterable[tuple[State, Frame]], position: int) -> None:
        self._states = states
        self._position = position
        self._heads, self.is_complete = _closed(states, heads, position)
        costs = (state.cost + frame.cost for state, frame in self._heads)
        self.cost = 0 if self.is_complete else min(costs, default=IMPOSSIBLE)

    @classmethod
    def at_start(cls, states: States, start: Rule) -> Standing:
        """Where the empty text stands."""
        return cls(states, [(states.start(start), Frame(0, is_bottom=True))], 0)

    def after(self, text: bytes) -> Standing | None:
        """Where the text stands after these bytes; None if they may not come."""
        if not text:
            return self
        heads = self._heads
        position = self._position
        is_open = True
        for byte in text:
            if not is_open:
                heads = _closed(self._states, heads, position)[0]
            heads = [(state, frame) for before, frame in heads if (state := before.after(byte)) is not None]
            if not heads:
                return None
            position += 1
            is_open = all(state.is_plain for state, _ in heads)
        return Standing(self._states, heads, position)

    def after_token(self, token: int) -> Standing | None:
        """Where the text stands after a special token; None if it may not come."""
        heads = [(before.tokens[token], frame) for before, frame in self._heads if token in before.tokens]
        return Standing(self._states, heads, self._position + 1) if heads else None

    def completion(self) -> tuple[Piece, ...]:
        """The fewest bytes and special tokens that complete the text."""
        if self.is_complete:
            return ()
        state, frame = self._best()
        return joined((*state.spelled(), *frame.spelled()))

    @property
    def place(self) -> Hashable:
        """Equal for standings after which the same may follow."""
        return self.is_complete, frozenset((state, frame.place) for state, frame in self._heads)

    @property
    def free_texts(self) -> int:
        """How many texts of the model's own have not begun and are still to come on the shortest way to the end."""
        return sum(piece is None for piece in self.completion()[1:])

    @property
    def peak(self) -> int:
        """No fewer bytes than the text can cost to complete, as long as nothing more begins that may be left out."""
        return max((state.peak + frame.peak for state, frame in self._heads), default=0)

    def cost_outside(self, last: int) -> int:
        """The fewest bytes to the end once the rule is over that began before the last so many bytes of the text.

        Where that is the whole text: once something follows what is being written; never, if nothing need follow.
        """
        if not self._heads:
            return -1
        frame = self._best()[1]
        while frame.position >= self._position - last and frame.below is not None:
            frame = frame.below
        return frame.cost if frame.below is not None else self.cost - 1

    def _best(self) -> tuple[State, Frame]:
        return min(self._heads, key=lambda head: head[0].cost + head[1].cost)

    def next_bytes(self) -> Iterator[tuple[int, Standing]]:
        """A byte of every kind that may come next, with where the text stands after it."""
        starts = {low for state, _ in self._heads for leaf, _ in state.leaves for low, _ in leaf.ranges}
        for byte in sorted(starts):
            standing = self.after(bytes([byte]))
            if standing is not None:
                yield byte, standing

    def next_tokens(self) -> Iterator[tuple[int, Standing]]:
        """Every special token that may come next, with where the text stands after it."""
        for token in sorted({token for state, _ in self._heads for token in state.tokens}):
            standing = self.after_token(token)
            if standing is not None:
                yield token, standing


def _closed(
    states: States, heads: Iterable[tuple[State, Frame]], position: int
) -> tuple[Sequence[tuple[State, Frame]], bool]:
    """The heads, with the rules that begin or end here begun and ended; and whether the text may end here."""
    closing = _Closing(states, position)
    closing.close(heads)
    return closing.heads, closing.is_complete


class _Closing:
    def __init__(self, states: States, position: int) -> None:
        self._states = states
        self._position = position
        self._begun: dict[Rule, Frame] = {}
        self._seen: set[tuple[State, Frame]] = set()
        self._waiting: list[tuple[State, Frame]] = []
        self.heads: list[tuple[State, Frame]] = []
        self.is_complete = False

    def close(self, heads: Iterable[tuple[State, Frame]]) -> None:
        for head in heads:
            self._add(head)
        while self._waiting:
            state, frame = head = self._waiting.pop()
            if state.leaves or state.tokens:
                self.heads.append(head)
            if state.may_end:
                self._end(frame)
            for rule, following in state.calls:
                self._call(rule, following, frame)
        while sum(frame.measured() for frame in self._begun.values()):
            pass  # until no cost falls any more

    def _add(self, head: tuple[State, Frame]) -> None:
        if head not in self._seen:
            self._seen.add(head)
            self._waiting.append(head)

    def _end(self, frame: Frame) -> None:
        if frame.position == self._position:
            frame.has_ended = True
        if not frame.returns and frame.cost == 0:
            self.is_complete = True
        for head in frame.returns:
            self._add(head)

    def _call(self, rule: Rule, following: State, caller: Frame) -> None:
        frame = self._begun.get(rule)
        if frame is None:
            frame = self._begun[rule] = Frame(self._position)
            self._add((self._states.start(rule), frame))
        # A call at the very end of a rule returns to where the rule itself does: the stack stays flat.
        is_tail = following.is_end and caller.returns and caller.position < self._position
        for head in caller.returns if is_tail else ((following, caller),):
            if head not in frame.returns:
                frame.returns[head] = None
                if frame.has_ended:
                    self._add(head)
