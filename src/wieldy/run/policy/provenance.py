"""Where a call's arguments may come from: which results were read before it, and what stands in them word for word.

A model that has read a stranger's text may be doing what the stranger wants. So every untrusted result that was read
before a call may have shaped all of it; and a value that stands in one was probably taken from there. The first is
certain and coarse; the second is a hint for people and rules, because a model can also spell a value differently.
Pure. Deliberately not here: what follows from it (`rules`), and who is trusted (`tools`, `run.results`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from wieldy.run.policy.paths import leaves, render_path

if TYPE_CHECKING:
    from wieldy.core.calls import ToolResult
    from wieldy.core.json import JsonObject
    from wieldy.core.messages import Message
    from wieldy.run.policy.decisions import Proposal

MIN_CHARACTERS: Final = 4
"""Of a text that can be said to stand somewhere; shorter ones stand everywhere."""

MIN_DIGITS: Final = 3
"""Of a number, likewise, written without a sign."""

_WORD_CHARACTERS: Final = 8
"""A plain text shorter than this must stand as words of its own: `port` is not taken from `important`."""

_ID_DIGITS: Final = 6
"""A text with so many digits is looked for without regard to what separates them: account and telephone numbers."""

_MAX_DIGITS: Final = 40
"""Of a number that anybody would write; longer rows of digits are text."""

_NUMBER: Final = re.compile(r"\d+(?:[.,'’]\d+)*")
_SPACED_NUMBER: Final = re.compile(r"(?<!\d)\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?!\d)")
_SEPARATORS: Final = re.compile(r"[\W_]+")
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where the arguments of one call may come from.

    Attributes:
        shaped_by: The sources of all untrusted results that the model had read, each once, in that order.
        quoted: For each argument whose value stands in such results, by its path: their sources.
    """

    shaped_by: tuple[str, ...] = ()
    quoted: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def provenance_of(proposal: Proposal) -> Provenance:
    """What the arguments of the proposal may come from. Cost: linear in the untrusted results, once per value."""
    results = untrusted(proposal.messages)
    return Provenance(
        shaped_by=tuple(dict.fromkeys(map(source_of, results))), quoted=quotes(proposal.call.arguments, results)
    )


def untrusted(messages: Iterable[Message]) -> tuple[ToolResult, ...]:
    """The results among the messages that strangers may have shaped."""
    return tuple(
        message.result for message in messages if message.result is not None and message.result.trust == "untrusted"
    )


def source_of(result: ToolResult) -> str:
    """Whose words these are, for people; the call's id where nobody said."""
    return result.source or result.tool_call_id


def quotes(arguments: JsonObject, results: Iterable[ToolResult]) -> dict[str, tuple[str, ...]]:
    """The paths of the arguments whose values stand in these results, each with the results' sources.

    White space, capitals and the ways to write a number make no difference.
    """
    texts = [(source_of(result), _Text(result)) for result in results]
    found: dict[str, tuple[str, ...]] = {}
    for path, value in leaves(arguments) if texts else ():
        sources = tuple(dict.fromkeys(source for source, text in texts if text.holds(value)))
        if sources:
            found[render_path(path)] = sources
    return found


class _Text:
    """The words of one result, made comparable once."""

    def __init__(self, result: ToolResult) -> None:
        # JSON shown as text spells quotes and line breaks with backslashes; its values do not.
        words = [value for _, value in leaves(result.structured_content) if isinstance(value, str)]
        self._folded = _folded("\n".join([result.content, *words]))

    @cached_property
    def _joined(self) -> str:
        return _SEPARATORS.sub("", self._folded)

    @cached_property
    def _numbers(self) -> frozenset[Decimal]:
        written = chain(_NUMBER.finditer(self._folded), _SPACED_NUMBER.finditer(self._folded))
        return frozenset(number for match in written for number in _readings(match[0]))

    def holds(self, value: str | float) -> bool:
        """Whether the value stands here."""
        number = _number(value)
        if number is not None and _digits(number) >= MIN_DIGITS and number.copy_abs() in self._numbers:
            return True
        return isinstance(value, str) and self._holds_text(_folded(value))

    def _holds_text(self, text: str) -> bool:
        if len(text) < MIN_CHARACTERS:
            return False
        if text in self._folded:
            is_part_of_word = len(text) < _WORD_CHARACTERS and text.isascii() and not _stands_alone(text, self._folded)
            return not is_part_of_word
        return sum(map(str.isdecimal, text)) >= _ID_DIGITS and _SEPARATORS.sub("", text) in self._joined


def _stands_alone(text: str, words: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(text)}(?![a-z0-9])", words) is not None


def _folded(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().split())


def _readings(text: str) -> Iterator[Decimal]:
    """What a written number may mean, in countries with a decimal point and in those with a decimal comma."""
    plain = re.sub(r"['’ ]", "", text)
    parts = re.split(r"\D", text)  # of a list, a date or a version, each number may be meant
    for reading in {plain.replace(",", ""), plain.replace(".", "").replace(",", "."), *parts}:
        number = _number(reading) if len(reading) <= _MAX_DIGITS else None
        if number is not None:
            yield number


def _number(value: str | float) -> Decimal | None:
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _digits(number: Decimal) -> int:
    """How many digits people would write."""
    _, digits, exponent = number.as_tuple()
    places = exponent if isinstance(exponent, int) else 0
    written = len(digits) + max(places, 0)
    zeros = next((count for count, digit in enumerate(reversed(digits)) if digit), len(digits))
    return written - min(zeros, max(-places, 0))
