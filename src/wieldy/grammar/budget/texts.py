"""Texts as parts: what regular expressions and chat formats consist of, as bytes or as they stand in a JSON string."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wieldy.core.errors import GrammarError
from wieldy.grammar.budget.characters import one_of
from wieldy.grammar.budget.leaves import EMPTY, Literal
from wieldy.grammar.budget.meeting import Meeting
from wieldy.grammar.budget.parts import Chain, Choice, Part, Repetition
from wieldy.grammar.budget.states import States
from wieldy.grammar.naming import is_nullable
from wieldy.grammar.notation.markers import texts_of
from wieldy.grammar.reading.character_class import CharacterClass, character_class
from wieldy.grammar.shape import (
    WHITE_SPACE,
    Characters,
    Exact,
    InOrder,
    Json,
    Marker,
    Named,
    OneOf,
    Repeated,
    Shape,
    TextWithout,
)

MAX_COUNTED = 64
"""An upper bound that is further than this above the lower one is left to the engine: a completion writes no more than
it must."""

_ANY_CHARACTER = CharacterClass(ranges=(), is_negated=True)


class Texts:
    """Parts for texts without names and without JSON: what regular expressions consist of.

    Args:
        states: Where the states of conditions are kept.
        in_json: Whether the text stands within a JSON string, so that some characters are escaped.
    """

    def __init__(self, states: States, *, in_json: bool) -> None:
        self._states = states
        self._in_json = in_json

    def part(self, shape: Shape) -> Part:
        """The part for the shape."""
        match shape:
            case Exact(text=text):
                return self._literal(text)
            case Characters(allowed=allowed, at_least=least, at_most=most):
                return repetition(one_of(character_class(allowed), in_json=self._in_json), least, most)
            case TextWithout(markers=markers):
                return self._text_without(markers)
            case InOrder(parts=parts):
                return Chain([self.part(part) for part in parts])
            case OneOf(options=options):
                return Choice([self.part(option) for option in options])
            case Repeated():
                return self.repeated(shape, {})
            case Named() | Json():
                raise GrammarError("A regular expression has no names and no JSON in it.")

    def any_text(self) -> Part:
        """Any text."""
        return repetition(one_of(_ANY_CHARACTER, in_json=self._in_json), 0, None)

    def repeated(self, shape: Repeated, named: Mapping[str, Shape]) -> Part:
        """The part for a repetition."""
        part = self.part(shape.part)
        least, most = shape.at_least, shape.at_most
        if most == 0:
            return EMPTY
        if shape.between is None:
            return _repeated(part, least, most, is_nullable=is_nullable(shape.part, named))
        again = Chain([self.part(shape.between), part])
        is_empty = is_nullable(shape.part, named) and is_nullable(shape.between, named)
        more = _repeated(again, max(least - 1, 0), None if most is None else most - 1, is_nullable=is_empty)
        several = Chain([part, more])
        return several if least else Choice([EMPTY, several])

    def _literal(self, text: str) -> Part:
        if not self._in_json:
            return Literal(text.encode()) if text else EMPTY
        parts: list[Part] = []
        for run in re.findall(r'[^\x00-\x1f\x7f"\\]+|.', text, re.DOTALL):
            is_plain = run not in '"\\' and run >= " " and run != "\x7f"
            code = CharacterClass(ranges=((run, run),), is_negated=False) if len(run) == 1 else None
            parts.append(Literal(run.encode()) if is_plain or code is None else one_of(code, in_json=True))
        return Chain(parts)

    def _text_without(self, markers: tuple[Marker, ...]) -> Part:
        if not markers:
            return self.any_text()
        any_text = self.any_text()
        unwanted = [Chain([any_text, self._marker(marker)]) for marker in dict.fromkeys(markers)]
        return Meeting(self._states, [any_text], [Choice(unwanted)], is_unwanted_anywhere=True, peak=0).start

    def _marker(self, marker: Marker) -> Part:
        space = CharacterClass(ranges=tuple((character, character) for character in WHITE_SPACE), is_negated=False)
        gap = repetition(one_of(space, in_json=self._in_json), 0, None)
        parts = [part for text in texts_of(marker) for part in (gap, self._literal(text))]
        return Chain(parts[1:])


def repetition(part: Part, least: int, most: int | None) -> Part:
    """The part, which is not empty, several times."""
    if (least, most) == (1, 1):
        return part
    return Repetition(part, least, None if most is None or most - least > MAX_COUNTED else most)


def _repeated(part: Part, least: int, most: int | None, *, is_nullable: bool) -> Part:
    if is_nullable and most != 1:
        return Repetition(part, 0, None)
    return repetition(part, 0 if is_nullable else least, most)
