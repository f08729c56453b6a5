"""A matcher that never runs out of budget: it knows at every step how the text can be completed in what is left.

Law: between calls, `witness` completes the text, as the engine itself has confirmed, and is no longer than `remaining`.
A token is allowed if and only if the grammar allows it and such a witness remains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from wieldy.core.errors import BudgetError, GrammarError
from wieldy.grammar.arguments import check_count, token_id, wrong
from wieldy.grammar.budget.cutting import cutter_of
from wieldy.grammar.budget.margins import margin
from wieldy.grammar.budget.network import network_of
from wieldy.grammar.budget.parts import MAX_BYTES
from wieldy.grammar.budget.repeating import LOOKED_AT_BYTES, repeated_bytes
from wieldy.grammar.budget.searching import Completions
from wieldy.grammar.budget.tracker import Standing
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.matcher import Matcher, TokenMask, check_pair
from wieldy.grammar.tokenizer import Tokenizer

MAX_REPEATED_BYTES = 400
"""A text that repeats itself for longer is led to the end of the value in which it does."""
_MAX_UNREAD = 32
"""After so many tokens the network is told of them, so that it never has to catch up with much."""
RESERVED_TOKENS = 32
"""Up to so many tokens are kept for each string that is still to come, while another one is written."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What is known after a number of tokens.

    Attributes:
        witness: Tokens that complete the text.
        remaining: Tokens that may still be written.
        standing: Where the text stood in the network before `unread`; None if the network has lost it.
        unread: The last tokens, which the network has not yet seen: as long as the witness holds, nobody asks it.
        free_texts: Texts of the model's own that are still to come on the shortest way to the end.
        reserve: Tokens to spare that are kept for them.
        closing: The text repeats itself: until it can be completed with so many bytes, it is only completed; or None.
        size_bytes: Bytes of the text.
        forced: The ranges that the budget decided.
    """

    witness: tuple[int, ...]
    remaining: int
    standing: Standing | None
    unread: tuple[int, ...] = ()
    free_texts: int = 0
    reserve: int = 0
    closing: int | None = None
    size_bytes: int = 0
    forced: tuple[tuple[int, int], ...] = ()

    @property
    def spare(self) -> int:
        """Tokens that remain beyond those of the witness."""
        return self.remaining - len(self.witness)

    def keeps_enough(self, before: _Step) -> bool:
        """Whether after that step enough remains: for the witness, and for the texts that are still to come.

        A token that brings the end nearer costs nothing to spare and is always in order.
        """
        needed = before.spare if before.closing is not None else min(before.reserve, before.spare)
        return self.spare >= max(0, needed)


class Guard:
    """A grammar walked over a vocabulary within a budget.

    Args:
        grammar: What may be written.
        tokenizer: The vocabulary.
        max_tokens: The budget.
        end_token_counts: Whether the token that ends the text is one of them.
        max_repeated_bytes: For how long a text may repeat itself; then the value in which it does is closed. None: for
            as long as it likes.

    Raises:
        BudgetError: Nothing that the grammar allows fits into the budget; said before anything is generated.
        GrammarError: The grammar came in the engine's own dialect, or allows nothing.
    """

    def __init__(
        self,
        grammar: Grammar,
        tokenizer: Tokenizer,
        *,
        max_tokens: int,
        end_token_counts: bool = False,
        max_repeated_bytes: int | None = MAX_REPEATED_BYTES,
    ) -> None:
        check_pair(grammar, tokenizer)
        if not isinstance(end_token_counts, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("True or False for end_token_counts", end_token_counts)
        check_count("max_tokens", max_tokens)
        check_count("max_repeated_bytes", max_repeated_bytes, or_none=True)
        self._tokenizer = tokenizer
        self._network = network_of(grammar)
        self._matcher = Matcher(grammar, tokenizer)
        self._cutter = cutter_of(tokenizer)
        self._completions = Completions(self._matcher, self._cutter, end_token=tokenizer.end_token)
        start = self._network.standing()
        witness = self._completions.confirmed((), start)
        if witness is None:
            raise GrammarError("No text was found that the constraint allows.")
        if len(witness) + end_token_counts > max_tokens:
            witness = self._completions.fewest(start) or witness
        needed = len(witness) + end_token_counts
        if needed > max_tokens:
            raise BudgetError(
                f"The shortest text that the constraint allows has {needed} tokens; expected a budget of at least that "
                f"many, found {max_tokens}. Raise the limit of output tokens, or ask for less.",
                minimum=needed,
                budget=max_tokens,
            )
        first = _Step(witness=witness, remaining=max_tokens - end_token_counts, standing=start)
        self._steps = [self._with_reserve(first, start)]
        self._text = bytearray()
        self._max_repeated_bytes = max_repeated_bytes
        self._were_allowed: list[int] = []
        self._was_refused = False

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
        """Whether the budget may refuse a token that the grammar allows; where it may not, the mask is all there is."""
        now = self._steps[-1]
        standing = self._read()
        if standing is None or now.closing is not None:
            return True
        most = standing.peak + margin(self._network, self._cutter)
        return most > MAX_BYTES or now.remaining - 1 < most + now.reserve

    @property
    def forced(self) -> list[tuple[int, int]]:
        """Ranges of bytes of the text (start, end) that neither the model nor the grammar decided, but the budget.

        That the text ends is an empty range at its end.
        """
        return list(self._steps[-1].forced)

    @property
    def closed_by_budget(self) -> bool:
        """Whether the budget decided some of the text, or that it ends."""
        return bool(self._steps[-1].forced)

    def fill_mask(self) -> TokenMask:
        """The tokens that the grammar allows, whether or not they leave room for the rest."""
        return self._matcher.fill_mask()

    def allows(self, token: int) -> bool:
        """Whether the token may come next: the grammar allows it, and what then remains is enough to end.

        Ask in the order in which the model would have the tokens: one that is taken although a likelier one was refused
        counts as the budget's decision.
        """
        token = token_id(token)
        is_allowed = self._after(token) is not None
        self._note(token, is_allowed=is_allowed)
        return is_allowed

    # What comes

    def accept_token(self, token: int) -> bool:
        """Whether the token was allowed; then it has been taken, otherwise nothing has changed."""
        token = token_id(token)
        step = self._after(token)
        if step is None or not self._matcher.accept_token(token):
            self._note(token, is_allowed=False)
            return False
        before = self._steps[-1]
        if self._was_refused and token not in self._were_allowed:
            step = replace(step, forced=_with(before.forced, (before.size_bytes, step.size_bytes)))
        if step.size_bytes > before.size_bytes:
            self._text += self._tokenizer.tokens[token]
        self._steps.append(self._settled(step))
        self._forget()
        return True

    def choose(self, candidates: Iterable[int]) -> int:
        """The first of the candidates that is allowed, or else the witness's next token; it has been taken.

        Args:
            candidates: Tokens in the order in which the model would have them.
        """
        if not isinstance(candidates, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("tokens by their ids", candidates)
        for token in candidates:
            if self.accept_token(token):
                return token
        token = self.witness[0] if self.witness else self._tokenizer.end_token
        self._was_refused = self._was_refused or not self._is_only_way(token)
        if not self.accept_token(token):
            raise GrammarError("The text is complete and nothing may follow; ask `is_finished` before choosing.")
        return token

    def rollback(self, count: int) -> None:
        """The last `count` tokens are as if they had never been taken.

        Raises:
            GrammarError: So many were not taken.
        """
        check_count("the number of tokens to go back", count)
        if not count:
            return
        if count >= len(self._steps):
            raise GrammarError(f"Cannot go back {count} tokens: {len(self._steps) - 1} were taken.")
        self._matcher.rollback(count)
        del self._steps[len(self._steps) - count :]
        del self._text[self._steps[-1].size_bytes :]
        self._forget()

    def _is_only_way(self, token: int) -> bool:
        """Whether the grammar allows nothing else than the text of the token."""
        only = b"".join(self._tokenizer.tokens[forced] for forced in self._matcher.forced_tokens)
        return only.startswith(self._tokenizer.tokens[token])

    def _note(self, token: int, *, is_allowed: bool) -> None:
        """Remembers whether the budget, and not the grammar, has refused a token that the model would have."""
        if is_allowed and not self._was_refused:
            self._were_allowed.append(token)
        elif not is_allowed and not self._was_refused:
            self._was_refused = self._matcher.validate((token,)) == 1

    def _forget(self) -> None:
        self._were_allowed.clear()
        self._was_refused = False

    # What would be known after a token

    def _after(self, token: int) -> _Step | None:
        """What is known after the token; None if it is not allowed."""
        now = self._steps[-1]
        if self._matcher.ends_with(token):
            return replace(now, witness=())
        if 0 <= token < len(self._tokenizer) and now.remaining and not self.is_finished:
            return next((step for step in self._ways(token) if step.keeps_enough(now)), None)
        return None

    def _ways(self, token: int) -> Iterator[_Step]:
        """How the text may be completed after the token, the cheapest way to find out first."""
        witness = self.witness
        if witness and token == witness[0]:
            yield self._step(token, witness[1:])
        elif self._steps[-1].spare and self._completions.completes((token,), witness):
            yield self._step(token, witness)
        standing = self._read(token)
        found = None if standing is None else self._completions.confirmed((token,), standing)
        if found is not None:
            yield replace(self._step(token, found), standing=standing, unread=())

    def _step(self, token: int, witness: tuple[int, ...]) -> _Step:
        now = self._steps[-1]
        return replace(
            now,
            witness=witness,
            remaining=now.remaining - 1,
            unread=(*now.unread, token),
            size_bytes=now.size_bytes + len(self._tokenizer.tokens[token]),
        )

    def _read(self, token: int | None = None) -> Standing | None:
        """Where the text stands in the network, after one more token if one is given; None if it has been lost."""
        now = self._steps[-1]
        standing = now.standing
        for unread in now.unread:
            standing = standing and self._standing_after(standing, unread)
        if now.unread:
            self._steps[-1] = replace(now, standing=standing, unread=())
        return standing if standing is None or token is None else self._standing_after(standing, token)

    def _standing_after(self, standing: Standing, token: int) -> Standing | None:
        if token in self._tokenizer.special_ids:
            return standing.after_token(token)
        return standing.after(self._tokenizer.tokens[token])

    # What follows from it

    def _settled(self, step: _Step) -> _Step:
        """The step with what follows from it: how much is kept for later, and whether the text must be closed."""
        repeated = self._repeated_bytes()
        is_read = step.free_texts or step.closing is not None or repeated or len(step.unread) > _MAX_UNREAD
        if step.unread and not is_read:
            return step
        standing = step.standing
        for unread in step.unread:
            standing = standing and self._standing_after(standing, unread)
        step = replace(step, standing=standing, unread=())
        if standing is None:
            return step
        closing = step.closing
        if closing is not None and standing.cost <= closing:
            closing = None
        if repeated and closing is None:
            closing = standing.cost_outside(repeated)
        return self._with_reserve(replace(step, closing=closing), standing)

    def _repeated_bytes(self) -> int:
        least = self._max_repeated_bytes
        return 0 if least is None else repeated_bytes(bytes(self._text[-max(LOOKED_AT_BYTES, least) :]), least)

    def _with_reserve(self, step: _Step, standing: Standing) -> _Step:
        free_texts = standing.free_texts
        if free_texts == step.free_texts:
            return step
        share = step.spare * free_texts // (free_texts + 1)
        return replace(step, free_texts=free_texts, reserve=min(share, RESERVED_TOKENS * free_texts))


def minimum_tokens(grammar: Grammar, tokenizer: Tokenizer) -> int:
    """How many tokens the shortest text has that the grammar allows, without an end token: the shortest that is found.

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
