"""Text under a grammar and within a budget, written by llama.cpp through its public interface.

While the guard agrees, llama.cpp enforces the grammar itself and streams what it writes: one request for the whole
text. At the first token that the guard refuses the stream is left, and the text goes on as the model would write it
without a grammar, in bursts: the likeliest tokens come with each one, the guard chooses among them, and a burst ends
where its choice is another than the model's. So a request for one token is made only where budget and model disagree.

Greedy: what is written is what the guard would choose from the likeliest token downwards, as far as the first
`ALTERNATIVES` that the grammar allows. Deliberately not here: text without a grammar (`llama`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Final, TypeAlias

from wieldy.connect.models.writing import Ending, OnToken, Token
from wieldy.core.errors import ProviderError
from wieldy.core.limits import Usage
from wieldy.grammar import Grammar, Guard, Tokenizer
from wieldy.grammar.matcher import TokenMask

Answer: TypeAlias = dict[str, Any]
"""What the engine says, in the shape of the OpenAI protocol's completions."""

Ask: TypeAlias = Callable[[dict[str, Any], Callable[[Answer], bool]], None]
"""Puts a request to the engine; each answer is told, and whether to stop asked."""

ALTERNATIVES: Final = 300
"""How many of the likeliest tokens are looked at."""

IMPOSSIBLE: Final = -30.0
"""The log-probability given to what is not among the likeliest tokens."""

ENDS_AT_ONCE: Final = '%llguidance {}\nstart: ""\n'
"""A grammar under which only the end can be written.

The likeliest tokens are told as they are without it. With it they are told always: llama.cpp keeps a token to itself
that is only a part of a character, and what is known of that place with it.
"""

_LONGEST_BURST: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one answer says of one token.

    Attributes:
        text: What it adds, with the parts of characters that tokens before it, which were not told, had begun.
        likeliest: The likeliest tokens in its place with their log-probabilities, the first one first.
        written: How many tokens were written so far, untold ones included.
    """

    id: int
    text: bytes
    logprob: float
    likeliest: Sequence[tuple[int, float]]
    written: int


def said_in(answer: Answer) -> Said | None:
    """The token that the answer tells of; None if it tells of something else."""
    for token, text in tokens_in(answer):
        return Said(
            id=token["id"],
            text=text.encode("utf-8", "surrogatepass"),
            logprob=float(token["logprob"]),
            likeliest=[(other["id"], float(other["logprob"])) for other in token["top_logprobs"]],
            written=counts_in(answer).get("predicted_n", 0),
        )
    return None


def tokens_in(answer: Answer) -> Iterator[tuple[Answer, str]]:
    """What the answer says of tokens, each with the text that it adds."""
    for choice in answer.get("choices", ()):
        logprobs: Answer = choice.get("logprobs") or {}
        for token in logprobs.get("content") or ():
            yield token, str(choice["text"])


def counts_in(answer: Answer) -> dict[str, Any]:
    """What the answer counts in tokens: `prompt_n` that were read, `cache_n` known already, `predicted_n` written."""
    return answer.get("timings") or {}


def usage_of(*, read: int, known: int, written: int) -> Usage:
    """What a text took: its prompt, of which some was known from an earlier one, and what was written."""
    return Usage(input_tokens=read + known, cached_input_tokens=known, output_tokens=written, requests=1)


class GuardedWriting:
    """One text.

    Args:
        ask: How the engine is asked.
        prompt: The text that is continued.
        grammar: What the text must be.
        guard_of: Makes the guard for a budget.
        max_tokens: The budget.
        context_tokens: How much prompt and text may be together.
        tokenizer: The model's vocabulary.
        on_token: Told each token.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        prompt: str,
        grammar: Grammar,
        guard_of: Callable[[int], Guard],
        max_tokens: int,
        context_tokens: int,
        tokenizer: Tokenizer,
        on_token: OnToken,
    ) -> None:
        self._ask = ask
        self._prompt = prompt
        self._grammar = grammar
        self._guard_of = guard_of
        self._guard = guard_of(max_tokens)
        self._context_tokens = context_tokens
        self._tokenizer = tokenizer
        self._on_token = on_token
        self._ids: list[int] = []
        self._is_over = False
        self._was_ended = False
        self._read_tokens = 0
        self._known_tokens: int | None = None

    def run(self) -> Ending:
        """The text is written.

        Raises:
            BudgetError: Together with the prompt it does not fit into the context; nothing was generated.
            ModelError: The engine failed.
        """
        self._natively()
        burst = 1
        while not self._is_over:
            burst = min(2 * burst, _LONGEST_BURST) if self._freely(burst) else 1
        guard = self._guard
        written = len(self._ids) + self._was_ended
        finish = "stop" if self._was_ended or guard.is_finished else "length"
        return Ending(
            usage=usage_of(read=self._read_tokens, known=self._known_tokens or 0, written=written),
            finish="closed_by_budget" if guard.closed_by_budget else finish,
            is_complete=guard.is_accepting,
        )

    # Asking

    def _natively(self) -> None:
        """As far as llama.cpp's own reading of the grammar and the guard agree."""
        known = 0

        def take(answer: Answer) -> bool:
            nonlocal known
            self._fit(answer)
            said = said_in(answer)
            if said is None:
                return self._is_over
            parts = [(one, 0.0) for one in self._untold(said, known)]
            known = said.written
            return not all(map(self._accepts, [*parts, (said.id, said.logprob)])) or self._is_over

        # One more than the budget, for the token that ends the text.
        self._request(
            {"max_tokens": self._guard.remaining + 1, "grammar": self._grammar.engine_text, "n_probs": 1}, take
        )

    def _freely(self, most: int) -> bool:
        """The next tokens as the guard chooses them; whether they are also the model's choice."""
        known, agree, has_said, is_stuck = 0, True, False, False

        def take(answer: Answer) -> bool:
            nonlocal known, agree, has_said, is_stuck
            said = said_in(answer)
            if said is None:
                return False
            has_said = True
            agree = all(map(self._accepts, [(one, 0.0) for one in self._untold(said, known)]))
            known = said.written
            if agree and not self._is_over:
                # The engine goes on from what it wrote; a burst of one ends there, and nothing follows.
                chosen = self._chosen(said.likeliest)
                is_stuck = chosen is None
                agree = chosen == (said.likeliest[0][0] if most == 1 else said.id)
            return not agree or self._is_over

        body: dict[str, Any] = {"max_tokens": min(most, self._guard.remaining + 1), "n_probs": ALTERNATIVES}
        self._request(body | ({"grammar": ENDS_AT_ONCE} if most == 1 else {}), take)
        if most == 1 and not has_said:
            raise ProviderError("The local model failed: it was asked for the likeliest tokens and told none.")
        if is_stuck:
            self._choose_from_all()
        return agree and has_said

    def _choose_from_all(self) -> None:
        """The next token, where the grammar allows none of the likeliest ones."""
        mask = self._guard.fill_mask()
        found: list[tuple[int, float]] = []

        def take(answer: Answer) -> bool:
            if (said := said_in(answer)) is not None:
                found.append((said.id, said.logprob))
            return False

        ranges = [list(run) for _, run in groupby(enumerate(mask.allowed), lambda pair: pair[1] - pair[0])]
        listed = ",".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in ranges)
        self._request({"max_tokens": 1, "n_probs": 1, "grammar": f"%llguidance {{}}\nstart: <[{listed}]>\n"}, take)
        if not found or self._chosen(found) is None:  # a part of a character is not told
            self._accepts((next(iter(self._guard.witness), self._tokenizer.end_token), IMPOSSIBLE))

    def _request(self, body: dict[str, Any], take: Callable[[Answer], bool]) -> None:
        read = known = 0

        def counted(answer: Answer) -> bool:
            nonlocal read, known
            counts = counts_in(answer)
            read, known = counts.get("prompt_n", read), counts.get("cache_n", known)
            return take(answer)

        prompt = [self._prompt, *self._ids] if self._ids else self._prompt
        self._ask({"prompt": prompt, **body}, counted)
        self._read_tokens += read
        if self._known_tokens is None:  # what is known afterwards was read or written for this text
            self._known_tokens = known

    def _fit(self, answer: Answer) -> None:
        """The budget is what the context has room for, once it is known how long the prompt is."""
        progress: Answer = answer.get("prompt_progress") or {}
        total = progress.get("total")
        if isinstance(total, int) and not self._ids and self._context_tokens - total < self._guard.remaining:
            self._guard = self._guard_of(self._context_tokens - total)

    # Taking

    def _accepts(self, token: tuple[int, float]) -> bool:
        """Whether the guard takes the token that was written; it is told, unless it ended the text."""
        if self._is_over:
            return False
        number, logprob = token
        number = self._meant(number, self._guard.fill_mask() if self._is_special(number) else None)
        left, forced = self._guard.remaining, self._guard.forced
        if not self._guard.accept_token(number):
            return False
        self._took(number, logprob, left, forced)
        return True

    def _chosen(self, likeliest: Sequence[tuple[int, float]]) -> int | None:
        """The token that the guard chose, as the model has it; None if the grammar allows none of them."""
        mask = self._guard.fill_mask()
        meant = {self._meant(number, mask): number for number, _ in reversed(likeliest)}
        logprobs = dict(likeliest)
        candidates = [one for number, _ in likeliest if mask.allows(one := self._meant(number, mask))]
        if not candidates:
            return None
        left, forced = self._guard.remaining, self._guard.forced
        chosen = self._guard.choose(candidates)
        number = meant.get(chosen, chosen)
        self._took(chosen, logprobs.get(number, IMPOSSIBLE), left, forced)
        return number

    def _took(self, number: int, logprob: float, left: int, forced: list[tuple[int, int]]) -> None:
        guard = self._guard
        if guard.remaining == left:  # only a token that ends the text costs nothing
            self._is_over = self._was_ended = True
            return
        self._ids.append(number)
        token = Token(
            id=number,
            data=self._tokenizer.tokens[number],
            is_special=self._is_special(number),
            logprob=logprob,
            is_forced=guard.forced != forced,
        )
        is_left = self._on_token(token)
        self._was_ended = self._was_ended or is_left
        self._is_over = is_left or guard.is_finished or not guard.remaining

    def _meant(self, number: int, mask: TokenMask | None) -> int:
        """The token as the guard knows it: whatever special one stands where the text may end is meant to end it."""
        if mask is None or not self._is_special(number) or mask.allows(number) or not self._guard.is_accepting:
            return number
        return self._tokenizer.end_token

    def _is_special(self, number: int) -> bool:
        return number in self._tokenizer.special_ids

    def _untold(self, said: Said, known: int) -> Iterable[int]:
        """The tokens between the last one that was told and this one."""
        count = said.written - known - 1
        found = self._spelled(said.text.removesuffix(self._tokenizer.tokens[said.id]), count) if count > 0 else ()
        return (-1,) if found is None else found  # -1 is refused, as what nobody can spell has to be

    def _spelled(self, data: bytes, count: int) -> tuple[int, ...] | None:
        """So many tokens that spell the bytes; all such are the same text."""
        if count == 0 or not data:
            return () if count == 0 and not data else None
        for end in range(len(data) - count + 1, 0, -1):
            first = self._numbers.get(data[:end])
            rest = None if first is None else self._spelled(data[end:], count - 1)
            if first is not None and rest is not None:
                return (first, *rest)
        return None

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {
            data: number
            for number, data in enumerate(self._tokenizer.tokens)
            if number not in self._tokenizer.special_ids
        }
