"""The model that budgets are tested with: it writes at random and closes nothing as long as it need not."""

import random

from wieldy.grammar.budget import Guard
from wieldy.grammar.tokenizer import Tokenizer

_CLOSERS = b'"])}>/'


def reluctant(guard: Guard, chance: random.Random, tokenizer: Tokenizer) -> list[int]:
    """The tokens that it writes until it may write no more."""
    written: list[int] = []
    while not guard.is_finished and (guard.remaining or not guard.is_accepting):
        allowed = guard.fill_mask().allowed
        chance.shuffle(allowed)
        allowed.sort(key=lambda token: _is_closing(token, tokenizer))
        token = guard.choose(allowed[:6])
        if token in tokenizer.end_tokens:
            break
        written.append(token)
    return written


def _is_closing(token: int, tokenizer: Tokenizer) -> bool:
    return token in tokenizer.end_tokens or any(byte in _CLOSERS for byte in tokenizer.tokens[token])
