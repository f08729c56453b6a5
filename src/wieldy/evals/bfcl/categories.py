"""The categories of BFCL: what each asks for, and which of them cannot be run here, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from wieldy.core.errors import UsageError

Language: TypeAlias = Literal["python", "java", "javascript"]
Wanted: TypeAlias = Literal["calls", "no call", "any call"]
"""What a right reply has: calls with listed values, none at all, or at least one of whatever kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """One category of tasks of one turn.

    Attributes:
        arity: How the calls are compared: the only one, the only one among several functions, or several in any order.
    """

    name: str
    wanted: Wanted = "calls"
    arity: Literal["one", "one of several", "several"] = "one"
    language: Language = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationCategory:
    """One category of conversations: tasks of several turns, whose calls are carried out."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCategory:
    """One category of questions about earlier conversations.

    Attributes:
        service: The name of the memory's class.
    """

    name: str
    service: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptedCategory:
    """Tasks of one turn again, with the functions in the prompt in many forms, and the calls in the model's text."""

    name: str


AnyCategory: TypeAlias = "Category | ConversationCategory | MemoryCategory | PromptedCategory"


def _category(name: str, wanted: Wanted = "calls", language: Language = "python") -> Category:
    arity = "several" if "parallel" in name else "one of several" if "multiple" in name else "one"
    return Category(name=name, wanted=wanted, arity=arity, language=language)


CATEGORIES: Final = {
    category.name: category
    for category in (
        _category("simple_python"),
        _category("simple_java", language="java"),
        _category("simple_javascript", language="javascript"),
        _category("multiple"),
        _category("parallel"),
        _category("parallel_multiple"),
        _category("irrelevance", "no call"),
        _category("live_simple"),
        _category("live_multiple"),
        _category("live_parallel"),
        _category("live_parallel_multiple"),
        _category("live_irrelevance", "no call"),
        _category("live_relevance", "any call"),
    )
}

CONVERSATIONS: Final = {
    name: ConversationCategory(name=name)
    for name in ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
}

MEMORIES: Final = {
    category.name: category
    for category in (
        MemoryCategory(name="memory_kv", service="MemoryAPI_kv"),
        MemoryCategory(name="memory_rec_sum", service="MemoryAPI_rec_sum"),
    )
}

FORMAT_SENSITIVITY: Final = PromptedCategory(name="format_sensitivity")

SIZES: Final = {
    "simple_python": 400,
    "simple_java": 100,
    "simple_javascript": 50,
    "multiple": 200,
    "parallel": 200,
    "parallel_multiple": 200,
    "irrelevance": 240,
    "live_simple": 258,
    "live_multiple": 1_053,
    "live_parallel": 16,
    "live_parallel_multiple": 24,
    "live_irrelevance": 884,
    "live_relevance": 16,
    **dict.fromkeys(CONVERSATIONS, 200),
    **dict.fromkeys(MEMORIES, 155),
    FORMAT_SENSITIVITY.name: 5_200,
}
"""How many tasks each has, in version 4."""

_SCORING: Final[dict[str, AnyCategory]] = {**CATEGORIES, **CONVERSATIONS, **MEMORIES}
_ALL: Final[dict[str, AnyCategory]] = {**_SCORING, FORMAT_SENSITIVITY.name: FORMAT_SENSITIVITY}

GROUPS: Final = {
    "all": tuple(_SCORING),
    "everything": tuple(_ALL),
    "single_turn": tuple(CATEGORIES),
    "multi_turn": tuple(CONVERSATIONS),
    "memory": tuple(MEMORIES),
    "simple": ("simple_python", "simple_java", "simple_javascript"),
    "live": tuple(name for name in CATEGORIES if name.startswith("live_")),
    "non_live": tuple(name for name in CATEGORIES if not name.startswith("live_")),
    "python": tuple(name for name, each in CATEGORIES.items() if each.wanted == "calls" and each.language == "python"),
}

NOT_HERE: Final = {
    "memory_vector": "it needs a model for embeddings and an index of vectors, which the benchmark does not ship; "
    "memory_kv and memory_rec_sum ask the same questions",
    "web_search": "it needs a search engine and the network",
}


def categories_named(names: Sequence[str]) -> tuple[AnyCategory, ...]:
    """The categories of these names, groups among them, each once; for no name all that count for the score.

    Raises:
        UsageError: There is no such category here; the error says why, or which there are.
    """
    found: dict[str, AnyCategory] = {}
    for name in names or ("all",):
        reason = next((reason for start, reason in NOT_HERE.items() if name.startswith(start)), None)
        if reason is not None:
            raise UsageError(f"The category {name!r} cannot be run: {reason}.")
        members = GROUPS.get(name, (name,))
        if not set(members) <= set(_ALL):
            raise UsageError(
                f"Expected categories of {', '.join(_ALL)}, or a group of {', '.join(GROUPS)}; found {name!r}."
            )
        found.update({member: _ALL[member] for member in members})
    return tuple(found.values())
