"""BFCL's conversations: what the user says turn by turn, which functions there are by then, and the right calls.

Deliberately not here: the services that answer (`worlds`), and what counts as right (`official`, `strict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from wieldy.core.errors import UsageError
from wieldy.evals.bfcl.categories import ConversationCategory
from wieldy.evals.bfcl.conversations.services import SERVICES, ServiceCode
from wieldy.evals.bfcl.conversations.worlds import World
from wieldy.evals.bfcl.data import BfclData, file_of
from wieldy.evals.bfcl.prompts import prompts_of

_DOCUMENTS: Final = "multi_turn_func_doc"
_MORE_FUNCTIONS: Final = "DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing that the user wants.

    Attributes:
        messages: Role and text of each message.
        functions: All functions that there are from now on, as the benchmark describes them.
        calls: The right ones, written as Python; none where the user wants what cannot be done yet.
    """

    messages: tuple[tuple[str, str], ...]
    functions: tuple[dict[str, Any], ...]
    calls: tuple[str, ...]


class Mistake(NamedTuple):
    """What is wrong with a trial, and in which turn, counted from 0."""

    turn: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BfclConversation:
    """One task; two of them are equal only if they are one.

    Attributes:
        services: The names of the services that take part.
        scenario: What each of them begins with.
        code: Of the services.
    """

    id: str
    category: ConversationCategory
    turns: tuple[Turn, ...]
    services: tuple[str, ...]
    scenario: Mapping[str, Any]
    code: ServiceCode

    @property
    def is_long(self) -> bool:
        """Whether the services pad what they return."""
        return "long_context" in self.category.name

    def world(self) -> World:
        """The services as they are at the beginning, which nothing else shares.

        Raises:
            UsageError: Their code is not here, or is another.
        """
        return World(self.code.load(self.services), self.scenario, is_long=self.is_long)


def conversations(data: BfclData, category: ConversationCategory) -> tuple[BfclConversation, ...]:
    """The tasks of a category, in the benchmark's order.

    Raises:
        UsageError: A file is missing, or holds something else.
    """
    code = ServiceCode(data.package)
    try:
        documents = {name: tuple(data.rows(f"{_DOCUMENTS}/{module}.json")) for name, module in SERVICES.items()}
        answers = {row["id"]: row["ground_truth"] for row in data.rows(f"possible_answer/{file_of(category)}")}
        rows = list(data.rows(file_of(category)))
        code.load(tuple({service for row in rows for service in row["involved_classes"]}))  # before anything begins
        more = str(prompts_of(data)[_MORE_FUNCTIONS]) if any(row.get("missed_function") for row in rows) else ""
        return tuple(_conversation(category, row, answers[row["id"]], documents, code, more) for row in rows)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{data.place}: expected conversations of BFCL's category {category.name!r}, found something else "
            f"({type(error).__name__}: {error})."
        ) from error


def _conversation(
    category: ConversationCategory,
    row: Mapping[str, Any],
    calls: list[list[str]],
    documents: Mapping[str, tuple[dict[str, Any], ...]],
    code: ServiceCode,
    more: str,
) -> BfclConversation:
    services: list[str] = row["involved_classes"]
    functions = [function for service in services for function in documents[service]]
    withheld: Mapping[str, list[str]] = row.get("missed_function") or {}
    turns = list[Turn]()
    for at, (messages, right) in enumerate(zip(row["question"], calls, strict=True)):
        later = {name for turn, names in withheld.items() if int(turn) > at for name in names}
        said = [{"role": "user", "content": more}] if str(at) in withheld else messages
        turns.append(
            Turn(
                messages=tuple((message["role"], message["content"]) for message in said),
                functions=tuple(function for function in functions if function["name"] not in later),
                calls=tuple(right),
            )
        )
    return BfclConversation(
        id=row["id"],
        category=category,
        turns=tuple(turns),
        services=tuple(services),
        scenario=row["initial_config"],
        code=code,
    )
