"""A grammar walked over a vocabulary.

Law: after `accept_token(t)` returned True, the text of all accepted tokens is a prefix of some string of the grammar;
`fill_mask` allows exactly the tokens that `accept_token` would accept, and an end token exactly when `is_accepting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wieldy.core.errors import GrammarError
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.engine import llguidance

_LIMITS = {"max_items_in_row": 20_000, "step_max_items": 2_000_000, "step_lexer_fuel": 5_000_000}
"""Ten times and more what the engine allows by itself: here nobody else waits for it."""


class Tokenizer:
    """A vocabulary: the bytes of every token, and which token ends an answer.

    Args:
        tokens: The bytes of token 0, 1, 2, ...; special tokens have none of their own that a text could contain.
        end_token: The token that ends an answer; a special one.

    Raises:
        GrammarError: The end token is not in the vocabulary, or the engine is not installed.
    """

    def __init__(self, tokens: Sequence[bytes], *, end_token: int) -> None:
        if not 0 <= end_token < len(tokens):
            raise GrammarError(f"The end token {end_token} is not among the {len(tokens)} tokens.")
        self.tokens = tuple(tokens)
        self.end_token = end_token
        engine = llguidance()
        self._vocabulary = _Vocabulary(self.tokens, end_token)
        self.engine: Any = engine.LLTokenizer(engine.TokenizerWrapper(self._vocabulary))

    @classmethod
    def of_bytes(cls) -> Tokenizer:
        """One token per byte, and token 256 to end: for tests and for checking texts."""
        return cls([*(bytes([value]) for value in range(256)), b"<|end|>"], end_token=256)

    def tokenize(self, text: bytes) -> list[int] | None:
        """Tokens that spell the text, not always those that a merging tokenizer would give; None if none do."""
        tokens = self._vocabulary(text)
        return tokens if b"".join(self.tokens[token] for token in tokens) == text else None


@dataclass(frozen=True, slots=True)
class TokenMask:
    """Which tokens may come next.

    Shape:
        bits: one bit a token, least significant bit first, padded to whole 32-bit words.
    """

    bits: bytes

    def allows(self, token: int) -> bool:
        """Whether the token may come next."""
        return bool(self.bits[token >> 3] >> (token & 7) & 1)

    @property
    def allowed(self) -> list[int]:
        """Every token that may come next, in order. Cost: linear in the vocabulary."""
        return [index * 8 + bit for index, byte in enumerate(self.bits) if byte for bit in range(8) if byte >> bit & 1]


class Matcher:
    """Where a text stands within a grammar."""

    def __init__(self, grammar: Grammar, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        engine = llguidance()
        limits = engine.LLParserLimits(**_LIMITS)
        self._engine: Any = engine.LLMatcher(tokenizer.engine, grammar.lark, log_level=0, limits=limits)
        self._check()

    def fill_mask(self) -> TokenMask:
        """The tokens that may come next."""
        bits: bytes = self._engine.compute_bitmask()
        self._check()
        return TokenMask(bits)

    def accept_token(self, token: int) -> bool:
        """Whether the token was allowed; then it has been taken, otherwise nothing has changed.

        Raises:
            GrammarError: The engine gave up, because the grammar is more than its limits allow.
        """
        return self._consumed([token]) == 1

    def accept_text(self, text: str) -> bool:
        """Whether the whole text was allowed; then it has been taken, otherwise nothing has changed.

        Raises:
            GrammarError: The engine gave up, because the grammar is more than its limits allow.
        """
        tokens = self._tokenizer.tokenize(text.encode("utf-8", "surrogatepass"))
        if tokens is None:
            return False
        taken = self._consumed(tokens)
        if taken < len(tokens):
            self.rollback(taken)
        return taken == len(tokens)

    def validate(self, tokens: Sequence[int]) -> int:
        """How many of the tokens may come next, one after the other; none is taken. The last may be the end token."""
        return int(self._engine.validate_tokens(list(tokens)))

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is complete."""
        return bool(self._engine.is_accepting())

    @property
    def is_finished(self) -> bool:
        """Whether nothing but the end may follow; then the engine takes no token at all, nor an end token."""
        return bool(self._engine.is_stopped())

    @property
    def forced_tokens(self) -> list[int]:
        """The tokens that must come next, whatever the model thinks; empty where it has a choice."""
        return list(self._engine.compute_ff_tokens())

    def rollback(self, count: int) -> None:
        """The last `count` tokens are as if they had never been taken."""
        if count and not self._engine.rollback(count):
            raise GrammarError(f"Cannot go back {count} tokens: {self._engine.get_error()}")

    def _consumed(self, tokens: Sequence[int]) -> int:
        taken: int = self._engine.try_consume_tokens(list(tokens))
        if taken < len(tokens):
            self._check()
        return taken

    def _check(self) -> None:
        if self._engine.is_error():
            # What follows the first line is the engine's state, which says nothing to anybody else.
            said = self._engine.get_error().partition("\n")[0]
            raise GrammarError(f"The constraint engine gave up: {said}")


class _Vocabulary:
    """The shape in which llguidance takes a vocabulary: attributes, and a call that tokenizes bytes."""

    def __init__(self, tokens: tuple[bytes, ...], end_token: int) -> None:
        self.tokens = tokens
        self.eos_token_id = end_token
        self.bos_token_id = None
        self.special_token_ids = [end_token]
        self._ids = {token: index for index, token in reversed(list(enumerate(tokens))) if index != end_token}
        self._longest = max(map(len, self._ids), default=0)

    def __call__(self, text: bytes) -> list[int]:
        """Longest match first. Bytes without a token are left out: the engine asks, and an error would abort it."""
        ids: list[int] = []
        start = 0
        while start < len(text):
            end = min(len(text), start + self._longest)
            while end > start and text[start:end] not in self._ids:
                end -= 1
            if end > start:
                ids.append(self._ids[text[start:end]])
            start = max(end, start + 1)
        return ids
