"""Whether arguments were taken from the conversation or made up.

A small model that lacks a fact invents it: a calculator is asked for `25 - 18.5` before any temperature is known. What
it copies it is sure of; what it invents it is not. So a number, or a word that looks like a name, which stands nowhere
in the conversation and which the model was not sure of, is taken as invented. A conversion factor that stands nowhere
either, but that the model knows, is not.
Pure. Deliberately not here: what follows from it (`strategy`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, cast

from wieldy.core.json import JsonObject
from wieldy.run.guided.port import Written

UNSURE: Final = -0.5
"""The log-probability of its least likely token below which something that stands nowhere counts as invented."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]+")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')


def invented(text: str, tokens: Sequence[Written], *, conversation: str) -> tuple[str, ...]:
    """The numbers and names in the values of a JSON text that stand nowhere and that the model was not sure of.

    Args:
        text: The arguments as the model wrote them.
        tokens: The tokens of the text, from its beginning; there may be more.
        conversation: Everything that arguments can be taken from.
    """
    numbers = set(_derivable(_numbers_in(conversation)))
    words = conversation.casefold()

    def stands_nowhere(found: str) -> bool:
        value = _number(found)
        return found.casefold() not in words if value is None else round(value, 9) not in numbers

    return tuple(
        text[start:end]
        for start, end in _numbers_and_names(text)
        if stands_nowhere(text[start:end]) and _least(tokens, start, end) < UNSURE
    )


def confidence(text: str, tokens: Sequence[Written]) -> float:
    """The mean log-probability of the tokens that spell the values of a JSON text; 0 if it has none."""
    logprobs = [
        token.logprob
        for start, end in _values(text)
        for token in _between(tokens, start, end)
        if any(character.isalnum() for character in token.text)
    ]
    return sum(logprobs) / len(logprobs) if logprobs else 0.0


def choices_of(schema: JsonObject) -> Iterator[str]:
    """The values that a schema itself names: taking one of them is no invention."""
    for keyword, value in schema.items():
        if keyword in ("enum", "const", "default"):
            yield str(value)
        elif keyword not in ("examples", "description", "title"):
            parts = value if isinstance(value, list) else [value]
            for part in parts:
                if isinstance(part, dict):
                    yield from choices_of(cast("JsonObject", part))


def _values(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _SCALAR.finditer(text) if not match["key"])


def _numbers_and_names(text: str) -> Iterator[tuple[int, int]]:
    plain = _ESCAPE.sub(lambda escape: " " * len(escape[0]), text)  # the digits of an escape are no number
    for start, end in _values(text):
        for pattern in (_NUMBER, _NAME):
            yield from (match.span() for match in pattern.finditer(plain, start, end))


def _numbers_in(text: str) -> Iterator[float]:
    for found in _NUMBER.findall(text):
        value = _number(found)
        if value is not None:
            yield value


def _number(text: str) -> float | None:
    if not text[:1].isdigit():
        return None
    try:
        return float(text.replace(",", ""))
    except ValueError:  # a date or a version
        return None


def _derivable(numbers: Iterable[float]) -> Iterator[float]:
    """The numbers, and what a percentage of that many is written as."""
    for value in numbers:
        for derived in (value, value / 100, 100 - value, 1 - value / 100, 1 + value / 100):
            yield round(derived, 9)


def _between(tokens: Sequence[Written], start: int, end: int) -> Iterator[Written]:
    position = 0
    for token in tokens:
        if position < end and position + len(token.text) > start:
            yield token
        position += len(token.text)


def _least(tokens: Sequence[Written], start: int, end: int) -> float:
    return min((token.logprob for token in _between(tokens, start, end)), default=0.0)
