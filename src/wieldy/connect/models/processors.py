"""Constraints in the form in which `generate` of transformers, and llama-cpp-python, let programs change scores.

    grammar = json_schema(Invoice)
    processor = ConstraintProcessor(grammar, Tokenizer.of_transformers(tokenizer), max_tokens=200)
    model.generate(**inputs, logits_processor=[processor], max_new_tokens=processor.max_new_tokens)

Deliberately not here: running a model (`transformers`), where a text stands (`rows`), the constraint (`grammar`).
Source: `transformers.generation.LogitsProcessor` and its callers in `generation/utils.py` (transformers 5.24).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from wieldy.connect.models.rows import Row, numeric
from wieldy.core.errors import UsageError
from wieldy.grammar import Grammar, Tokenizer

_ROUNDING = 1e-4


class ConstraintProcessor:
    """A `LogitsProcessor`: each row of a batch is written under its grammar and within its budget.

    For one call of `generate` after the other: a new prompt begins anew. It may sample, search greedily, or be assisted
    by another model; several sequences of a prompt are each under its grammar. Beam search is refused: it goes on with
    what has no score where too few tokens have one.

    Args:
        constraint: One grammar for all rows, or one a prompt in their order; None for a prompt that is free.
        tokenizer: The model's vocabulary. Its end tokens must be those that end generation
            (`generation_config.eos_token_id`).
        max_tokens: The budget of every row, without the token that ends it, or one a prompt: at any, the text is
            complete within it. None for none.

    Raises:
        BudgetError: Nothing that a grammar allows fits into its budget.
        GrammarError: A grammar cannot be walked over the vocabulary.
        UsageError: There are other budgets than grammars, or something is of a wrong kind.
    """

    supports_continuous_batching = False

    def __init__(
        self,
        constraint: Grammar | Sequence[Grammar | None],
        tokenizer: Tokenizer,
        *,
        max_tokens: int | Sequence[int] | None = None,
    ) -> None:
        if isinstance(constraint, str | bytes) or not isinstance(constraint, Grammar | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(
                f"Expected a constraint, or a list with one for each prompt, found a {type(constraint).__name__}."
            )
        grammars = [constraint] if isinstance(constraint, Grammar) else list(constraint)
        if isinstance(max_tokens, str | bytes):
            raise UsageError(f"Expected a number of tokens as the budget, found a {type(max_tokens).__name__}.")
        budgets = [*max_tokens] if isinstance(max_tokens, Sequence) else [max_tokens] * len(grammars)
        if len(budgets) != len(grammars):
            raise UsageError(f"Expected one budget, or one for each of {len(grammars)} grammars; found {len(budgets)}.")
        self._is_for_all = isinstance(constraint, Grammar)
        self._tokenizer = tokenizer
        self._asked = list(zip(grammars, budgets, strict=True))
        self._rows = [self._row(*asked) for asked in self._asked]  # what cannot be is said before anything is generated
        self._prompt: Any = None

    @property
    def max_new_tokens(self) -> int | None:
        """What to give `generate`, so that it does not end before the budget does; None if a row has no budget."""
        budgets = [budget for _, budget in self._asked if budget is not None]
        return max(budgets) + 1 if len(budgets) == len(self._asked) else None

    @property
    def rows(self) -> tuple[Row | None, ...]:
        """What is known of each row, as of the last step or of `follow`; None for one that is free."""
        return tuple(self._rows)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores, with minus infinity for what may not come next.

        Args:
            input_ids: Prompts and what was written since.
            scores: Of the next token, for as many tokens as the model has scores.

        Shape:
            input_ids: rows by tokens, a tensor of integers. scores: rows by scores, a tensor.

        Raises:
            UsageError: The number of rows does not fit the number of grammars, or this is a beam search.
            GrammarError: The engine gave up on a grammar.
        """
        torch: Any = import_module("torch")  # heavy, no dependency, and loaded by whoever has tensors
        self.follow(input_ids)
        if input_ids.shape == self._prompt.shape:
            _refuse_beams(scores)
        forbidden = torch.zeros(scores.shape, dtype=torch.bool)
        for index, row in enumerate(self._rows):
            if row is not None:
                allowed = row.allowed(scores.shape[1], partial(_numbers, scores, index))
                if allowed is not None:
                    forbidden[index] = torch.from_numpy(~allowed)
        return without(scores, forbidden)

    def follow(self, input_ids: Any) -> None:
        """Every row is what these tokens say. Tell it what `generate` gave, to know how the rows ended.

        Args:
            input_ids: Prompts and what was written since.

        Shape:
            input_ids: rows by tokens, a tensor of integers.

        Raises:
            UsageError: The number of rows does not fit the number of grammars.
        """
        known = 0 if self._prompt is None else self._prompt.shape[1]
        if not self._goes_on(input_ids, known):
            self._prompt, self._rows = input_ids.clone(), self._begun(input_ids.shape[0])
            return
        for row, tokens in zip(self._rows, input_ids[:, known:].tolist(), strict=True):
            if row is not None:
                row.follow(tokens)

    def _goes_on(self, input_ids: Any, known: int) -> bool:
        """Whether these are the same prompts with something behind them."""
        count, length = input_ids.shape
        if self._prompt is None or self._prompt.shape[0] != count or length <= known:
            return False
        return bool((input_ids[:, :known] == self._prompt).all())

    def _begun(self, count: int) -> list[Row | None]:
        prompts = count if self._is_for_all else len(self._asked)
        if not prompts or count % prompts:
            raise UsageError(f"Expected a grammar for each of {count} rows, or one for all; found {prompts}.")
        asked = self._asked * count if self._is_for_all else self._asked
        # Several sequences of one prompt stand one behind the other.
        return [self._row(*each) for each in asked for _ in range(count // prompts)]

    def _row(self, grammar: Grammar | None, budget: int | None) -> Row | None:
        return None if grammar is None else Row(grammar, self._tokenizer, max_tokens=budget)


def without(scores: Any, forbidden: Any) -> Any:
    """The scores, with minus infinity for what is forbidden.

    Where another processor has forbidden all the rest, what is allowed is alike, for something must be written.

    Shape:
        scores: rows by scores, a tensor. forbidden: the same, of truth values, on whatever device.
    """
    torch: Any = import_module("torch")
    forbidden = forbidden.to(scores.device)
    kept = scores.masked_fill(forbidden, -torch.inf)
    is_empty = torch.isneginf(kept).all(dim=-1, keepdim=True)
    return torch.where(is_empty, torch.zeros_like(scores).masked_fill(forbidden, -torch.inf), kept)


def _refuse_beams(scores: Any) -> None:
    # Only beam search hands over probabilities, and it has at least two rows.
    torch: Any = import_module("torch")
    sums = torch.logsumexp(scores.float(), dim=-1)
    if len(sums) > 1 and bool((sums.abs() < _ROUNDING).all()):
        raise UsageError(
            "Expected scores of single texts, found those of beams, which a constraint cannot hold: where few tokens "
            "have a score, beam search goes on with what has none. Use num_beams=1, with num_return_sequences for more "
            "texts."
        )


def _numbers(scores: Any, index: int) -> Any:
    return scores[index].float().cpu().numpy()


class NumpyProcessor:
    """The same for one text and numpy's arrays, as llama-cpp-python's `logits_processor` takes it.

    Args:
        grammar: What the text must be.
        tokenizer: The model's vocabulary.
        max_tokens: The budget, without the token that ends the text; None for none.

    Raises:
        BudgetError: Nothing that the grammar allows fits into the budget.
        GrammarError: The grammar cannot be walked over the vocabulary.
    """

    def __init__(self, grammar: Grammar, tokenizer: Tokenizer, *, max_tokens: int | None = None) -> None:
        self._begin = lambda: Row(grammar, tokenizer, max_tokens=max_tokens)
        self.row = self._begin()
        """What is known of the text, as of the last step."""
        self._prompt: list[int] | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores, with minus infinity for what may not come next.

        Shape:
            input_ids: tokens, prompt and all. scores: as many as the model has.

        Raises:
            GrammarError: The engine gave up on the grammar.
        """
        numpy = numeric()
        tokens = [int(token) for token in input_ids]
        prompt = self._prompt
        if prompt is None or len(tokens) <= len(prompt) or tokens[: len(prompt)] != prompt:
            prompt, self._prompt, self.row = tokens, tokens, self._begin()
        self.row.follow(tokens[len(prompt) :])
        allowed = self.row.allowed(len(scores), lambda: scores)
        if allowed is None:
            return scores
        values = scores if numpy.isfinite(scores[allowed]).any() else numpy.zeros_like(scores)
        return numpy.where(allowed, values, numpy.array(-numpy.inf, dtype=scores.dtype))
