"""What a prompt asks for, as far as its words say: deeds, kinds of things, days, and things by their names.

Crude on purpose: whoever answers for a policy can read these rules, and where a prompt is worded in another way they
find nothing, so that a person is asked. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from wieldy.run.policy.standing import begins_in

Day: TypeAlias = tuple[int, int]

_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_QUOTED: Final = re.compile(r"""(?<!\w)'[^'\n]*'(?!\w)|"[^"\n]*"|“[^”\n]*”""")
_GIVEN: Final = re.compile(r"\b(?:message|question|text|words|note|reply|answer)\b[^:.!?\n]*:\s", re.IGNORECASE)
_LONGEST_NAME: Final = 2
_ISO: Final = re.compile(r"(?<![\w-])\d{4}-(\d{1,2})-(\d{1,2})(?!\d)")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"\b(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_WORDED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}", rf"{_DAY}\s+(?:of\s+)?{_MONTH}")
)
_AMOUNT: Final = re.compile(r"(?<![\w.,])\d{1,15}\.\d{1,9}(?![\w,]|\.\d)")
_EXTENSION: Final = re.compile(r"\.\w{1,5}$")
_SHORTEST: Final = 3
_LONGEST: Final = 8


def asking(texts: Iterable[str], deeds: Collection[str], things: Collection[str]) -> list[str]:
    """The sentences that have a word for a deed and one for a kind of thing; where one kind is left out, any has it.

    What stands in quotation marks is a name or a text, and asks for nothing.
    """
    sentences = (sentence for text in texts for sentence in _END.split(_QUOTED.sub("''", text)))
    return [each for each in sentences if all(not words or begins_in(words, [each]) for words in (deeds, things))]


def gives_words(texts: Iterable[str]) -> bool:
    """Whether a text is given in the texts: three words or more in quotation marks, or behind "message ...:"."""
    return any(
        _GIVEN.search(text) or any(len(each.split()) > _LONGEST_NAME for each in _QUOTED.findall(text))
        for text in texts
    )


def share_in(words: str, texts: Iterable[str]) -> float:
    """The share of the words that are in one of the texts, from 0 to 1; 1 of no words."""
    own = _spoken(words).split()
    known = {word for text in texts for word in _spoken(text).split()}
    return sum(word in known for word in own) / len(own) if own else 1.0


def days_in(texts: Iterable[str]) -> set[Day]:
    """The days that are written as `2024-05-20`, `May 20th` or `the 20th of May`, as month and day."""
    found = set[Day]()
    for text in texts:
        found |= {(int(each[1]), int(each[2])) for each in _ISO.finditer(text)}
        for pattern in _WORDED:
            found |= {
                (_MONTHS.index(each["month"][:3].lower()) + 1, int(each["day"])) for each in pattern.finditer(text)
            }
    return found


def named_among(records: Sequence[Sequence[str]], texts: Iterable[str]) -> list[bool]:
    """Of each record, whether the texts have one of its values that no other record has: a title, a person, a file.

    Punctuation, capitals and the extension of a file do not matter. Of numbers only those with a decimal point are
    names, such as amounts. Two longer words in a row are enough of a short one: "the grocery list" names
    `grocery-list-today.docx`.
    """
    texts = list(texts)
    prompt = [f" {_spoken(text)} " for text in texts]
    prompt += [f" {_amount(found)} " for text in texts for found in _AMOUNT.findall(text)]
    names = [{name for value in record for name in _names(value)} for record in records]
    counted = [name for each in names for name in each]
    spoken = {name for name in set(counted) if counted.count(name) == 1 and any(f" {name} " in text for text in prompt)}
    return [not spoken.isdisjoint(each) for each in names]


def _names(value: str) -> set[str]:
    if _AMOUNT.fullmatch(value):
        return {_amount(value)}
    spoken = {_spoken(value), _spoken(_EXTENSION.sub("", value))}
    words = _spoken(_EXTENSION.sub("", value)).split(maxsplit=_LONGEST)
    if len(words) < _LONGEST:
        spoken |= {" ".join(pair) for pair in pairwise(words) if all(len(word) > _SHORTEST for word in pair)}
    return {each for each in spoken if len(each) >= _SHORTEST and any(letter.isalpha() for letter in each)}


def _amount(text: str) -> str:
    return f"={float(text)}"


def _spoken(text: str) -> str:
    return " ".join(re.split(r"[\W_]+", text.lower())).strip()
