"""Which result answers which call, in a history that need not be a good one. Pure: messages in, places out.

Ids decide. Of calls with one id those of the latest turn are meant, the first of them first. What ids do not decide,
order does: where a result has no id, or a call.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wieldy.core.calls import AnyCall, ToolResult
from wieldy.core.messages import Message


class CallPlace(NamedTuple):
    """A call: the position of its message, and which of the message's calls it is, from 0."""

    position: int
    ordinal: int


class Found(NamedTuple):
    """A result, and the position of its message."""

    position: int
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Which result answers which call, by positions of messages.

    Attributes:
        results: For each call that has one, its result.
        seconds: For the position of a result, further results of the same call.
        strays: The positions of results that answer no call.
        others: Those of all results that are not the first of a call.
    """

    results: dict[CallPlace, Found]
    seconds: dict[int, list[Found]]
    strays: frozenset[int]
    others: frozenset[int]


def match_results(messages: Sequence[Message]) -> Matched:
    """Every result is the one of a call, a further one of a call, or a stray.

    Cost: linear in the number of calls and results.
    """
    matching = _Matching(messages)
    matching.take_in_turns(lambda result: result.tool_call_id, lambda call: (call.id,))
    matching.take_anywhere()
    matching.take_in_turns(matching.order_wanted, _order_offered)
    return matching.matched()


_ANY, _WITHOUT_ID = "any", "without id"


def _order_offered(call: AnyCall) -> tuple[str, ...]:
    return (_ANY,) if call.id else (_ANY, _WITHOUT_ID)


def _names(call: AnyCall) -> set[str]:
    return {name for name in (call.id, call.provider_id) if name}


class _Matching:
    """The results that were matched so far."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._results: dict[CallPlace, Found] = {}
        self._matched: set[int] = set()
        self._known = {name for _, call in self._calls() for name in _names(call)}

    def _calls(self) -> Iterator[tuple[CallPlace, AnyCall]]:
        for position, message in enumerate(self._messages):
            for ordinal, call in enumerate(message.calls):
                yield CallPlace(position, ordinal), call

    def _left(self) -> Iterator[Found]:
        for position, message in enumerate(self._messages):
            if message.result is not None and position not in self._matched:
                yield Found(position, message.result)

    def _match(self, place: CallPlace, found: Found) -> None:
        self._results[place] = found
        self._matched.add(found.position)

    def order_wanted(self, result: ToolResult) -> str | None:
        """What a result takes whose id fits no call: any call if it has none, else one that has none."""
        if not result.tool_call_id:
            return _ANY
        return None if result.tool_call_id in self._known else _WITHOUT_ID

    def take_in_turns(
        self, wanted: Callable[[ToolResult], str | None], offered: Callable[[AnyCall], tuple[str, ...]]
    ) -> None:
        """Results take calls that were made before them: those of the latest turn, the first of them first."""
        waiting: defaultdict[str, list[_Turn]] = defaultdict(list)
        turn, is_answering = 0, False
        for position, message in enumerate(self._messages):
            if message.result is not None:
                is_answering = True
                key = None if position in self._matched else wanted(message.result)
                place = None if key is None else self._next(waiting[key])
                if place is not None:
                    self._match(place, Found(position, message.result))
                continue
            if message.calls and is_answering:
                turn, is_answering = turn + 1, False
            for ordinal, call in enumerate(message.calls):
                for key in offered(call):
                    turns = waiting[key]
                    if not turns or turns[-1].number != turn:
                        turns.append(_Turn(turn, deque()))
                    turns[-1].calls.append(CallPlace(position, ordinal))

    def take_anywhere(self) -> None:
        """Results take calls of their id wherever these are, also by what the provider called them."""
        waiting: defaultdict[str, deque[CallPlace]] = defaultdict(deque)
        for place, call in self._calls():
            if place not in self._results:
                for name in _names(call):
                    waiting[name].append(place)
        for found in self._left():
            place = self._next([_Turn(0, waiting[found.result.tool_call_id])])
            if place is not None:
                self._match(place, found)

    def _next(self, turns: list[_Turn]) -> CallPlace | None:
        while turns:
            while turns[-1].calls:
                place = turns[-1].calls.popleft()
                if place not in self._results:
                    return place
            turns.pop()
        return None

    def matched(self) -> Matched:
        """All of it; what is left is a further result where its id is known, and else a stray."""
        seconds: defaultdict[int, list[Found]] = defaultdict(list)
        strays: set[int] = set()
        first = {name: place for place, call in reversed(list(self._calls())) for name in _names(call)}
        latest: dict[str, CallPlace] = {}
        for position, message in enumerate(self._messages):
            for ordinal, call in enumerate(message.calls):
                latest |= dict.fromkeys(_names(call), CallPlace(position, ordinal))
            if message.result is None or position in self._matched:
                continue
            call_id = message.result.tool_call_id
            if call_id in self._known:
                place = latest.get(call_id, first[call_id])
                seconds[self._results[place].position].append(Found(position, message.result))
            else:
                strays.add(position)
        others = strays.union(found.position for second in seconds.values() for found in second)
        return Matched(results=self._results, seconds=dict(seconds), strays=frozenset(strays), others=frozenset(others))


class _Turn(NamedTuple):
    """Calls of one turn that wait for their results."""

    number: int
    calls: deque[CallPlace]
