"""Running the program of a regular expression over text: one pass, all ways at a time, the preferred way first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from wieldy.sandbox.tracked.limits import Meter
from wieldy.sandbox.tracked.patterns import Pattern

Places: TypeAlias = tuple[int, ...]
"""Where the match and its groups begin and end, in characters; -1 where a group has no part in the match."""


def match_at(
    pattern: Pattern,
    text: str,
    start: int,
    meter: Meter,
    *,
    is_anchored: bool = False,
    is_whole: bool = False,
    beyond: int = -1,
) -> Places | None:
    """The first match at the start or, unless it is anchored, behind it.

    Args:
        pattern: What to look for.
        text: Where.
        start: The place to begin at, in characters.
        meter: Counts the steps.
        is_anchored: It must begin at the start.
        is_whole: It must reach to the end of the text.
        beyond: A match may not be empty at this place.

    Cost: one step for each instruction at each character.
    """
    machine = _Matcher(pattern, text, meter)
    nothing: Places = (-1,) * (2 * pattern.groups + 2)
    found: Places | None = None
    ways: dict[int, Places] = {}
    for place in range(start, len(text) + 1):
        if found is None and (place == start or not is_anchored):
            machine.follow(ways, 0, (place, *nothing[1:]), place)
        if not ways:
            if found is not None or is_anchored:
                break
            continue
        meter.charge(len(ways))
        following: dict[int, Places] = {}
        for number, saved in ways.items():
            instruction = pattern.instructions[number]
            if instruction.kind == "match":
                is_refused = (is_whole and place < len(text)) or (saved[0] == place == beyond)
                if not is_refused:
                    found = (saved[0], place, *saved[2:])
                    break  # what is left is less preferred
            elif place < len(text) and instruction.predicate is not None and instruction.predicate(text[place]):
                machine.follow(following, number + 1, saved, place + 1)
        ways = following
    return found


class _Matcher:
    def __init__(self, pattern: Pattern, text: str, meter: Meter) -> None:
        self.pattern = pattern
        self.text = text
        self.meter = meter

    def follow(self, ways: dict[int, Places], number: int, saved: Places, place: int) -> None:
        """Adds the instructions that take a character, or match, and are reached from this one without one."""
        waiting = [(number, saved)]
        seen = set[int]()
        while waiting:
            number, saved = waiting.pop()
            if number in seen or number in ways:
                continue
            seen.add(number)
            self.meter.charge(1)
            instruction = self.pattern.instructions[number]
            if instruction.kind in ("take", "match"):
                ways[number] = saved
            elif instruction.kind == "jump":
                waiting.append((instruction.one, saved))
            elif instruction.kind == "split":
                waiting += [(instruction.other, saved), (instruction.one, saved)]
            elif instruction.kind == "save":
                at = instruction.one
                waiting.append((number + 1, (*saved[:at], place, *saved[at + 1 :])))
            elif _ASSERTIONS[instruction.name](self.text, place):
                waiting.append((number + 1, saved))


def _is_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")


def _is_edge(text: str, place: int) -> bool:
    return _is_word(text, place - 1) != _is_word(text, place)


_ASSERTIONS: Final[dict[str, Callable[[str, int], bool]]] = {
    "start": lambda text, place: place == 0,
    "very end": lambda text, place: place == len(text),
    "end": lambda text, place: place == len(text) or (place == len(text) - 1 and text[place] == "\n"),
    "line start": lambda text, place: place == 0 or text[place - 1] == "\n",
    "line end": lambda text, place: place == len(text) or text[place] == "\n",
    "edge": _is_edge,
    "no edge": lambda text, place: not _is_edge(text, place),
}


def all_matches(pattern: Pattern, text: str, meter: Meter, *, most: int = 0) -> list[Places]:
    """The matches from left to right, none within another; at most so many, if that is not 0."""
    found: list[Places] = []
    place, beyond = 0, -1
    while place <= len(text) and (not most or len(found) < most):
        match = match_at(pattern, text, place, meter, beyond=beyond)
        if match is None:
            break
        found.append(match)
        place = match[1]
        # Behind an empty match there is no other empty one at the same place.
        beyond = place if match[0] == match[1] else -1
    return found
