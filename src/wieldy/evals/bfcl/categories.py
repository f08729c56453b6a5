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
    """One category.

    Attributes:
        arity: How the calls are compared: the only one, the only one among several functions, or several in any order.
    """

    name: str
    wanted: Wanted = "calls"
    arity: Literal["one", "one of several", "several"] = "one"
    language: Language = "python"


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

GROUPS: Final = {
    "all": tuple(CATEGORIES),
    "simple": ("simple_python", "simple_java", "simple_javascript"),
    "live": tuple(name for name in CATEGORIES if name.startswith("live_")),
    "non_live": tuple(name for name in CATEGORIES if not name.startswith("live_")),
    "python": tuple(name for name, each in CATEGORIES.items() if each.wanted == "calls" and each.language == "python"),
}

NOT_HERE: Final = {
    "multi_turn": "its conversations need simulators of the services behind the tools, which Wieldy does not have yet",
    "memory": "its conversations need a memory service, which Wieldy does not have yet",
    "web_search": "it needs a search engine and the network",
    "format_sensitivity": "it varies the prompt format, which counts for no score",
}


def categories_named(names: Sequence[str]) -> tuple[Category, ...]:
    """The categories of these names, groups among them, each once; all of them for no name.

    Raises:
        UsageError: There is no such category here; the error says why, or which there are.
    """
    found: dict[str, Category] = {}
    for name in names or ("all",):
        reason = next((reason for start, reason in NOT_HERE.items() if name.startswith(start)), None)
        if reason is not None:
            raise UsageError(f"The category {name!r} cannot be run: {reason}.")
        members = GROUPS.get(name, (name,))
        if not set(members) <= set(CATEGORIES):
            raise UsageError(
                f"Expected categories of {', '.join(CATEGORIES)}, or a group of {', '.join(GROUPS)}; found {name!r}."
            )
        found.update({member: CATEGORIES[member] for member in members})
    return tuple(found.values())
