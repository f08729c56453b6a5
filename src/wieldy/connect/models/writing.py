"""What a model in this process must be able to do, whatever runs it: continue a prompt, token by token.

`llama` and `transformers` do it; `spoken` makes replies of it. All calls block and may come from several threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from wieldy.core.limits import Usage
from wieldy.grammar import Grammar, Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token that a model wrote.

    Attributes:
        data: The bytes that it adds to the text; those of a special token are its name's.
        is_special: Whether it is a mark of the vocabulary rather than text.
        logprob: The natural logarithm of the probability that the model gave it before any constraint.
        is_forced: Whether the budget decided it, not the model and not the grammar.
    """

    id: int
    data: bytes
    is_special: bool = False
    logprob: float = 0.0
    is_forced: bool = False


OnToken: TypeAlias = Callable[[Token], bool]
"""Told each token; returns whether to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a text ended.

    Attributes:
        finish: `stop` if the model ended it, nothing more could follow, or it was stopped; `closed_by_budget` if the
            budget decided some of it; `length` if it was cut.
        is_complete: Whether it is a whole text of its grammar; False where there was none.
    """

    usage: Usage
    finish: Literal["stop", "length", "closed_by_budget"]
    is_complete: bool = False


class Writer(Protocol):
    """A loaded model."""

    @property
    def begins_texts(self) -> bool:
        """Whether it puts the token there itself with which every text begins."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Its vocabulary.

        Raises:
            GrammarError: It is of a kind that cannot be constrained.
        """
        ...

    def write(self, prompt: str, *, max_tokens: int, on_token: OnToken, grammar: Grammar | None = None) -> Ending:
        """The text that follows the prompt, told token by token.

        Args:
            prompt: Text in which special tokens stand by their names.
            max_tokens: The budget; a text under a grammar is complete within it.
            on_token: Told each token; the one that ends the text is not told.
            grammar: What the text must be.

        Raises:
            BudgetError: Nothing that the grammar allows fits into the budget; nothing was generated.
            GrammarError: The grammar cannot be walked over the vocabulary.
            ModelError: The model could not answer.
        """
        ...
