"""Words and numbers of a text in a form in which they can be compared, and what is said around them.

Deliberately not here: which words are the right ones (`strict`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

_WORD: Final = re.compile(
    r"(?<![^\s(\[{$€£\"'])-(?=[$€£]?\d)"  # the sign of a number, not what joins two
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w.]*\d)|\d+(?:\.\d+)+(?!\w)"
    r"|[^\W_]+(?:'[^\W_]+)*"
)
_UNIT: Final = re.compile(r"(?<=\d)(?=(?:am|pm|mg|ml|kg|cm|mm)\b)")
"""Between a number and a unit that is written to it."""

_NUMBERS: Final = frozenset(
    (
        *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty"),
        *("forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "million", "billion"),
        *("dozen", "half"),
    )
)
_SCALES: Final = frozenset({"hundred", "thousand", "million", "billion"})
_NEGATIONS: Final = frozenset(
    ("not", "no", "never", "cannot", "neither", "nor", "without", "except", "unlike", "wrong", "incorrect", "false")
)
_INSTEAD: Final = frozenset({("rather", "than"), ("instead", "of"), ("other", "than")})
_AUXILIARIES: Final = frozenset(
    ("is", "was", "are", "were", "be", "do", "does", "did", "would", "could", "should", "can", "will", "has", "have")
)
_TURNS: Final = frozenset({"but", "however", "although", "though"})
_ARTICLES: Final = frozenset({"a", "an", "the", "my", "your", "his", "her", "their"})
_BREAK: Final = re.compile(r"[.,;!?()\n]")
_JOINT: Final = re.compile(r"\s*[-–/:.]?\s*")


class Word(NamedTuple):
    """A word or a number.

    Attributes:
        before: What stands between it and the word before.
    """

    text: str
    before: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it is a number, or a part of one in words."""
        return self.text[-1].isdigit() or self.text in _NUMBERS

    @property
    def is_negation(self) -> bool:
        """Whether it denies something."""
        return self.text in _NEGATIONS or self.text.endswith("n't")

    @property
    def begins_clause(self) -> bool:
        """Whether what was said before it is over."""
        return self.text in _TURNS or _BREAK.search(self.before) is not None


def words_of(text: str) -> list[Word]:
    """The words of a text, without case; numbers without separators and superfluous zeros."""
    plain = _UNIT.sub(" ", normalize("NFKC", text).replace("’", "'").casefold())
    found, end, sign = list[Word](), 0, ""
    for match in _WORD.finditer(plain):
        if match[0] == "-":
            sign = "-"
            continue
        before = plain[end : match.start()]
        found.append(Word(sign + _plain(match[0]), before))
        end, sign = match.end(), ""
    return found


def _plain(word: str) -> str:
    if word[0].isdigit() and word[-1].isdigit() and word.replace(",", "").replace(".", "", 1).isdecimal():
        whole, point, part = word.replace(",", "").partition(".")
        part = part.rstrip("0")
        return (whole.lstrip("0") or "0") + (point + part if part else "")
    return word.removesuffix("'s")


def is_within_number(words: Sequence[Word], start: int, end: int) -> bool:
    """Whether these words are only a part of a number, a time or a range: `five` of `thirty-five`, 10 of 10:30."""
    before, after = words[max(0, start - 2) : start], words[end : end + 1]
    if words[start].is_number and before:
        if before[-1].is_number and _JOINT.fullmatch(words[start].before):
            return True
        if before[-1].text == "and" and len(before) == 2 and before[0].text in _SCALES:
            return True
    if not words[end - 1].is_number or not after:
        return False
    is_joined = after[0].is_number and _JOINT.fullmatch(after[0].before) is not None
    is_more = after[0].text == "and" and words[end - 1].text in _SCALES and words[end + 1 : end + 2] != []
    return is_joined or (is_more and words[end + 1].is_number)


def is_denied(words: Sequence[Word], start: int, end: int) -> bool:
    """Whether it is said of these words, in their clause, that they are not it."""
    at = start
    while at > 0 and not words[at].begins_clause:
        at -= 1
        if words[at].is_negation or (words[at].text, words[at + 1].text) in _INSTEAD:
            return True
    behind = list[str]()
    for word in words[end : end + 2]:
        if word.begins_clause:
            break
        if word.is_negation and (not behind or behind[0] in _AUXILIARIES):
            return True
        behind.append(word.text)
    return False


def is_hedged(words: Sequence[Word], start: int, end: int, alternatives: Sequence[Sequence[Word]]) -> bool:
    """Whether something else may be it as well: there is an `either`, or no listed answer on the other side of `or`."""
    at, behind = _before_article(words, start), words[end : end + 1]
    if at > 0 and words[at - 1].text == "or" and not _is_one_of(words[: at - 1], alternatives, at_end=True):
        return True
    if not behind or behind[0].text != "or":
        return any(word.text == "either" for word in words[:start])
    rest = words[end + 1 :]
    return not _is_one_of(rest[1:] if rest and rest[0].text in _ARTICLES else rest, alternatives, at_end=False)


def _before_article(words: Sequence[Word], at: int) -> int:
    return at - 1 if at > 0 and words[at - 1].text in _ARTICLES else at


def _is_one_of(words: Sequence[Word], alternatives: Sequence[Sequence[Word]], *, at_end: bool) -> bool:
    plain = [word.text for word in words]
    for each in alternatives:
        wanted = [word.text for word in each]
        if wanted and (plain[-len(wanted) :] if at_end else plain[: len(wanted)]) == wanted:
            return True
    return False
