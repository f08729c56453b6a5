"""Text of a model of the transformers library, token by token, by its own `generate`.

The constraint changes the scores before each token (`rows`); a stopping criterion tells each token behind it.
Source: `GenerationMixin.generate` and its callers of processors and criteria (transformers 5.24).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from wieldy.connect.models.processors import without
from wieldy.connect.models.rows import Row
from wieldy.connect.models.writing import Ending, OnToken, Token
from wieldy.core.errors import ProviderError, RequestRefusedError
from wieldy.core.limits import Usage
from wieldy.grammar import Grammar, Tokenizer


class HfWriter:
    """One loaded model; one text at a time.

    Args:
        model: A `PreTrainedModel` with `generate`.
        tokenizer: Its fast tokenizer.
        options: More arguments of `generate`.
    """

    begins_texts = False

    def __init__(self, model: Any, tokenizer: Any, options: Mapping[str, Any]) -> None:
        self.model = model
        self._cut = tokenizer
        self._options = dict(options)
        self._writing = threading.Lock()

    @property
    def tokenizer(self) -> Tokenizer:
        """The vocabulary.

        Raises:
            GrammarError: The tokenizer is none of the fast ones, or nothing ends its texts.
        """
        return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Tokenizer:
        ends = self.model.generation_config.eos_token_id
        return Tokenizer.of_transformers(self._cut, end_token=ends)

    def write(self, prompt: str, *, max_tokens: int, on_token: OnToken, grammar: Grammar | None = None) -> Ending:
        """The text that follows the prompt, told token by token; with a grammar, complete within the budget.

        A grammar in the engine's own dialect, which only the engine can read, has no budget: it may be cut.

        Raises:
            BudgetError: Nothing that the grammar allows fits into the budget; nothing was generated.
            GrammarError: The vocabulary cannot be constrained.
            RequestRefusedError: The prompt does not fit.
            ProviderError: The library failed.
        """
        with self._writing:
            inputs = self._cut(prompt, add_special_tokens=False, return_tensors="pt").to(self.model.device)
            length: int = inputs["input_ids"].shape[1]
            room = self._room(length)
            row = None
            if grammar is not None:
                # One place is for the token that ends the text.
                budget = min(max_tokens, room - 1) if grammar.rules is not None else None
                row = Row(grammar, self.tokenizer, max_tokens=budget)
            steps = _Steps(row, self.tokenizer, on_token, prompt_tokens=length)
            options = {"pad_token_id": self.tokenizer.end_token, **self._options}
            try:
                self.model.generate(
                    **inputs,
                    logits_processor=[steps.score],
                    stopping_criteria=[steps.stop],
                    max_new_tokens=min(max_tokens + (row is not None), room),
                    **options,
                )
            except (RuntimeError, ValueError) as error:
                raise ProviderError(f"The model failed: {str(error).rstrip('.')}.") from error
        return steps.ending()

    def _room(self, prompt_tokens: int) -> int:
        """How many tokens may follow.

        Raises:
            RequestRefusedError: None may.
        """
        most = getattr(self.model.config.get_text_config(), "max_position_embeddings", None) or 1 << 30
        if prompt_tokens >= most:
            raise RequestRefusedError(
                f"The conversation is too long for the model: {prompt_tokens} tokens, and it reads {most}. Give it "
                "fewer or smaller tools, or shorter messages."
            )
        return most - prompt_tokens


class _Steps:
    """One text while `generate` writes it: scores are changed before each token, and each token is told behind it."""

    def __init__(self, row: Row | None, tokenizer: Tokenizer, on_token: OnToken, *, prompt_tokens: int) -> None:
        self._row = row
        self._tokenizer = tokenizer
        self._on_token = on_token
        self._prompt_tokens = prompt_tokens
        self._logprobs: Any = None
        self._written = 0
        self._has_ended = False
        self._is_left = False
        self._failure: BaseException | None = None

    def score(self, input_ids: Any, scores: Any) -> Any:
        """The scores, with minus infinity for what may not come next."""
        torch: Any = import_module("torch")
        self._logprobs = torch.log_softmax(scores[0].float(), dim=-1)
        if self._row is None:
            # Scores beyond the vocabulary are there to make a round number of them; no text has these tokens.
            beyond = torch.arange(scores.shape[1], device=scores.device) >= len(self._tokenizer)
            return without(scores, beyond.expand(scores.shape))
        allowed = self._row.allowed(scores.shape[1], lambda: scores[0].float().cpu().numpy())
        if allowed is None:
            return scores
        return without(scores, torch.from_numpy(~allowed).reshape(scores.shape))

    def stop(self, input_ids: Any, scores: Any, **options: Any) -> Any:
        """Whether to stop, once the new token was told."""
        del scores, options
        torch: Any = import_module("torch")
        is_over = self._is_left or self._has_ended
        if not is_over:
            # What a listener raises is no failure of the model.
            try:
                self._tell(input_ids[0, self._prompt_tokens :].tolist())
            except BaseException as error:
                self._failure, self._is_left = error, True
        guard = self._row.guard if self._row is not None else None
        is_over = self._is_left or self._has_ended or (guard is not None and (guard.is_finished or not guard.remaining))
        return torch.full((input_ids.shape[0],), is_over, dtype=torch.bool, device=input_ids.device)

    def ending(self) -> Ending:
        """How the text ended.

        Raises:
            BaseException: What a listener raised.
        """
        if self._failure is not None:
            raise self._failure
        row, guard = self._row, self._row.guard if self._row is not None else None
        is_whole = self._has_ended or self._is_left or (guard is not None and guard.is_finished)
        finish: Literal["stop", "length"] = "stop" if is_whole else "length"
        return Ending(
            usage=Usage(input_tokens=self._prompt_tokens, output_tokens=self._written + self._has_ended, requests=1),
            finish="closed_by_budget" if guard is not None and guard.closed_by_budget else finish,
            is_complete=row is not None and row.is_complete,
        )

    def _tell(self, tokens: list[int]) -> None:
        for count in range(self._written, len(tokens)):
            number, row = tokens[count], self._row
            forced = row.guard.forced if row is not None and row.guard is not None else []
            if row is not None:
                row.follow(tokens[: count + 1])
            if row.is_over if row is not None else number in self._tokenizer.end_tokens:
                self._has_ended = True
                return
            self._written += 1
            self._is_left = self._on_token(
                Token(
                    id=number,
                    data=self._tokenizer.tokens[number],
                    is_special=number in self._tokenizer.special_ids,
                    logprob=float(self._logprobs[number]),
                    is_forced=row is not None and row.guard is not None and row.guard.forced != forced,
                )
            )
