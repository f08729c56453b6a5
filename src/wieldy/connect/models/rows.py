"""A text under a grammar, followed from outside: what was written is told, and what may come next is asked.

Whoever chooses tokens by scores of its own (`processors`, `transformers`) asks before each token and tells afterwards,
if at all, by the whole text. So a row's place is found again by what was written; a text that was shortened, or that
changed places with another, needs nothing more.
Where the budget may refuse a token, the likeliest ones are tried, and only those stay that leave room for the rest; the
next token of the known completion always stays, so there is always one to choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final

from wieldy.grammar import Grammar, Guard, Matcher, Tokenizer
from wieldy.grammar.matcher import TokenMask

_TRIED: Final = 32
"""How many of the likeliest tokens are tried where the budget may refuse some."""

_NEGLIGIBLE: Final = 1e-3
"""How much probability may be left to tokens that are not tried, when others were found."""


def numeric() -> Any:
    """Numpy, which is heavy, is no dependency, and was loaded by whoever has scores."""
    return import_module("numpy")


class Row:
    """A text under a grammar, as far as it was told.

    Args:
        grammar: What it must be.
        tokenizer: The vocabulary.
        max_tokens: The budget, without the token that ends the text; None for none.

    Raises:
        BudgetError: Nothing that the grammar allows fits into the budget.
        GrammarError: The grammar cannot be walked over the vocabulary, or there is no saying what a budget means to it
            because it came in the engine's own dialect.
    """

    def __init__(self, grammar: Grammar, tokenizer: Tokenizer, *, max_tokens: int | None = None) -> None:
        self._tokenizer = tokenizer
        self.guard = None if max_tokens is None else Guard(grammar, tokenizer, max_tokens=max_tokens)
        """What keeps the budget, if there is one."""
        self._walk = self.guard or Matcher(grammar, tokenizer)
        self._seen: list[int] = []
        self._taken = 0
        self._has_ended = False
        self._refused: dict[int, int] = {}
        """The likeliest token that the budget refused behind so many tokens."""

    @property
    def is_over(self) -> bool:
        """Whether the text was ended, or went where its grammar does not: what follows means nothing."""
        return self._has_ended or self._taken < len(self._seen)

    @property
    def is_complete(self) -> bool:
        """Whether the text is one of the grammar."""
        return self._has_ended or (not self.is_over and self._walk.is_accepting)

    def follow(self, tokens: Sequence[int]) -> None:
        """The text is what these tokens say, from its beginning."""
        common = _common(self._seen, tokens)
        back = self._taken - common
        if back > 0:
            self._walk.rollback(back)
            self._taken, self._has_ended = common, False
        del self._seen[common:]
        for token in tokens[common:]:
            if not self.is_over and self._take(token):
                self._taken += 1
            self._seen.append(token)

    def allowed(self, width: int, scores: Callable[[], Any]) -> Any:
        """Which tokens may come next; None where any may, because the text is over.

        Args:
            width: How many tokens have scores; more or fewer than the vocabulary has.
            scores: Gives the scores as numbers; only asked for where the budget may refuse a token.

        Shape:
            scores: `width`. returns: `width` truth values.
        """
        if self.is_over:
            return None
        mask = self._walk.fill_mask()
        allowed = _unpacked(mask, width)
        if self.guard is None or not self.guard.is_tight:
            return allowed
        return self._with_room(self.guard, allowed, scores())

    def _with_room(self, guard: Guard, allowed: Any, scores: Any) -> Any:
        numpy = numeric()
        kept = list(guard.witness[:1]) or [end for end in self._tokenizer.end_tokens if end < len(allowed)]
        left, was_found = 1.0, False
        for count, (token, probability) in enumerate(_likeliest(allowed, scores)):
            if was_found and left < _NEGLIGIBLE:
                break
            left -= probability
            if guard.allows(self._meant(token)):
                kept.append(token)
                was_found = True
            elif not count:
                self._refused[len(self._seen)] = token
        room = numpy.zeros_like(allowed)
        room[kept] = True
        return room

    def _take(self, token: int) -> bool:
        meant = self._meant(token)
        refused = self._refused.pop(len(self._seen), None)
        if self.guard is not None and refused is not None and refused != token and self.guard.allows(meant):
            is_taken = self.guard.choose([refused, meant]) == meant  # so that the guard knows what it decided
        else:
            is_taken = self._walk.accept_token(meant)
        self._has_ended = is_taken and meant in self._tokenizer.end_tokens and self._walk.is_finished
        return is_taken

    def _meant(self, token: int) -> int:
        is_end = token in self._tokenizer.end_tokens and self._walk.is_accepting
        return self._tokenizer.end_token if is_end else token


def _unpacked(mask: TokenMask, width: int) -> Any:
    numpy = numeric()
    bits = numpy.unpackbits(numpy.frombuffer(mask.bits, dtype=numpy.uint8), bitorder="little")
    allowed = numpy.zeros(width, dtype=bool)
    common = min(width, len(bits))
    allowed[:common] = bits[:common]
    return allowed


def _likeliest(allowed: Any, scores: Any) -> Iterator[tuple[int, float]]:
    """The likeliest of the tokens that are allowed, with their probabilities among these."""
    numpy = numeric()
    tokens = numpy.flatnonzero(allowed)
    values = numpy.asarray(scores, dtype=numpy.float64)[tokens]
    values = numpy.exp(values - values.max()) if numpy.isfinite(values).any() else numpy.ones_like(values)
    values /= values.sum()
    best = numpy.argsort(-values, kind="stable")[:_TRIED]
    yield from ((int(tokens[index]), float(values[index])) for index in best)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens are the same at the beginning."""
    size = min(len(one), len(other))
    if list(one[:size]) == list(other[:size]):
        return size
    return next(index for index in range(size) if one[index] != other[index])
