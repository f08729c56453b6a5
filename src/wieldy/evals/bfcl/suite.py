"""BFCL's tasks as cases of a study."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from wieldy.core.json import digest
from wieldy.core.ports import Entry, Model
from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.categories import Category
from wieldy.evals.bfcl.data import BfclData, BfclTask
from wieldy.evals.bfcl.fetching import VERSION, WHEEL_NAME
from wieldy.evals.bfcl.offering import offer_of
from wieldy.evals.bfcl.running import run_task
from wieldy.evals.bfcl.scoring import official_verdict, strict_verdict
from wieldy.evals.cases import Attempt, Case, Judged, Suite
from wieldy.testing import ScriptedModel, call, text

ABSTENTION = "None of the functions that I was given can do that."


def bfcl_suite(place: Path, categories: Sequence[Category], *, limit: int | None = None) -> Suite:
    """The first tasks of each category; all of them without a limit.

    Raises:
        UsageError: The data is not there, or is something else.
    """
    data = BfclData(place)
    cases = tuple(_case(task) for category in categories for task in data.tasks(category)[:limit])
    version = VERSION if place.name == WHEEL_NAME else "of an installation or a folder"
    return Suite(name="bfcl", cases=cases, source={"data": "bfcl_eval", "version": version})


def _case(task: BfclTask) -> Case:
    functions = sorted(function["name"] for function in task.functions)
    return Case(
        id=task.id,
        category=task.category.name,
        cluster=digest("functions", functions),
        digest=digest(task.messages, task.functions, task.answers, task.category.name),
        run=partial(_run, task),
        judge=partial(_judge, task),
        oracle=partial(oracle, task),
    )


async def _run(task: BfclTask, attempt: Attempt) -> str:
    return await run_task(
        task, attempt.model, journal=attempt.journal, strategy=attempt.strategy, metadata=attempt.metadata
    )


def _judge(task: BfclTask, entries: Sequence[Entry]) -> Judged:
    return Judged(strict_verdict(task, entries), {"official": official_verdict(task, entries)})


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
