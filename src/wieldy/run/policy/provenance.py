"""Where a call's arguments may come from: which results were read before it, and what stands in them word for word.

A model that has read a stranger's text may be doing what the stranger wants. So every untrusted result that was read
before a call may have shaped all of it; and a value that stands in one was probably taken from there. The first is
certain and coarse; the second is a hint for people and rules, because a model can also spell a value differently.
Of calls that tracked code makes it is known exactly, and nothing has to be guessed.
Pure. Deliberately not here: what follows from it (`rules`), and who is trusted (`tools`, `run.results`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import TYPE_CHECKING, Final

from wieldy.core.influence import joined
from wieldy.run.policy.paths import leaves, render_path

if TYPE_CHECKING:
    from wieldy.core.calls import ToolResult
    from wieldy.core.influence import Influence
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

_MAX_NAMED: Final = 3
"""Sources and arguments that a question names."""

_SEPARATORS: Final = re.compile(r"[\W_]+")
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where the arguments of one call may come from.

    Attributes:
        shaped_by: The sources of all untrusted results that the model had read, each once, in that order.
        quoted: For each argument whose value stands in such results, by its path: their sources. Where it is known
            exactly: those that had a part in the value.
    """

    shaped_by: tuple[str, ...] = ()
    quoted: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def provenance_of(proposal: Proposal) -> Provenance:
    """What the arguments of the proposal may come from. Cost: linear in the untrusted results, once per value."""
    if proposal.call.influence is not None:
        return Provenance(shaped_by=proposal.influence.sources, quoted=proposal.influence.arguments)
    results = untrusted(proposal.messages)
    return Provenance(
        shaped_by=joined(*(result.untrusted_sources for result in results)),
        quoted=quotes(proposal.call.arguments, results),
    )


def told(influence: Influence) -> str:
    """The sources that had a part in a call, for the person who is asked about it; empty where there are none."""
    notes = [
        f"{path[:80]!r} from {named(sources)}" if path else f"arguments from {named(sources)}"
        for path, sources in influence.arguments.items()
    ]
    if influence.decided_by:
        notes.append(f"made because of {named(influence.decided_by)}")
    return few(notes)


def named(sources: Iterable[str]) -> str:
    """The sources, written as Python would: one may be a stranger's text, and must not look like ours."""
    return few([repr(source[:80]) for source in sources])


def few(texts: Sequence[str]) -> str:
    """The first of the texts, and how many there are beside."""
    rest = len(texts) - _MAX_NAMED
    return ", ".join(texts[:_MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def untrusted(messages: Iterable[Message]) -> tuple[ToolResult, ...]:
    """The results among the messages that strangers may have shaped."""
    return tuple(
        message.result for message in messages if message.result is not None and message.result.trust == "untrusted"
    )


def quotes(arguments: JsonObject, results: Iterable[ToolResult]) -> dict[str, tuple[str, ...]]:
    """The paths of the arguments whose values stand in these results, each with the results' sources.

    White space, capitals and the ways to write a number make no difference.
    """
    texts = [(result.untrusted_sources, _Text(result)) for result in results]
    found: dict[str, tuple[str, ...]] = {}
    for path, value in leaves(arguments) if texts else ():
        sources = joined(*(sources for sources, text in texts if text.holds(value)))
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

    def holds(self, value: str | float) -> bool:
        """Whether the value stands here."""
        number = _number(value)
        if number is not None and re.search(_written(number), self._folded):
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


def _number(value: str | float) -> Decimal | None:
    """The number that a value is or spells, if it has as many digits as people write and others do not share."""
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    if not number.is_finite() or not -_MAX_DIGITS < number.adjusted() < _MAX_DIGITS:
        return None
    whole, fraction = _digits(number)
    return number if MIN_DIGITS <= len(whole.lstrip("0") + fraction) <= _MAX_DIGITS else None


def _digits(number: Decimal) -> tuple[str, str]:
    """The digits before and behind the point, without zeros at either end."""
    whole, _, fraction = f"{number.copy_abs():f}".partition(".")
    return whole, fraction.rstrip("0")


def _written(number: Decimal) -> str:
    """An expression for all ways to write a number: 1500, 1,500.00, 1.500, 1 500, 1'500,00."""
    whole, fraction = _digits(number)
    first = len(whole) % 3 or 3
    groups = [whole[:first], *(whole[start : start + 3] for start in range(first, len(whole), 3))]
    integer = "[.,'’ ]?".join(groups) if whole != "0" else "0?"
    decimals = f"[.,]{fraction}0*" if fraction else "(?:[.,]0+)?"
    return rf"(?<!\d)0*{integer}{decimals}(?!\d)"
