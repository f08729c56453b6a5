"""A grammar walked over a vocabulary.

Law: after `accept_token(t)` returned True, the text of all accepted tokens is a prefix of some string of the grammar.
`fill_mask` allows the tokens that `accept_token` would accept; where the text that must come is known, only the token
with which the model itself would spell it, though others are accepted as well. An end token is allowed exactly where
`is_accepting`, or where the grammar itself has it. Behind one that the grammar has not, only end tokens follow.
Numbers of JSON are allowed as far as they are read (`numerals`): not `1e999`, and no more than 4,300 characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof, c_char
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from typing_extensions import Buffer

from wieldy.core.errors import GrammarError, UsageError
from wieldy.grammar.arguments import check_count, check_text, token_id, token_ids, wrong
from wieldy.grammar.compiled import Grammar
from wieldy.grammar.engine import llguidance
from wieldy.grammar.numerals import Readable
from wieldy.grammar.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class TokenMask:
    """Which tokens may come next.

    Shape:
        bits: one bit a token, least significant bit first, padded to whole 32-bit words.
    """

    bits: bytes

    def allows(self, token: int) -> bool:
        """Whether the token may come next; one that the vocabulary has not may never."""
        token = token_id(token)
        return 0 <= token < len(self.bits) * 8 and bool(self.bits[token >> 3] >> (token & 7) & 1)

    @property
    def allowed(self) -> list[int]:
        """Every token that may come next, in order. Cost: linear in the vocabulary."""
        return [index * 8 + bit for index, byte in enumerate(self.bits) if byte for bit in range(8) if byte >> bit & 1]


class Matcher:
    """Where a text stands within a grammar.

    Cost: a grammar is compiled for a vocabulary once (`Tokenizer.started`); each further matcher is a copy.
    """

    def __init__(self, grammar: Grammar, tokenizer: Tokenizer) -> None:
        check_pair(grammar, tokenizer)
        self._tokenizer = tokenizer
        self._start = tokenizer.started(grammar.lark)
        self._plain: Any = self._start.copy()
        self._engine: Any = Readable(self._plain, tokenizer) if "%json" in grammar.lark else self._plain
        self._taken = 0
        self._ends = 0
        """How many end tokens were taken that are not the grammar's own; all others are counted in `_taken`."""
        self._check()

    def copy(self) -> Matcher:
        """A matcher of its own at the same place. Cost: a few microseconds."""
        copied = Matcher.__new__(Matcher)
        copied._tokenizer, copied._start = self._tokenizer, self._start
        copied._taken, copied._ends = self._taken, self._ends
        copied._engine = self._engine.deep_copy()
        copied._plain = copied._engine.engine if isinstance(copied._engine, Readable) else copied._engine
        return copied

    # What may come

    def fill_mask(self) -> TokenMask:
        """The tokens that may come next."""
        words = memoryview(bytearray(self._tokenizer.mask_bytes))
        self._fill(words)
        return TokenMask(bytes(words[: -(-len(self._tokenizer) // 32) * 4]))

    def fill_mask_into(self, row: Buffer) -> None:
        """The row says which tokens may come next: one bit a token, least significant bit first.

        Args:
            row: Whole 32-bit words that can be written to, one behind the other: a row of a numpy array of `int32`.
                It may have more bits than the vocabulary has tokens (they are 0, as logits are padded), or fewer.

        Raises:
            UsageError: The row cannot be written to as a whole.
        """
        view, width = _view(row), self._tokenizer.mask_bytes
        size = view.nbytes
        if size == width and view.c_contiguous and not view.readonly:
            self._fill(view)  # as nearly always; whatever is done here is done for every token
            return
        words = _words(view)
        if size > width:
            self._fill(words[:width])
            words[width:] = bytes(size - width)
        else:
            wider = memoryview(bytearray(width))
            self._fill(wider)
            words[:] = wider[:size]

    @property
    def forced_tokens(self) -> list[int]:
        """The tokens that must come next, whatever the model thinks; empty where it has a choice."""
        return [] if self._ends else list(self._engine.compute_ff_tokens())

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is complete."""
        return bool(self._engine.is_accepting())

    @property
    def is_finished(self) -> bool:
        """Whether the text is complete and nothing but an end token can follow."""
        return self._ends > 0 or bool(self._engine.is_stopped())

    def validate(self, tokens: Sequence[int]) -> int:
        """How many of the tokens would be accepted one after the other; nothing changes. Cost: far below a mask's.

        Raises:
            GrammarError: The engine gave up, because the grammar is more than its limits allow.
        """
        tokens, taken = token_ids(tokens), 0
        if not self._ends:
            known = tokens[: self._known(tokens)]
            taken = int(self._engine.validate_tokens(known))
            self._check(is_refused=taken < len(known))
            if not self._is_complete_after(tokens[:taken]):
                return taken
        return taken + self._leading_ends(tokens[taken:])

    @staticmethod
    def fill_masks(matchers: Sequence[Matcher], out: Buffer) -> None:
        """Row by row, `out` says which tokens may come next for each matcher; several are computed at once.

        Args:
            matchers: Matchers over one vocabulary.
            out: A row of 32-bit words for each, as `fill_mask_into` takes it: a numpy array with two dimensions.

        Raises:
            UsageError: There are fewer rows than matchers, or the vocabularies differ.
            GrammarError: The engine gave up on one of the grammars.
        """
        if not isinstance(matchers, Sequence) or not all(isinstance(matcher, Matcher) for matcher in matchers):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("a list of matchers", matchers)
        if not matchers:
            return
        tokenizer, width = matchers[0]._tokenizer, matchers[0]._tokenizer.mask_bytes
        view = _view(out)
        if view.ndim != 2 or view.shape is None or view.shape[0] < len(matchers):
            raise UsageError(f"Expected a row for each of {len(matchers)} matchers, found the shape {view.shape}.")
        if any(matcher._tokenizer is not tokenizer for matcher in matchers):
            raise UsageError(
                "Matchers whose masks are filled together need the same vocabulary; fill these one by one."
            )
        words, rows = memoryview(bytearray(width * len(matchers))), _words(out)
        row_bytes = len(rows) // view.shape[0]
        first = {id(matcher): index for index, matcher in reversed(list(enumerate(matchers)))}
        running = [
            # The engine works on one matcher only once at a time.
            (matcher._plain if first[id(matcher)] == index else matcher._plain.deep_copy(), index)
            for index, matcher in enumerate(matchers)
            if not matcher._ends
        ]
        if running:
            _executor().unsafe_compute_mask_ptr(running, addressof(c_char.from_buffer(words)), width, len(matchers))
        for index, matcher in enumerate(matchers):
            matcher._check()
            filled = words[index * width : (index + 1) * width]
            if not matcher._ends and matcher._engine is not matcher._plain:
                matcher._engine.narrow(filled)
            if matcher._ends or matcher.is_accepting:
                matcher._with_ends(filled)
            row = rows[index * row_bytes : (index + 1) * row_bytes]
            common = min(width, row_bytes)
            row[:common] = filled[:common]
            row[common:] = bytes(row_bytes - common)

    # What came

    def accept_token(self, token: int) -> bool:
        """Whether the token was allowed; then it has been taken, otherwise nothing has changed.

        Raises:
            GrammarError: The engine gave up, because the grammar is more than its limits allow.
        """
        token = token_id(token)
        if not self._ends and 0 <= token < self._tokenizer.complete_token and self._engine.try_consume_tokens([token]):
            self._taken += 1
            return True
        return self.accept_tokens([token]) == 1

    def accept_tokens(self, tokens: Sequence[int]) -> int:
        """How many of the tokens were allowed one after the other; these have been taken.

        Raises:
            GrammarError: The engine gave up, because the grammar is more than its limits allow.
        """
        tokens, taken = token_ids(tokens), 0
        if not self._ends:
            known = tokens[: self._known(tokens)]
            taken = int(self._engine.try_consume_tokens(known))
            self._taken += taken
            if taken == len(tokens):
                return taken
            self._check(is_refused=taken < len(known))
            if not self.is_accepting:
                return taken
        ends = self._leading_ends(tokens[taken:])
        self._ends += ends
        return taken + ends

    def accept_text(self, text: str) -> bool:
        """Whether the whole text was allowed; then it has been taken, otherwise nothing has changed.

        Raises:
            GrammarError: The engine gave up, because the grammar is more than its limits allow.
        """
        check_text("what is written", text)
        tokens = self._tokenizer.tokenize(text.encode("utf-8", "surrogatepass"))
        if tokens is None:
            return False
        taken = self.accept_tokens(tokens)
        if taken < len(tokens):
            self.rollback(taken)
        return taken == len(tokens)

    def ends_with(self, token: int) -> bool:
        """Whether the token may come next and ends the text, so that it is no part of it."""
        if token_id(token) not in self._tokenizer.end_tokens or not self.is_accepting:
            return False
        return self._ends > 0 or not self._engine.validate_tokens([token])

    def rollback(self, count: int) -> None:
        """The last `count` tokens are as if they had never been taken.

        Raises:
            GrammarError: So many were not taken.
        """
        check_count("the number of tokens to go back", count)
        if count > self._taken + self._ends:  # the engine would not recover from it
            raise GrammarError(f"Cannot go back {count} tokens: {self._taken + self._ends} were taken.")
        ends = min(count, self._ends)
        if count > ends and not self._engine.rollback(count - ends):
            raise GrammarError(f"Cannot go back {count} tokens: {_first_line(self._engine.get_error())}")
        self._taken -= count - ends
        self._ends -= ends

    # The engine

    def _fill(self, view: memoryview) -> None:
        """Fills exactly the words that the engine has."""
        engine = self._plain
        if not self._ends:
            engine.unsafe_compute_mask_ptr(addressof(c_char.from_buffer(view)), view.nbytes)
            if engine.is_error():
                self._check()
            if engine is not self._engine and self._engine.is_narrow:
                self._engine.narrow(view.cast("B"))
        if self._ends or engine.is_accepting():
            self._with_ends(view.cast("B"))

    def _with_ends(self, words: memoryview) -> None:
        """Says which end tokens are allowed where the engine says that the text may be complete."""
        if self._ends:
            words[:] = bytes(len(words))
        complete = self._tokenizer.complete_token
        words[complete >> 3] &= ~(1 << (complete & 7))
        for end in self._tokenizer.end_tokens:
            words[end >> 3] |= 1 << (end & 7)

    def _known(self, tokens: Sequence[int]) -> int:
        """How many of the first tokens the vocabulary has: of another one the engine would not recover."""
        size = len(self._tokenizer)
        return next((index for index, token in enumerate(tokens) if not 0 <= token < size), len(tokens))

    def _leading_ends(self, tokens: Sequence[int]) -> int:
        ends = self._tokenizer.end_tokens
        return next((index for index, token in enumerate(tokens) if token not in ends), len(tokens))

    def _is_complete_after(self, tokens: Sequence[int]) -> bool:
        if not tokens:
            return self.is_accepting
        return self._engine.validate_tokens([*tokens, self._tokenizer.complete_token]) > len(tokens)

    def _check(self, *, is_refused: bool = False) -> None:
        """Raises if the engine gave up; after a refusal also if it only looks like one."""
        if self._engine.is_error():
            said = _first_line(self._engine.get_error())
        elif is_refused and self._start.has_given_up():
            said = "its lexer met a limit with this text or with another of the same grammar; a new matcher may go on"
        else:
            return
        if not said.startswith("Parser Error"):  # that one is this text's own, and the lexer goes on for others
            self._tokenizer.forget_starts()
        raise GrammarError(f"The constraint engine gave up: {said}")


@lru_cache(maxsize=1)
def _executor() -> Any:
    return llguidance().LLExecutor()


def check_pair(grammar: object, tokenizer: object) -> None:
    """Raises UsageError unless these are a constraint and a vocabulary."""
    if not isinstance(grammar, Grammar):
        raise wrong("a constraint, such as `regex` makes", grammar)
    if not isinstance(tokenizer, Tokenizer):
        raise wrong("a Tokenizer", tokenizer)


def _view(row: Buffer) -> memoryview:
    try:
        return memoryview(row)
    except TypeError:
        raise wrong("a row of whole 32-bit words that can be written to", row) from None


def _words(row: Buffer) -> memoryview:
    view = _view(row)
    if view.readonly or not view.c_contiguous or view.nbytes % 4:
        raise UsageError("Expected a row of whole 32-bit words, one behind the other, that can be written to.")
    return view.cast("B")


def _first_line(said: str) -> str:
    """What follows the first line is the engine's state, which says nothing to anybody else."""
    return said.partition("\n")[0]


fill_masks = Matcher.fill_masks
