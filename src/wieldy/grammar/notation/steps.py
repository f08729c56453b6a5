"""A shape as an automaton whose every step ends where a greedy lexer ends too: calls of many tools stay small so.

A step is one terminal, and perhaps a stop behind it: JSON, a special token. A literal ends a step only where no other
literal from the same state goes on with more of it; a text without markers takes in what follows it up to the end of a
marker, for only there can nobody tell it apart from more text. What is no sequence, choice or repetition of such parts
is not made into steps (`NoStepsError`): `pieces` can print it, at a higher price.

Law: a walk through the states spells exactly the texts of the shape, and no text of it is the beginning of another.
Cost: linear in a shape's parts, in the square of the parts of one sequence that may all be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from wieldy.grammar.naming import is_nullable
from wieldy.grammar.notation.markers import occurrence
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.shape import Characters, Exact, InOrder, Json, Marker, Named, OneOf, Repeated, Shape, TextWithout

_MAX_COUNT = 32
"""A part that is repeated more often than this, but not without end, is not written out."""
_MAX_WAYS = 3000
"""More ways from one state are not followed."""

Terminal: TypeAlias = tuple[Exact | Characters | TextWithout, ...]


class NoStepsError(Exception):
    """The shape cannot be cut where a greedy lexer ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One way on from a state.

    Attributes:
        terminal: What is one terminal; empty for nothing.
        stop: What stands behind it: JSON, or a literal that is one special token.
        following: The next state; None where the shape ends.
    """

    terminal: Terminal
    stop: Json | Exact | None = None
    following: int | None = None


class _Rest:
    """What is still to come of a shape: a part, and what is behind it."""

    __slots__ = ("behind", "part")

    def __init__(self, part: Shape, behind: _Rest | None) -> None:
        self.part, self.behind = part, behind


_Entry: TypeAlias = tuple[str, _Rest | None]
"""A literal, and what comes behind it."""


class Steps:
    """The states of shapes; they share what they have in common.

    Args:
        named: The shapes of the names that may be looked into: those that do not contain themselves.
        split: A literal as literals of which each is one special token, then marked so, or none.
    """

    def __init__(self, named: Mapping[str, Shape], split: Callable[[Exact], Sequence[Exact]]) -> None:
        self._named, self._split = named, split
        self._split_up: dict[int, tuple[Exact, tuple[Exact, ...]]] = {}
        self._rests: dict[tuple[int, int], tuple[_Rest, Shape]] = {}
        self._literals: dict[int, tuple[str, _Rest | None]] = {}
        self._again: dict[int, tuple[Repeated, Shape | None]] = {}
        self._numbers: dict[tuple[tuple[str, int], ...], int] = {}
        self._waiting: list[tuple[int, list[_Entry]]] = []
        self.states: dict[int, list[Step]] = {}

    def lead(self, shape: OneOf) -> tuple[Exact, ...]:
        """The literals with which every option begins."""
        leads = [self._leading(option)[0] for option in shape.options]
        common = _common(leads) if len(leads) > 1 else leads[0]
        return tuple(literal for literal in common if literal.text)

    def state(self, shape: OneOf) -> int | None:
        """The state in which the shape begins behind its lead; None if nothing is left of it.

        Raises:
            NoStepsError: It cannot be done.
        """
        lead = self.lead(shape)
        entries = [self._behind(lead, *self._leading(option)) for option in shape.options]
        number = self._number(entries)
        while self._waiting:
            found, entries = self._waiting.pop()
            self.states[found] = self._steps(entries)
        return number

    def _leading(self, shape: Shape) -> tuple[list[Exact], _Rest | None]:
        """The literals with which the shape begins, neighbouring texts as one, and what is behind them."""
        found, rest = list[Exact](), self._rest((shape,), None)
        while True:
            literal, rest = next(self._ways("", rest, lambda text: True))
            if literal:
                found.append(Exact(literal))
            if rest is None or not isinstance(rest.part, Exact):
                return found, rest
            token, *others = self._pieces_of(rest.part)
            found.append(token)
            rest = self._rest(others, rest.behind)

    def _behind(self, lead: Sequence[Exact], leading: Sequence[Exact], rest: _Rest | None) -> _Entry:
        left = list(leading[len(lead) :])
        if lead and (last := leading[len(lead) - 1]) != lead[-1]:
            left.insert(0, Exact(last.text.removeprefix(lead[-1].text)))
        begun = "" if not left or left[0].token else left.pop(0).text
        return begun, self._rest(left, rest)

    def _pieces_of(self, literal: Exact) -> Sequence[Exact]:
        if id(literal) not in self._split_up:
            self._split_up[id(literal)] = (literal, tuple(self._split(literal)))
        return self._split_up[id(literal)][1]

    # What may come next

    def _rest(self, parts: Sequence[Shape], behind: _Rest | None) -> _Rest | None:
        for part in reversed(parts):
            key = id(part), id(behind)
            if key not in self._rests:
                self._rests[key] = (_Rest(part, behind), part)  # the part keeps the identity taken
            behind = self._rests[key][0]
        return behind

    def _ways(
        self, literal: str, rest: _Rest | None, is_enough: Callable[[str], object]
    ) -> Iterator[tuple[str, _Rest | None]]:
        """The literals that may come next, each with what is behind: the end, something else, or a choice."""
        waiting, count = [(literal, rest)], 0
        while waiting:
            literal, rest = waiting.pop()
            if rest:
                more, rest = self._through_literals(rest)
                literal += more
            if rest and isinstance(part := rest.part, OneOf | Repeated) and not is_enough(literal):
                waiting += [(literal, option) for option in reversed(self._options(part, rest.behind))]
            else:
                yield literal, rest
            count += 1
            if count > _MAX_WAYS:
                raise NoStepsError

    def _through_literals(self, rest: _Rest) -> tuple[str, _Rest | None]:
        """The literals that come next in any case, and what is behind them."""
        if id(rest) not in self._literals:
            self._literals[id(rest)] = self._new_literals(rest)  # rests live as long as this
        return self._literals[id(rest)]

    def _new_literals(self, rest: _Rest | None) -> tuple[str, _Rest | None]:
        literal = ""
        while rest is not None:
            part, behind = rest.part, rest.behind
            match part:
                case Exact():
                    pieces = self._pieces_of(part)
                    if pieces and pieces[0].token:
                        break
                    literal += "".join(piece.text for piece in pieces[:1])
                    rest = self._rest(pieces[1:], behind)
                case InOrder(parts=inner):
                    rest = self._rest(inner, behind)
                case Named(name=name) if name in self._named:
                    rest = self._rest((self._named[name],), behind)
                case _:
                    break
        return literal, rest

    def _options(self, part: OneOf | Repeated, behind: _Rest | None) -> list[_Rest | None]:
        if isinstance(part, OneOf):
            return [self._rest((option,), behind) for option in part.options]
        again = self._repeated_again(part)
        others: list[_Rest | None] = [] if part.at_least else [behind]
        if part.at_most == 0:
            return others
        return [self._rest((part.part,) if again is None else (part.part, again), behind), *others]

    def _repeated_again(self, part: Repeated) -> Shape | None:
        """What may follow the first of several repetitions."""
        if id(part) not in self._again:
            self._again[id(part)] = (part, self._new_repeated_again(part))
        return self._again[id(part)][1]

    def _new_repeated_again(self, part: Repeated) -> Shape | None:
        least, most = max(part.at_least - 1, 0), None if part.at_most is None else part.at_most - 1
        if most == 0:
            return None
        repeating = part.part if part.between is None else InOrder((part.between, part.part))
        if is_nullable(repeating, self._named) or max(least, most or 0) > _MAX_COUNT:
            raise NoStepsError
        if part.between is None and (part.at_least, part.at_most) == (0, None):
            return part
        return Repeated(repeating, at_least=least, at_most=most)

    # States

    def _number(self, entries: Sequence[_Entry]) -> int | None:
        """The state in which any of the entries comes next; None if the shape just ends."""
        distinct = {(literal, id(rest)): (literal, rest) for literal, rest in entries}
        if all(not literal and rest is None for literal, rest in distinct.values()):
            return None
        key = tuple(distinct)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self._waiting.append((self._numbers[key], list(distinct.values())))
        return self._numbers[key]

    def _steps(self, entries: Sequence[_Entry]) -> list[Step]:
        try:
            return self._steps_until(entries, bool)
        except NoStepsError:
            # A literal before a choice may be what other literals begin with: they are taken with what they go on with.
            return self._steps_until(entries, lambda literal: False)

    def _steps_until(self, entries: Sequence[_Entry], is_enough: Callable[[str], object]) -> list[Step]:
        steps: list[Step] = []
        texts: dict[tuple[Marker, ...], list[_Rest | None]] = {}
        for begun, rest in entries:
            for literal, behind in self._ways(begun, rest, is_enough):
                if not literal and behind is not None and isinstance(text := behind.part, TextWithout):
                    texts.setdefault(text.markers, []).append(behind.behind)
                else:
                    steps.append(self._step(literal, behind))
        for markers, rests in texts.items():
            steps += self._steps_of_text(markers, rests)
        if len(texts) > 1:
            raise NoStepsError
        _check(steps, is_ending=any(step == _END for step in steps))
        return steps

    def _step(self, literal: str, rest: _Rest | None) -> Step:
        terminal: Terminal = (Exact(literal),) if literal else ()
        if rest is None:
            return Step(terminal=terminal)
        match rest.part:
            case Json() as stop:
                return Step(terminal=terminal, stop=stop, following=self._number([("", rest.behind)]))
            case Exact() as first:
                stop, *others = self._pieces_of(first)
                return Step(
                    terminal=terminal, stop=stop, following=self._number([("", self._rest(others, rest.behind))])
                )
            case _ if literal:
                return Step(terminal=terminal, following=self._number([("", rest)]))
            case Characters() as run if run.at_least and self._ends(run, rest.behind):
                return Step(terminal=(run,), following=self._number([("", rest.behind)]))
            case _:
                raise NoStepsError

    def _ends(self, run: Characters, rest: _Rest | None) -> bool:
        if run.at_least == run.at_most:
            return True
        following = [literal[:1] for literal, _ in self._ways("", rest, bool)]
        return all(character and character not in character_class(run.allowed) for character in following)

    def _steps_of_text(self, markers: tuple[Marker, ...], rests: Sequence[_Rest | None]) -> list[Step]:
        """Steps that take the text together with what follows it, up to the end of a marker."""
        find = occurrence(markers).search
        closed: dict[str, list[_Entry]] = {}
        stopped: dict[tuple[str, Exact], list[_Entry]] = {}
        for rest in rests:
            for literal, behind in self._ways("", rest, find):
                if found := find(literal):
                    closed.setdefault(literal[: found.end()], []).append((literal[found.end() :], behind))
                    continue
                if behind is None or not isinstance(behind.part, Exact):
                    raise NoStepsError
                token, *others = self._pieces_of(behind.part)
                stopped.setdefault((literal, token), []).append(("", self._rest(others, behind.behind)))
        if not is_closed_by(list(closed), [*closed, *(literal for literal, _ in stopped)], markers):
            raise NoStepsError
        ends = [(literal, None, entries) for literal, entries in closed.items()]
        ends += [(literal, token, entries) for (literal, token), entries in stopped.items()]
        text = TextWithout(markers)
        return [
            Step(terminal=(text, Exact(literal)) if literal else (text,), stop=stop, following=self._number(entries))
            for literal, stop, entries in ends
        ]


def is_closed_by(ends: Sequence[str], others: Sequence[str], markers: tuple[Marker, ...]) -> bool:
    """Whether text without the markers and one of the ends is never the beginning of such text and another literal."""
    find = occurrence(markers).search
    return all(find(end) for end in ends) and not any(_goes_on(end, other) for end in ends for other in others)


def _goes_on(end: str, other: str) -> bool:
    """Whether text and the end can be the beginning of text and the other literal, the text without a marker."""
    if other != end and other.startswith(end):
        return True
    behind = (end[start:] for start in range(1, len(end)))
    return end in other[1:-1] or any(other != text and other.startswith(text) for text in behind)


_END = Step(terminal=())


def _common(leads: Sequence[Sequence[Exact]]) -> list[Exact]:
    """The literals that all begin with; of the first that differ, the characters that all begin with."""
    found: list[Exact] = []
    for literals in zip(*leads, strict=False):
        if len(set(literals)) == 1:
            found.append(literals[0])
            continue
        if not any(literal.token for literal in literals):
            found.append(Exact(_common_text([literal.text for literal in literals])))
        break
    return found


def _common_text(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return first[
        : next((index for index, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1), len(first))
    ]


def _check(steps: Sequence[Step], *, is_ending: bool) -> None:
    """Every terminal of a state must tell by itself where it ends."""
    if is_ending and len(steps) > 1:
        raise NoStepsError
    literals = sorted(part.text for step in steps for part in step.terminal[:1] if isinstance(part, Exact))
    runs = [part for step in steps for part in step.terminal[:1] if isinstance(part, Characters)]
    if any(later.startswith(earlier) for earlier, later in pairwise(literals)):
        raise NoStepsError
    if any(literal[0] in character_class(run.allowed) for run in runs for literal in literals) or len(runs) > 1:
        raise NoStepsError
