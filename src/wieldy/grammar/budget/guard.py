"""A matcher that never runs out of budget: it knows at every step how the text can be completed in what is left.

Law: between calls, `witness` completes the text, as the engine itself has confirmed, and is no longer than `remaining`.
A token is allowed if and only if the grammar allows it and such a witness remains.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from wieldy.core.errors import BudgetError, GrammarError
from wieldy.grammar.budget.cutting import cutter_of
from wieldy.grammar.budget.network import network_of
from wieldy.grammar.budget.searching import Completions
from wieldy.grammar.budget.tracker import Standing
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.matcher import Matcher, TokenMask
from wieldy.grammar.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class _Step:
    """What is known after a number of tokens.

    Attributes:
        witness: Tokens that complete the text.
        standing: Where the text stood in the network before `unread`; None if the network has lost it.
        unread: The last tokens, which the network has not yet seen: as long as the witness holds, nobody asks it.
    """

    witness: tuple[int, ...]
    standing: Standing | None
    unread: tuple[int, ...] = ()
    remaining: int = 0
    size_bytes: int = 0
    forced: tuple[tuple[int, int], ...] = ()


class Guard:
    """A grammar walked over a vocabulary within a budget.

    Args:
        grammar: What may be written.
        tokenizer: The vocabulary.
        max_tokens: The budget.
        end_token_counts: Whether the token that ends the text is one of them.

    Raises:
        BudgetError: Nothing that the grammar allows fits into the budget; said before anything is generated.
        GrammarError: The grammar came in the engine's own dialect, or allows nothing.
    """

    def __init__(
        self, grammar: Grammar, tokenizer: Tokenizer, *, max_tokens: int, end_token_counts: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        self._network = network_of(grammar)
        self._matcher = Matcher(grammar, tokenizer)
        self._completions = Completions(self._matcher, cutter_of(tokenizer), end_token=tokenizer.end_token)
        start = Standing.at_start(self._network.states, self._network.start)
        witness = self._completions.confirmed((), start)
        if witness is None:
            raise GrammarError("No text was found that the constraint allows.")
        needed = len(witness) + end_token_counts
        if needed > max_tokens:
            raise BudgetError(
                f"The shortest text that the constraint allows has {needed} tokens; expected a budget of at least that "
                f"many, found {max_tokens}. Raise the limit of output tokens, or ask for less.",
                minimum=needed,
                budget=max_tokens,
            )
        self._steps = [_Step(witness, start, remaining=max_tokens - end_token_counts)]

    # What is known

    @property
    def remaining(self) -> int:
        """Tokens that may still be written, without the end token."""
        return self._steps[-1].remaining

    @property
    def witness(self) -> tuple[int, ...]:
        """Tokens that complete the text, no more than remain; the engine has confirmed them."""
        return self._steps[-1].witness

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is complete."""
        return self._matcher.is_accepting

    @property
    def is_finished(self) -> bool:
        """Whether nothing but the end may follow."""
        return self._matcher.is_finished

    @property
    def is_tight(self) -> bool:
        """Whether the budget may refuse a token that the grammar allows."""
        return True

    @property
    def forced(self) -> list[tuple[int, int]]:
        """Ranges of bytes of the text (start, end) that neither the model nor the grammar decided, but the budget."""
        return list(self._steps[-1].forced)

    @property
    def closed_by_budget(self) -> bool:
        """Whether the budget decided some of the text."""
        return bool(self._steps[-1].forced)

    def fill_mask(self) -> TokenMask:
        """The tokens that the grammar allows, whether or not they leave room for the rest."""
        return self._matcher.fill_mask()

    def allows(self, token: int) -> bool:
        """Whether the token may come next: the grammar allows it, and what then remains is enough to end."""
        return self._after(token) is not None

    # What comes

    def accept_token(self, token: int) -> bool:
        """Whether the token was allowed; then it has been taken, otherwise nothing has changed."""
        return self._accept(token, is_forced=False)

    def choose(self, candidates: Iterable[int]) -> int:
        """The first of the candidates that is allowed, or else the witness's next token; it has been taken.

        Args:
            candidates: Tokens that the grammar allows, in the order in which the model would have them.
        """
        is_forced = False
        for token in candidates:
            if self._accept(token, is_forced=is_forced):
                return token
            is_forced = True
        token = self.witness[0] if self.witness else self._tokenizer.end_token
        self._accept(token, is_forced=True)
        return token

    def rollback(self, count: int) -> None:
        """The last `count` tokens are as if they had never been taken."""
        self._matcher.rollback(count)
        del self._steps[len(self._steps) - count :]

    def _accept(self, token: int, *, is_forced: bool) -> bool:
        step = self._after(token)
        if step is None or not self._matcher.accept_token(token):
            return False
        before = self._steps[-1]
        if is_forced and step.size_bytes > before.size_bytes:
            step = replace(step, forced=_with(before.forced, (before.size_bytes, step.size_bytes)))
        self._steps.append(step)
        return True

    def _after(self, token: int) -> _Step | None:
        """What is known after the token; None if it is not allowed."""
        if not 0 <= token < len(self._tokenizer.tokens):
            return None
        now = self._steps[-1]
        witness = now.witness
        if now.remaining and not self.is_finished:
            if witness and token == witness[0]:
                return self._step(token, witness[1:])
            if len(witness) < now.remaining and self._completions.completes((token,), witness):
                return self._step(token, witness)
            standing = self._read(token)
            found = None if standing is None else self._completions.confirmed((token,), standing)
            if found is not None and len(found) < now.remaining:
                return replace(self._step(token, found), standing=standing, unread=())
        if token in self._tokenizer.end_tokens and self.is_accepting:
            return replace(now, witness=())
        return None

    def _step(self, token: int, witness: tuple[int, ...]) -> _Step:
        now = self._steps[-1]
        size_bytes = now.size_bytes + len(self._tokenizer.tokens[token])
        return replace(
            now, witness=witness, unread=(*now.unread, token), remaining=now.remaining - 1, size_bytes=size_bytes
        )

    def _read(self, token: int) -> Standing | None:
        """Where the text stands in the network after the token; None if the network does not know it."""
        now = self._steps[-1]
        standing = now.standing
        for unread in now.unread:
            standing = standing and self._standing_after(standing, unread)
        if now.unread:
            self._steps[-1] = replace(now, standing=standing, unread=())
        return standing and self._standing_after(standing, token)

    def _standing_after(self, standing: Standing, token: int) -> Standing | None:
        if token in self._tokenizer.special_ids:
            return standing.after_token(token)
        return standing.after(self._tokenizer.tokens[token])


def minimum_tokens(grammar: Grammar, tokenizer: Tokenizer) -> int:
    """How many tokens the shortest text has that the grammar allows, without an end token; as far as one is known.

    Raises:
        GrammarError: The grammar came in the engine's own dialect, or allows nothing.
    """
    try:
        return len(Guard(grammar, tokenizer, max_tokens=0).witness)
    except BudgetError as error:
        return error.minimum


def _with(ranges: tuple[tuple[int, int], ...], last: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The ranges with one more at the end, in one with the last if they touch."""
    if ranges and ranges[-1][1] == last[0]:
        return (*ranges[:-1], (ranges[-1][0], last[1]))
    return (*ranges, last)
