"""A model that writes at random: the port of models in this process, kept as a real one keeps it, over single bytes."""

from __future__ import annotations

import random
from collections.abc import Mapping

from wieldy.connect.models.writing import Ending, OnToken, Token
from wieldy.core.limits import Usage
from wieldy.grammar import Grammar, Guard, Tokenizer


def vocabulary(marks: tuple[str, ...] = ()) -> Tokenizer:
    """One token per byte, one for each mark, and one that ends."""
    tokens = [*(bytes([value]) for value in range(256)), b"<|end|>", *(mark.encode() for mark in marks)]
    return Tokenizer(tokens, end_token=256, special_tokens={mark: 257 + at for at, mark in enumerate(marks)})


class RandomWriter:
    """Writes any tokens that the guard allows, and rather none that end something.

    Args:
        seed: Of the random numbers.
        tokenizer: The vocabulary.

    Attributes:
        prompts: What it was asked to continue.
        written: What it wrote.
    """

    begins_texts = False

    def __init__(self, seed: int, tokenizer: Tokenizer) -> None:
        self._chance = random.Random(seed)
        self._tokenizer = tokenizer
        self.prompts: list[str] = []
        self.written = b""

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    def write(self, prompt: str, *, max_tokens: int, on_token: OnToken, grammar: Grammar | None = None) -> Ending:
        self.prompts.append(prompt)
        assert grammar is not None
        guard = Guard(grammar, self._tokenizer, max_tokens=max_tokens)
        self.written = b""
        count = 0
        while not guard.is_finished and guard.remaining:
            allowed = guard.fill_mask().allowed
            # Letters are likelier than marks and layout, so that texts get long and the budget has to end them.
            weights: Mapping[int, int] = {one: 5 if one < 256 and chr(one).isalnum() else 1 for one in allowed}
            wanted = self._chance.choices(allowed, [weights[one] for one in allowed], k=6)
            left, forced = guard.remaining, guard.forced
            chosen = guard.choose([self._tokenizer.end_token if one == 256 else one for one in wanted])
            if guard.remaining == left:
                break
            count += 1
            self.written += self._tokenizer.tokens[chosen]
            token = Token(
                id=chosen,
                data=self._tokenizer.tokens[chosen],
                is_special=chosen in self._tokenizer.special_ids,
                is_forced=guard.forced != forced,
            )
            if on_token(token):
                break
        finish = "stop" if guard.is_finished else "length"
        return Ending(
            usage=Usage(output_tokens=count, requests=1),
            finish="closed_by_budget" if guard.closed_by_budget else finish,
            is_complete=guard.is_accepting or guard.is_finished,
        )
