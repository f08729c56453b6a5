"""Completing a text afterwards that was cut off where no constraint could be applied: bytes only, no vocabulary."""

from __future__ import annotations

from functools import lru_cache

from wieldy.grammar.budget.cutting import cutter_of
from wieldy.grammar.budget.network import network_of
from wieldy.grammar.budget.searching import Completions
from wieldy.grammar.compiled import Grammar, compiled
from wieldy.grammar.matcher import Matcher
from wieldy.grammar.tokenizer import Tokenizer


def closed(text: str, grammar: Grammar) -> str | None:
    """The text with the fewest bytes behind it that make it fit the grammar; None if it is no beginning of such a text.

    Special tokens of the grammar are taken as what they are written as. What was added was not said by a model: mark it
    as repaired, and run no call that was completed so.

    Raises:
        GrammarError: The grammar came in the engine's own dialect.
    """
    network = network_of(grammar)
    if grammar.rules is not None and grammar.special_tokens:
        grammar = compiled(grammar.rules)
        network = network_of(grammar)
    tokenizer = _bytes()
    matcher = Matcher(grammar, tokenizer)
    if not matcher.accept_text(text):
        return None
    standing = network.standing().after(text.encode("utf-8", "surrogatepass"))
    if standing is None:
        return text if matcher.is_accepting else None
    tokens = Completions(matcher, cutter_of(tokenizer), end_token=tokenizer.end_token).confirmed((), standing)
    return None if tokens is None else text + bytes(tokens).decode()


@lru_cache(maxsize=1)
def _bytes() -> Tokenizer:
    return Tokenizer.of_bytes()
