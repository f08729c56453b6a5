"""The engine's matcher, but for numbers that nobody can read.

JSON has numbers of any size, and so has the engine; readers have not: `1e999` is no float, and Python reads whole
numbers of up to 4,300 digits. Law: in what is taken here, every number in JSON is read by `json.loads` as a finite one.

Whether what looks like such a number is one, and not a part of a string or of text, is asked of the engine: behind a
number it takes something that may follow a value, and neither a letter nor a quote. It is asked only where a number has
become so long.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wieldy.grammar.tokenizer import Tokenizer

MAX_CHARACTERS = 4_300
"""The longest number. Source: `sys.int_info.default_max_str_digits` of Python."""
_SAFE_CHARACTERS = 200
"""A shorter number is readable, and still so with an exponent of two digits."""
_CHARACTERS = re.compile(rb"[-+.0-9eE]*")
_BEGUN = re.compile(rb"-?[0-9][-+.0-9eE]*\Z")
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]*)?\Z")
_LONG = re.compile(rb"[0-9][eE][-+]?[0-9]{3}|[-+.0-9eE]{200}")
_LONG_EXPONENT = re.compile(rb"[eE][-+]?[0-9]{3}")
_LASTS = frozenset(b"-+.0123456789eE")
_FOLLOWERS = (b",", b"}", b"]", b")", b"<", b" ", b"\n")
_WITHIN_TEXT = (b"a", b'"')


def is_readable(begun: bytes) -> bool:
    """Whether the number that a text ends with is one that is read, or becomes one; also where it ends with none."""
    if len(begun) < len("1e999"):
        return True
    found = _NUMBER.search(begun)
    if found is None:
        return True
    if len(found[0]) > MAX_CHARACTERS:
        return False
    return found[0].lstrip(b"-").isdigit() or math.isfinite(float(_completed(found[0])))


def _completed(begun: bytes) -> bytes:
    """The number with what it lacks."""
    return begun if begun[-1:].isdigit() else begun + b"0"


class Readable:
    """A matcher of the engine's with the same methods, as far as they are used.

    Args:
        engine: The engine's matcher.
        tokenizer: Its vocabulary.
        runs: For every token taken, and before the first, the number that the text then ended with; or nothing.

    Attributes:
        engine: The engine's matcher, for what is the same of both.
        is_narrow: Whether its mask may allow too much here, and is to be narrowed.
    """

    def __init__(self, engine: Any, tokenizer: Tokenizer, runs: Sequence[bytes] = (b"",)) -> None:
        self.engine = engine
        self._tokenizer = tokenizer
        self._numerals = _numerals(tokenizer)
        self._runs = list(runs)
        self.is_narrow = bool(self._runs[-1] or self._numerals.exponents)
        self.is_accepting, self.is_stopped = engine.is_accepting, engine.is_stopped
        self.is_error, self.get_error = engine.is_error, engine.get_error
        self.compute_ff_tokens = engine.compute_ff_tokens

    def deep_copy(self) -> Readable:
        """A matcher of its own at the same place."""
        return Readable(self.engine.deep_copy(), self._tokenizer, self._runs)

    def try_consume_tokens(self, tokens: Sequence[int]) -> int:
        """How many of the tokens were allowed one after the other; these have been taken."""
        texts, run = self._numerals.texts, self._runs[-1]
        if len(tokens) == 1 and not run and (texts[tokens[0]][-1:] or b" ")[0] not in _LASTS:
            count = 1  # as nearly always
        else:
            count = self._readable(tokens)
        taken = int(self.engine.try_consume_tokens(tokens if count == len(tokens) else list(tokens[:count])))
        for token in tokens[:taken]:
            text = texts[token]
            run = _open_number(run, text) if text and text[-1] in _LASTS else b""
            self._runs.append(run)
        self.is_narrow = bool(run or self._numerals.exponents)
        return taken

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """How many of the tokens would be allowed."""
        count = self._readable(tokens)
        return int(self.engine.validate_tokens(tokens if count == len(tokens) else list(tokens[:count])))

    def rollback(self, count: int) -> bool:
        """Whether the last `count` tokens could be taken back."""
        is_done = bool(self.engine.rollback(count))
        if is_done and count:
            del self._runs[-count:]
            self.is_narrow = bool(self._runs[-1] or self._numerals.exponents)
        return is_done

    def narrow(self, mask: memoryview) -> None:
        """Takes from a mask the tokens with which a number would become one that is not read."""
        run, numerals = self._runs[-1], self._numerals
        is_long = len(run) > _SAFE_CHARACTERS or b"e" in run or b"E" in run
        if (is_long or (numerals.exponents and run)) and not self._is_in_number((), run):
            return
        for token, lead in numerals.numeric if is_long else numerals.exponents:
            if not mask[token >> 3] >> (token & 7) & 1 or is_readable(run + lead):
                continue
            if run or self._is_in_number((), lead, lead):
                mask[token >> 3] &= ~(1 << (token & 7))

    def _readable(self, tokens: Sequence[int]) -> int:
        """How many of the tokens come before one with which a number becomes one that is not read."""
        texts, run = self._numerals.texts, self._runs[-1]
        if _LONG.search(run + b"".join([texts[token] for token in tokens])) is None:
            return len(tokens)
        for count, token in enumerate(tokens):
            following = _open_number(run, texts[token])
            begun = run + _leading(texts[token]) if run else following
            lacking = b"" if run else begun
            if begun and not is_readable(begun) and self._is_in_number(tokens[:count], run or begun, lacking):
                return count
            run = following
        return len(tokens)

    def _is_in_number(self, tokens: Sequence[int], number: bytes, lacking: bytes = b"") -> bool:
        """Whether what the text ends with after the tokens, or with what is lacking, is a number and no other text."""
        engine = self.engine.deep_copy()
        rest = self._tokenizer.tokenize(lacking + (b"" if number[-1:].isdigit() else b"0"))
        before = [*tokens, *(rest or ())]
        if rest is None or int(engine.try_consume_tokens(before)) < len(before):
            return False
        if any(self._takes(engine, text) for text in _WITHIN_TEXT):
            return False
        return bool(engine.is_accepting()) or any(self._takes(engine, text) for text in _FOLLOWERS)

    def _takes(self, engine: Any, text: bytes) -> bool:
        return bool((tokens := self._tokenizer.tokenize(text)) and engine.validate_tokens(tokens))


def _leading(text: bytes) -> bytes:
    """The part at the beginning with which a number may go on."""
    found = _CHARACTERS.match(text)
    return b"" if found is None else found[0]


def _open_number(run: bytes, text: bytes) -> bytes:
    """The number that a text ends with which ended with another one, or with none, and goes on."""
    if not text or text[-1] not in _LASTS:
        return b""
    if run and len(_leading(text)) == len(text):
        return (run + text)[-2 * MAX_CHARACTERS :]
    found = _BEGUN.search(text)
    return b"" if found is None else found[0]


@dataclass(frozen=True, slots=True)
class _Numerals:
    """What in a vocabulary may be of numbers.

    Attributes:
        texts: The text of every token, and of the one that only the engine knows.
        numeric: The tokens with which a number may go on, with the part of them that does.
        exponents: Those of them that have a long exponent.
    """

    texts: tuple[bytes, ...]
    numeric: list[tuple[int, bytes]]
    exponents: list[tuple[int, bytes]]


@lru_cache(maxsize=8)
def _numerals(tokenizer: Tokenizer) -> _Numerals:
    special = tokenizer.special_ids
    numeric = [
        (index, _leading(text))
        for index, text in enumerate(tokenizer.tokens)
        if text and text[0] in _LASTS and index not in special
    ]
    exponents = [(index, lead) for index, lead in numeric if _LONG_EXPONENT.search(lead)]
    return _Numerals((*tokenizer.tokens, b""), numeric, exponents)
