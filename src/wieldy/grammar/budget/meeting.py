"""Texts that must be several things at once, or must not be something: where a part meets others.

`pattern` with `minLength`, a key that is none of those that have a value already, text in which no marker occurs. Each
condition is walked by itself, a byte in all of them at a time; what the whole still costs is searched for when it is
first asked, which is short: the conditions' own costs lead the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import TypeAlias

from typing_extensions import override

from wieldy.grammar.budget.leaves import NICE
from wieldy.grammar.budget.parts import IMPOSSIBLE, Leaf, Part, Range, solve
from wieldy.grammar.budget.states import State, States, check_readings

_MAX_STEPS = 5000
"""Steps of a search; where it ends, the costs of the conditions count, which are too low and never too high."""

_MAX_PLACES = 300
"""So many places are looked at to find out what a text can cost at most."""

_Place: TypeAlias = tuple[tuple[State, ...], tuple[State | None, ...]]
"""Where all conditions stand; one that must not hold and no longer can is None."""


class Meeting:
    """Conditions that all hold for one text.

    Args:
        states: Where the states of the conditions are kept.
        wanted: What the text must be. No part may call a rule.
        unwanted: What it must not be.
        is_unwanted_anywhere: Whether already no beginning of the text may be unwanted.
        peak: No fewer bytes than the text can ever cost; None to find that out when it is asked for.
    """

    def __init__(
        self,
        states: States,
        wanted: Sequence[Part],
        unwanted: Sequence[Part] = (),
        *,
        is_unwanted_anywhere: bool = False,
        peak: int | None = None,
    ) -> None:
        for part in (*wanted, *unwanted):
            solve(part)
            check_readings(states, part)
        self._is_unwanted_anywhere = is_unwanted_anywhere
        self._peak = peak
        self._leaves: dict[_Place, Met] = {}
        self._spellings: dict[_Place, bytes | None] = {}
        self._start: _Place = (tuple(map(states.start_of, wanted)), tuple(map(states.start_of, unwanted)))
        self.start = self.leaf(self._start)

    def leaf(self, place: _Place) -> Met:
        """The part that stands at this place; the same object for the same place."""
        if place not in self._leaves:
            self._leaves[place] = Met(self, place)
        return self._leaves[place]

    def after(self, place: _Place, byte: int) -> _Place | None:
        """Where the conditions stand after the byte; None if it may not come."""
        wanted = [state.after(byte) for state in place[0]]
        found = tuple(state for state in wanted if state is not None)
        if len(found) < len(wanted):
            return None
        unwanted = tuple(None if state is None else state.after(byte) for state in place[1])
        if self._is_unwanted_anywhere and any(state and state.may_end for state in unwanted):
            return None
        return found, unwanted

    def may_end(self, place: _Place) -> bool:
        """Whether all conditions hold for the text so far."""
        wanted, unwanted = place
        return all(state.may_end for state in wanted) and not any(state and state.may_end for state in unwanted)

    def ranges(self, place: _Place) -> Iterator[Range]:
        """Ranges of bytes that all conditions take alike."""
        wanted, unwanted = place
        leaves = [leaf for state in (*wanted, *filter(None, unwanted)) for leaf, _ in state.leaves]
        bounds = {bound for leaf in leaves for low, high in leaf.ranges for bound in (low, high + 1)}
        for low, end in pairwise(sorted(bounds)):
            yield low, end - 1

    def spelling(self, place: _Place) -> bytes | None:
        """The fewest bytes with which all conditions hold; None if none do."""
        if place not in self._spellings:
            self._spellings[place] = found = self._search(place)
            for count in range(len(found or b"")):
                following = self.after(place, (found or b"")[count])
                if following is not None:
                    self._spellings.setdefault(following, (found or b"")[count + 1 :])
                    place = following
        return self._spellings[place]

    @property
    def peak(self) -> int:
        """No fewer bytes than the text can ever cost; `IMPOSSIBLE` where that is too much to find out."""
        if self._peak is None:
            self._peak = self._found_peak()
        return self._peak

    def _found_peak(self) -> int:
        waiting: list[_Place] = [self._start]
        seen: set[_Place] = {self._start}
        most = 0
        for place in waiting:
            spelling = self.spelling(place)
            most = max(most, len(spelling or b""))
            for low, _ in self.ranges(place):
                following = self.after(place, low)
                if following is not None and following not in seen:
                    seen.add(following)
                    waiting.append(following)
            if len(waiting) > _MAX_PLACES:
                return IMPOSSIBLE
        return most

    def _search(self, start: _Place) -> bytes | None:
        waiting = [(_estimate(start), b"")]
        places = {b"": start}
        seen = {start}
        for _ in range(_MAX_STEPS):
            if not waiting:
                return None
            _, text = heappop(waiting)
            place = places.pop(text)
            if self.may_end(place):
                return text
            for low, high in self.ranges(place):
                byte = next((nice for nice in NICE if low <= nice <= high), low)
                following = self.after(place, byte)
                if following is not None and following not in seen:
                    seen.add(following)
                    longer = text + bytes([byte])
                    places[longer] = following
                    heappush(waiting, (len(longer) + _estimate(following), longer))
        return b"".join(piece for piece in start[0][0].spelled() if isinstance(piece, bytes))


def _estimate(place: _Place) -> int:
    return max(state.cost for state in place[0])


class Met(Leaf):
    """What is still to be written of a text for which several conditions hold."""

    __slots__ = ("_meeting", "_place")

    def __init__(self, meeting: Meeting, place: _Place) -> None:
        self._meeting, self._place = meeting, place
        spelling = meeting.spelling(place)
        super().__init__(IMPOSSIBLE if spelling is None else len(spelling))

    @property
    @override
    def may_end(self) -> bool:
        return self._meeting.may_end(self._place)

    @property
    @override
    def ranges(self) -> Iterable[Range]:
        return self._meeting.ranges(self._place)

    @property
    @override
    def spelling(self) -> bytes:
        return self._meeting.spelling(self._place) or b""

    @property
    @override
    def peak(self) -> int:
        return self._meeting.peak

    @override
    def after(self, byte: int) -> Leaf | None:
        place = self._meeting.after(self._place, byte)
        return None if place is None else self._meeting.leaf(place)
