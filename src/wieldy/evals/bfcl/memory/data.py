"""BFCL's memory tasks: a question, the answers that are right, and the conversations whose memory holds one of them.

Deliberately not here: what a memory does (`conversations.worlds`), and what counts as right (`official`, `strict`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, digest
from wieldy.evals.bfcl.categories import MemoryCategory
from wieldy.evals.bfcl.conversations.services import MEMORIES, SNAPSHOT, ServiceCode
from wieldy.evals.bfcl.conversations.worlds import World
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.prompts import prompts_of

_FILE: Final = "BFCL_v4_memory.json"
_SETTINGS: Final = "MEMORY_AGENT_SETTINGS"
_IN_TWO_PARTS: Final = "MEMORY_BACKEND_INSTRUCTION_CORE_ARCHIVAL"
_IN_ONE: Final = "MEMORY_BACKEND_INSTRUCTION_UNIFIED"
_ANSWER_FORMAT: Final = "ADDITIONAL_SYSTEM_PROMPT_FOR_AGENTIC_RESPONSE_FORMAT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """One conversation that comes before.

    Attributes:
        said: What the user says, message by message.
    """

    id: str
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """The life of one user, and the kind of memory that is kept of it.

    Attributes:
        service: The name of the memory's class.
        earlier: The conversations before all questions, in order.
        functions: Of the memory, as the benchmark describes them.
        code: Of the memory.
        instructions: What a model is told first, with a place for what the memory shows of itself.
        answer_format: What it is told besides where a question is asked.
        answers: Of all questions of the scenario: those that are right, by the question.
    """

    name: str
    service: str
    earlier: tuple[Earlier, ...]
    functions: tuple[dict[str, Any], ...]
    code: ServiceCode
    instructions: str
    answer_format: str
    answers: Mapping[str, tuple[str, ...]]

    @property
    def identity(self) -> str:
        """A digest of everything that decides what is in the memory, but for the model."""
        said = [(each.id, each.said) for each in self.earlier]
        return digest(self.name, self.service, said, self.functions, self.instructions)

    def world(self, kept: JsonObject) -> World:
        """The memory with what was kept, which nothing else shares; it begins empty where that is nothing.

        Raises:
            UsageError: Its code is not here, or is another.
        """
        return World(self.code.load((self.service,)), {self.service: {SNAPSHOT: kept}})

    def kept(self, world: World) -> JsonObject:
        """What is in the memory."""
        return {name: value for _, name, value in world.attributes() if name != "snapshot_folder"}

    def told(self, world: World, *, is_asked: bool) -> str:
        """What a model is told before a conversation begins."""
        shown: str = world.services[self.service]._dump_core_memory_to_context()
        instructions = self.instructions.replace(_PLACE, shown)
        return f"{instructions}\n\n{self.answer_format}" if is_asked else instructions


_PLACE: Final = "{memory_content}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryTask:
    """One question.

    Attributes:
        answers: One of them must be in the answer.
    """

    id: str
    category: MemoryCategory
    question: str
    answers: tuple[str, ...]
    scenario: Scenario


def memory_tasks(data: BfclData, category: MemoryCategory) -> tuple[MemoryTask, ...]:
    """The tasks of a category, in the benchmark's order.

    Raises:
        UsageError: A file is missing, or holds something else.
    """
    try:
        rows = list(data.rows(_FILE))
        answers = {row["id"]: tuple(row["ground_truth"]) for row in data.rows(f"possible_answer/{_FILE}")}
        scenarios = _scenarios(data, category, rows, answers)
        return tuple(
            MemoryTask(
                id=_own_id(row["id"], category),
                category=category,
                question=_question(row),
                answers=answers[row["id"]],
                scenario=scenarios[row["scenario"]],
            )
            for row in rows
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"{data.place}: expected BFCL's questions about memories, found something else "
            f"({type(error).__name__}: {error})."
        ) from error


def _scenarios(
    data: BfclData, category: MemoryCategory, rows: list[dict[str, Any]], answers: Mapping[str, tuple[str, ...]]
) -> dict[str, Scenario]:
    code, prompts = ServiceCode(data.package), prompts_of(data)
    code.load((category.service,))  # before anything begins
    instructions: str = prompts[_IN_ONE if category.service == "MemoryAPI_rec_sum" else _IN_TWO_PARTS]
    functions = tuple(data.rows(f"multi_turn_func_doc/{MEMORIES[category.service]}.json"))
    settings: dict[str, str] = prompts[_SETTINGS]
    return {
        name: Scenario(
            name=name,
            service=category.service,
            earlier=tuple(
                Earlier(id=_own_id(row["id"], category), said=tuple(turn[0]["content"] for turn in row["question"]))
                for row in data.rows(f"memory_prereq_conversation/memory_{name}.json")
            ),
            functions=functions,
            code=code,
            instructions=instructions.replace("{scenario_setting}", settings[name]),
            answer_format=prompts[_ANSWER_FORMAT],
            answers={_question(row): answers[row["id"]] for row in rows if row["scenario"] == name},
        )
        for name in dict.fromkeys(row["scenario"] for row in rows)
    }


def _question(row: Mapping[str, Any]) -> str:
    return row["question"][0][0]["content"]


def _own_id(name: str, category: MemoryCategory) -> str:
    return name.replace("memory", category.name, 1)
