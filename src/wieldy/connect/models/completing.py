"""A continuation as whoever leads a model by questions wants it: text, tokens with likelihoods, what was forced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from wieldy.connect.models.decoding import Decoding
from wieldy.connect.models.writing import Token, Writer
from wieldy.grammar import Grammar
from wieldy.run.guided import Completion, Written


def completed(
    writer: Writer,
    prompt: str,
    *,
    max_tokens: int,
    grammar: Grammar | None = None,
    stop: Sequence[str] = (),
    on_piece: Callable[[str], bool] = lambda _: False,
) -> Completion:
    """The continuation of a prompt; blocks.

    Args:
        writer: The model.
        prompt: Text in which special tokens stand by their names.
        max_tokens: The budget; a text under a grammar is complete within it.
        grammar: What the text must be.
        stop: Texts at which it ends and which are not part of it.
        on_piece: Told each piece of text; returns whether to stop.

    Raises:
        BudgetError: Nothing that the grammar allows fits into the budget; nothing was generated.
        ModelError: The model could not answer.
    """
    decoding = Decoding(stop)
    written: list[Written] = []
    forced: list[tuple[int, int]] = []
    size = 0

    def add(text: str, token: Token | None) -> bool:
        nonlocal size
        if token is not None:
            written.append(Written(text=text, logprob=token.logprob))
            if token.is_forced:
                forced.append((size, size + len(text)))
        elif text and written:
            written[-1] = Written(text=written[-1].text + text, logprob=written[-1].logprob)
        size += len(text)
        return on_piece(text) or decoding.is_over

    def take(token: Token) -> bool:
        return False if token.is_special else add(decoding.feed(token), token)

    ending = writer.write(prompt, max_tokens=max_tokens, grammar=grammar, on_token=take)
    if not decoding.is_over:
        add(decoding.flush(), None)
    return Completion(
        text="".join(token.text for token in written),
        tokens=tuple(written),
        # One run asks many short questions, most of whose prompts are still known and not read again.
        usage=replace(
            ending.usage,
            input_tokens=ending.usage.input_tokens - ending.usage.cached_input_tokens,
            cached_input_tokens=0,
        ),
        finish="closed_by_budget" if ending.finish == "length" and ending.is_complete else ending.finish,
        forced=_joined(forced),
    )


def _joined(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The ranges, those that touch as one."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)
