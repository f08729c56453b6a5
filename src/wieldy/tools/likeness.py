"""How alike two tools read, judged by their words: would a model that wants the one take the other?

Words come from the name, the description and the parameters' names, reduced to stems, without those that say nothing.
What counts against their overlap: verbs that mean something else (get and delete), things that only one of the names
mentions (user and order), one against many. No model and no embeddings: the same answer everywhere, at once, and one
that can be explained. What it cannot see is a synonym that is not in its table.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from wieldy.core.calls import ToolDefinition

THRESHOLD = 0.5
"""From here on two tools are called alike; set on the pairs in the tests, which were written first."""


def word_set(words: str) -> frozenset[str]:
    """The words of a text, for tables that are easier to read as one."""
    return frozenset(words.split())


_VERB_GROUPS = tuple(
    word_set(group)
    for group in (
        "get fetch retrieve read load show view lookup look obtain return give tell display query list check inspect",
        "search find query lookup look browse discover",
        "create add make new insert open register build generate draft save schedule",
        "delete remove erase drop destroy clear purge discard",
        "update edit modify change set patch alter adjust",
        "send email mail post notify message deliver",
        "calculate compute evaluate solve work",
        "convert exchange transform translate change",
        "run execute perform invoke query",
        "write save store put",
        "stop halt end terminate close kill",
        "start launch begin run",
        "book reserve order",
        "cancel abort revoke",
        "check verify validate test",
        "summarize summary condense",
        "buy purchase order",
        "move transfer",
    )
)
_OTHER_VERBS = word_set(
    "copy refund upload download increase decrease lock unlock enable disable encode decode encrypt decrypt approve "
    "reject subtract multiply divide describe detect commit push pull merge import export sort filter count compare "
    "print parse archive restore pause resume subscribe unsubscribe assign reply forward block unblock turn sign log"
)
_VERBS = _OTHER_VERBS.union(*_VERB_GROUPS)
_LIGHT_VERBS = frozenset({"make", "do", "give", "run", "perform"})
"""Verbs that leave what is done to the noun: to make a summary is to summarize."""
_NOUN_VERBS = frozenset({"email", "mail", "message", "post", "order", "query", "book", "change", "work"})
"""Words that name a thing as often as what is done."""
_EMPTY_WORDS = word_set(
    "a an the of for with this that these those and or to from in on by into at as is are be it its what which all any "
    "some one two another other new about if left out given via using used use s tool function return current no not "
    "only also id"
)
_WEAK_WORDS = word_set("data info information detail content text value name result item")
_GENERIC_WORDS = word_set(
    "anything argument be call can doe execute function get give given handle help helper input job manage method misc "
    "need now object one operation output parameter perform please process provide request response run something "
    "stuff task thing this tool user useful utility util various want work you your"
)
"""With the empty and weak ones: words that fit any tool, and so tell none from another."""
_OPPOSITES = {"in": "out", "out": "in", "on": "off", "off": "on", "up": "down", "down": "up"}
_NO_THINGS = (_EMPTY_WORDS | _WEAK_WORDS | _LIGHT_VERBS) - {"to", "id", *_OPPOSITES}
_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)
"""Of English plurals and verbs; the first that fits is replaced."""
_NAME_WEIGHT, _DESCRIPTION_WEIGHT, _PARAMETER_WEIGHT, _WEAK_WEIGHT = 2.0, 1.0, 0.5, 0.3
_OTHER_VERB, _OTHER_THING, _OTHER_NUMBER = 0.4, 0.6, 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a tool says, in stems.

    Attributes:
        verb: What it does, if a known verb says so.
        things: What its name is about, in order, without the verb.
        is_many: Whether the last of them is in the plural.
        weights: Every word that says something, by how much it says.
    """

    verb: str | None
    things: tuple[str, ...]
    is_many: bool
    weights: dict[str, float]


def words_of(definition: ToolDefinition) -> Words:
    """The words of a tool."""
    properties = definition.input_schema.get("properties")
    parameters = " ".join(properties) if isinstance(properties, dict) else ""
    name, description = _stems(definition.name), _stems(definition.description)
    verbs = sorted((word for word in (*name, *description[:1]) if word in _VERBS), key=_LIGHT_VERBS.__contains__)
    verb = verbs[0] if verbs else None
    weights: dict[str, float] = {}
    for stems, weight in (
        (name, _NAME_WEIGHT),
        (description, _DESCRIPTION_WEIGHT),
        (_stems(parameters), _PARAMETER_WEIGHT),
    ):
        for word in set(stems) - _EMPTY_WORDS - _LIGHT_VERBS - ({verb} - _NOUN_VERBS):
            weights.setdefault(word, weight * _WEAK_WEIGHT if word in _WEAK_WORDS else weight)
    plain = [
        (stem, raw) for stem, raw in zip(name, split_words(definition.name), strict=True) if stem not in _NO_THINGS
    ]
    things = [(stem, raw) for stem, raw in plain if stem != verb]
    return Words(
        verb=verb,
        things=tuple(stem for stem, _ in things),
        is_many=bool(things) and things[-1][0] != things[-1][1],
        weights=weights,
    )


def says_more_than_its_name(definition: ToolDefinition) -> bool:
    """Whether the description has a word of substance that the name does not have."""
    name = set(_stems(definition.name))
    return any(word not in name for word in _stems(definition.description) if word not in _EMPTY_WORDS | _WEAK_WORDS)


def is_generic(text: str) -> bool:
    """Whether the text has no word that would not fit any other tool as well."""
    return set(_stems(text)) <= _GENERIC_WORDS | _EMPTY_WORDS | _WEAK_WORDS | _LIGHT_VERBS


def likeness(one: Words, other: Words) -> float:
    """From 0 (nothing in common) to 1 (the same words)."""
    if _is_opposite(one.things, other.things):
        return 0.0
    score = _cosine(one.weights, other.weights)
    if not _is_same_verb(one.verb, other.verb):
        score *= _OTHER_VERB
    if one.is_many != other.is_many and one.things[-1:] == other.things[-1:]:
        score *= _OTHER_NUMBER
    if _is_about_more(one, other) or _is_about_more(other, one):
        score *= _OTHER_THING
    return score


def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
    shared = math.fsum(weight * other[word] for word, weight in one.items() if word in other)
    length = math.hypot(*one.values()) * math.hypot(*other.values())
    return shared / length if length else 0.0


def _is_same_verb(one: str | None, other: str | None) -> bool:
    if one is None or other is None or one == other:
        return True
    return any(one in group and other in group for group in _VERB_GROUPS)


def _is_opposite(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the names name two directions: `turn_on` and `turn_off`, `a_to_b` and `b_to_a`."""
    if any(word in _OPPOSITES and _OPPOSITES[word] in other for word in one):
        return True
    if "to" not in one or sorted(one) != sorted(other):
        return False
    middle = one.index("to")
    return (*one[middle + 1 :], "to", *one[:middle]) == other


def _is_about_more(one: Words, other: Words) -> bool:
    """Whether the one names a thing of which the other does not speak, beside what both name or for something else."""
    own, foreign = _unexplained(one, other), _unexplained(other, one)
    return bool(own) and (bool(foreign) or set(other.things) < set(one.things))


def _unexplained(one: Words, other: Words) -> set[str]:
    return {word for word in one.things if word not in other.weights and word != other.verb} - {"to", *_OPPOSITES}


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in split_words(text)]


def split_words(text: str) -> list[str]:
    """The words of a name or text, in lower case: `getUserId` and `get_user_id` alike."""
    text = re.sub(r"\be-mail", "email", text.replace("’", "'"), flags=re.IGNORECASE)
    # Whose notes they are is the same for every tool that serves the user.
    text = re.sub(r"\buser's\b", "", text, flags=re.IGNORECASE)
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).casefold())


def _stem(word: str) -> str:
    if word.isascii() and len(word) > 3:
        for ending, instead in _ENDINGS:
            if word.endswith(ending):
                return word.removesuffix(ending) + instead
    return word
