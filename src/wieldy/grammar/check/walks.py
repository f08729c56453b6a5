"""Random texts under a mask, written as a model would: one allowed token after another.

A walk goes anywhere at first, so that it gets deep, and later takes what closes first, so that it ends; where that
does not help, it is completed as a budget would. The same seed gives the same walks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wieldy.grammar.budget import closed
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.matcher import Matcher, TokenMask
from wieldy.grammar.tokenizer import Tokenizer

MOST_TOKENS = 1_000
"""A walk of so many tokens is given up: it does not end."""
_UNAIDED_TOKENS = 300
"""From so many tokens on, the shortest completion is looked for, wherever a character is complete."""
_FREE_TOKENS = 80
"""From so many tokens on, a walk closes what it has opened."""
_CLOSING_IN_A_HUNDRED = 15
"""How often a walk closes before that: free strings would otherwise fill it."""
_TRIES = 20
_SOME = re.compile(rb"[^\0]")
_CLOSERS = (b'"', b"}", b"]")
_SHORT_VALUES = (b"0", b"1", b"null", b"true")


class Chance:
    """Numbers that look random and depend on the seed alone. Source: SplitMix64, Steele et al. (2014)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & (2**64 - 1)

    def below(self, bound: int) -> int:
        """A number from 0 up to the bound, without it."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        return (mixed ^ (mixed >> 31)) % bound


class Walker:
    """Walks grammars over one vocabulary."""

    def __init__(self, tokenizer: Tokenizer, *, seed: int) -> None:
        self._tokenizer, self._chance = tokenizer, Chance(seed)
        ids = {token: index for index, token in reversed(list(enumerate(tokenizer.tokens)))}
        self._closers = [ids[text] for text in _CLOSERS if text in ids]
        self._short_values = [ids[text] for text in _SHORT_VALUES if text in ids]

    def walk(self, grammar: Grammar) -> bytes | None:
        """A random text of the grammar; None if none was complete after `MOST_TOKENS`."""
        matcher, written = Matcher(grammar, self._tokenizer), bytearray()
        for count in range(MOST_TOKENS):
            if count >= _UNAIDED_TOKENS and (rest := self._completion(written, grammar)):
                return bytes(written + rest) if self._allows(matcher, rest) else None
            mask = matcher.fill_mask()
            is_closing = count >= _FREE_TOKENS or self._chance.below(100) < _CLOSING_IN_A_HUNDRED
            if matcher.is_accepting and (is_closing or self._chance.below(2) or matcher.is_finished):
                return bytes(written)
            token = self._closing(mask, is_urgent=count >= _FREE_TOKENS) if is_closing else None
            if token is None:
                token = self._any(mask)
            if token is None or not matcher.accept_token(token):
                return bytes(written) if matcher.is_accepting else None
            written += self._tokenizer.tokens[token]
        return None

    def _completion(self, written: bytearray, grammar: Grammar) -> bytes | None:
        try:
            text = written.decode()
        except UnicodeDecodeError:
            return None
        whole = closed(text, grammar)
        return None if whole is None else whole.encode()[len(written) :]

    def _allows(self, matcher: Matcher, rest: bytes) -> bool:
        """Whether the mask allows the rest, token by token."""
        for token in self._tokenizer.tokenize(rest) or ():
            if not matcher.fill_mask().allows(token) or not matcher.accept_token(token):
                return False
        return matcher.is_accepting

    def _closing(self, mask: TokenMask, *, is_urgent: bool) -> int | None:
        wanted = (*self._closers, *self._short_values) if is_urgent else self._closers
        return next((token for token in wanted if mask.allows(token)), None)

    def _any(self, mask: TokenMask) -> int | None:
        """Any allowed token but one that ends the text: tried at random, since listing them all takes long."""
        for _ in range(_TRIES):
            token = self._chance.below(len(self._tokenizer))
            if mask.allows(token) and token not in self._tokenizer.end_tokens:
                return token
        allowed = [token for token in _allowed(mask) if token not in self._tokenizer.end_tokens]
        return allowed[self._chance.below(len(allowed))] if allowed else None


def _allowed(mask: TokenMask) -> Iterator[int]:
    for found in _SOME.finditer(mask.bits):
        place, byte = found.start(), mask.bits[found.start()]
        yield from (place * 8 + bit for bit in range(8) if byte >> bit & 1)
