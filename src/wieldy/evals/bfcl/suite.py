"""BFCL's tasks as cases of a study."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from wieldy.core.json import digest
from wieldy.core.ports import Model
from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.categories import AnyCategory, Category, ConversationCategory, MemoryCategory, PromptedCategory
from wieldy.evals.bfcl.conversations.cases import conversation_case
from wieldy.evals.bfcl.conversations.data import conversations
from wieldy.evals.bfcl.data import BfclData, BfclTask
from wieldy.evals.bfcl.memory.cases import memory_case
from wieldy.evals.bfcl.memory.data import memory_tasks
from wieldy.evals.bfcl.offering import offer_of
from wieldy.evals.bfcl.prompted.cases import prompted_case
from wieldy.evals.bfcl.prompted.data import prompted_tasks
from wieldy.evals.bfcl.running import run_task
from wieldy.evals.bfcl.scoring import official_verdict, strict_verdict
from wieldy.evals.cases.case import Attempt, Case, Judged, Runs, Suite
from wieldy.testing import ScriptedModel, call, text

ABSTENTION = "None of the functions that I was given can do that."


def bfcl_suite(place: Path, categories: Sequence[AnyCategory], *, limit: int | None = None) -> Suite:
    """The first tasks of each category; all of them without a limit.

    Raises:
        UsageError: The data is not there, or is something else, such as another wheel.
    """
    data = BfclData(place)
    cases = tuple(case for category in categories for case in _cases(data, category, limit))
    return Suite(name="bfcl", cases=cases, source=data.source)


def _cases(data: BfclData, category: AnyCategory, limit: int | None) -> list[Case]:
    match category:
        case Category():
            return [_case(task) for task in data.tasks(category)[:limit]]
        case ConversationCategory():
            return [conversation_case(conversation) for conversation in conversations(data, category)[:limit]]
        case MemoryCategory():
            return [memory_case(task) for task in memory_tasks(data, category)[:limit]]
        case PromptedCategory():
            return [prompted_case(task) for task in prompted_tasks(data, category, limit=limit)]


def _case(task: BfclTask) -> Case:
    functions = sorted(function["name"] for function in task.functions)
    return Case(
        id=task.id,
        category=task.category.name,
        cluster=digest("functions", functions),
        digest=digest(task.messages, task.functions, task.answers, task.category.name),
        run=partial(_run, task),
        judge=partial(_judge, task),
        scripts={"oracle": partial(oracle, task)},
        tools=frozenset(definition.name for definition in offer_of(task).definitions),
    )


async def _run(task: BfclTask, attempt: Attempt) -> list[str]:
    return [await run_task(task, attempt)]


def _judge(task: BfclTask, runs: Runs) -> Judged:
    return Judged(strict_verdict(task, runs[-1]), {"official": official_verdict(task, runs[-1])})


def oracle(task: BfclTask) -> Model:
    """A model that gives a listed answer; where any call will do, one of the first function with example arguments."""
    offer = offer_of(task)
    said = [call(offer.shown(name), dict(arguments)) for name, arguments in right_calls(task)]
    if task.category.wanted == "any call":
        from wieldy.schema import CompiledSchema, example  # noqa: PLC0415 - for this alone

        definition = offer.definitions[0]
        arguments = example(CompiledSchema(definition.input_schema))
        said = [call(definition.name, arguments if isinstance(arguments, dict) else {})]
    reply = said or [text(ABSTENTION)]
    return ScriptedModel(
        lambda messages: reply if messages[-1].role != "tool" else [text("Done.")], name="script:oracle"
    )
