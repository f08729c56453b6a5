"""What was meant by a question about earlier conversations: that a listed answer is what the model answers.

It differs from the official rule where that credits what is no answer. Only what is given as the answer counts, not the
explanation beside it, if the reply has the two parts that are asked for. A listed answer must stand there word for
word: in no longer word and no other number, not denied, not as one of several guesses, and not beside words that say
that it is not known. Case, punctuation between words, signs of currency and zeros in front of a number are nothing.

| reason | says |
|---|---|
| `not-known` | the answer says that it is not known: the model has abstained |
| `only-explained` | a listed answer is in the explanation, and not in the answer |
| `denied` | it is named to say that it is not the answer |
| `hedged` | it is one of several that the answer leaves open |
| `wrong-answer` | no listed answer is there |

Deliberately not here: meaning. "Walking" is no "walk", and what is denied in other words than those below passes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast
from unicodedata import normalize

from wieldy.evals.bfcl.decoding import literal_in
from wieldy.evals.bfcl.memory.words import Word, is_denied, is_hedged, is_within_number, words_of

NOT_KNOWN: Final = "not-known"

_UNKNOWN: Final = re.compile(
    r"\b(?:(?:do|does|did|could|can)(?: not|n't)|cannot) (?:know|answer|find|recall|determine|be answered)\b"
    r"|\b(?:unable to|not (?:sure|certain|aware|known|found|mentioned|specified|recorded)|unknown)\b"
    r"|\bno (?:information|record|memory|mention|data)\b"
)
_ANSWER: Final = re.compile(r"[{\s]*[\"']?answer[\"']?\s*:", re.IGNORECASE)
_CONTEXT: Final = re.compile(r",\s*[\"']?context[\"']?\s*:", re.IGNORECASE)


class Said(NamedTuple):
    """A reply, taken apart.

    Attributes:
        answer: What it gives as its answer; the whole text where it has not the parts that are asked for.
        explanation: What it says besides.
        is_in_parts: Whether it has the parts.
    """

    answer: str
    explanation: str = ""
    is_in_parts: bool = False


def check(text: str, listed: Iterable[str]) -> str | None:
    """Why this reply is no right answer: a code, a colon and words; None if it is one."""
    said = parts_of_reply(text)
    alternatives = [words_of(each) for each in listed]
    if _UNKNOWN.search(_folded(said.answer)):
        return f"{NOT_KNOWN}: the answer says that it is not known: {said.answer!r:.80}"
    words = words_of(said.answer)
    reasons = list(_reasons(words, alternatives))
    if None in reasons:
        return None
    if reasons:
        return f"{reasons[0]}: {said.answer!r:.80}"
    if any(reason is None for reason in _reasons(words_of(said.explanation), alternatives)):
        return f"only-explained: the answer is {said.answer!r:.80}"
    return f"wrong-answer: {said.answer!r:.80}"


def _reasons(words: Sequence[Word], alternatives: Sequence[Sequence[Word]]) -> Iterator[str | None]:
    """For each place where a listed answer stands, why it does not count there; None where it does."""
    for wanted in alternatives:
        plain = [word.text for word in wanted]
        for start in range(len(words) - len(plain) + 1):
            end = start + len(plain)
            if not plain or [word.text for word in words[start:end]] != plain or is_within_number(words, start, end):
                continue
            if is_denied(words, start, end):
                yield "denied"
            else:
                yield "hedged" if is_hedged(words, start, end, alternatives) else None


def parts_of_reply(text: str) -> Said:
    """The answer of a reply, and what it says besides."""
    plain = text.strip()
    inside = plain[plain.find("{") : plain.rfind("}") + 1]
    value = _read(inside)
    if isinstance(value, dict):
        members = {str(key).casefold(): each for key, each in cast("dict[Any, Any]", value).items()}
        if "answer" in members:
            return Said(_written(members["answer"]), _written(members.get("context", "")), is_in_parts=True)
    found = _ANSWER.match(inside or plain)
    if found is None:
        return Said(plain)
    rest = (inside or plain)[found.end() :]
    cut = _CONTEXT.search(rest)
    answer, explanation = (rest, "") if cut is None else (rest[: cut.start()], rest[cut.end() :])
    return Said(answer.strip(" \n\t}'\""), explanation.strip(" \n\t}'\""), is_in_parts=True)


def _read(text: str) -> Any:
    for read in (json.loads, literal_in):
        with suppress(ValueError, RecursionError):
            return read(text)
    return None


def _written(value: Any) -> str:
    return ", ".join(map(_written, cast("list[Any]", value))) if isinstance(value, list | tuple) else str(value)


def _folded(text: str) -> str:
    return " ".join(normalize("NFKC", text).replace("’", "'").casefold().split())
