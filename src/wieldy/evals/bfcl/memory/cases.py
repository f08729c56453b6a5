"""A question as a case of a study, and the model that stores all answers and looks them up.

Questions of one scenario are answered from one memory, so they are one cluster, whatever kind of memory it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from wieldy.core.json import digest
from wieldy.evals.bfcl.memory.asking import ask
from wieldy.evals.bfcl.memory.scoring import official_verdict, strict_verdict
from wieldy.evals.cases.case import Case, Judged, Runs
from wieldy.testing import ScriptedModel, call, text

if TYPE_CHECKING:
    from wieldy.core.messages import Message
    from wieldy.core.ports import Model
    from wieldy.evals.bfcl.memory.data import MemoryTask, Scenario
    from wieldy.testing.scripted import Turn

_STORED: Final = "answers_are_stored"
"""What the oracle leaves where the memory shows it at the beginning of the next conversation."""


def memory_case(task: MemoryTask) -> Case:
    """Asked, judged by both rules, and answered by an oracle."""
    return Case(
        id=task.id,
        category=task.category.name,
        cluster=digest("memory", task.scenario.name),
        digest=digest(task.question, task.answers, task.scenario.identity, task.category.name),
        run=partial(ask, task),
        judge=partial(_judge, task),
        scripts={"oracle": partial(oracle, task.scenario)},
        tools=frozenset(function["name"] for function in task.scenario.functions),
    )


def _judge(task: MemoryTask, runs: Runs) -> Judged:
    return Judged(strict_verdict(task, runs[-1]), {"official": official_verdict(task, runs[-1])})


def oracle(scenario: Scenario) -> Model:
    """A model that stores an answer to every question in the first conversation, and later gives what it finds."""
    store, find, read = _KINDS[scenario.service]
    questions = list(scenario.answers)

    def answer(messages: Sequence[Message]) -> Turn:
        if scenario.answer_format not in messages[0].text:
            is_first = messages[-1].role == "user" and sum(message.role == "user" for message in messages) == 1
            return store(scenario) if is_first and _STORED not in messages[0].text else [text("I will remember that.")]
        number = questions.index(next(message.text for message in messages if message.role == "user"))
        if messages[-1].role != "tool":
            return find(number)
        return [text(repr({"answer": read(number, messages[-1].text), "context": "You have told me so."}))]

    return ScriptedModel(answer, name="script:oracle")


def _first_answers(scenario: Scenario) -> list[str]:
    return [answers[0] for answers in scenario.answers.values()]


# A memory of keys and values, in two parts


def _store_keys(scenario: Scenario) -> Turn:
    answers = enumerate(_first_answers(scenario))
    stored = [call("archival_memory_add", {"key": f"answer_{number}", "value": each}) for number, each in answers]
    return [*stored, call("core_memory_add", {"key": _STORED, "value": f"{len(stored)} answers are in the archive."})]


def _find_key(number: int) -> Turn:
    return [call("archival_memory_retrieve", {"key": f"answer_{number}"})]


def _read_value(number: int, result: str) -> str:
    del number
    return str(json.loads(result).get("value"))


# A memory that is one text


def _store_lines(scenario: Scenario) -> Turn:
    lines = [f"{number}. {each}" for number, each in enumerate(_first_answers(scenario))]
    return [call("memory_append", {"text": "\n".join([_STORED, *lines, ""])})]


def _find_text(number: int) -> Turn:
    del number
    return [call("memory_retrieve", {})]


def _read_line(number: int, result: str) -> str:
    lines = str(json.loads(result).get("memory_content")).splitlines()
    return next((line.partition(" ")[2] for line in lines if line.startswith(f"{number}. ")), "I do not know")


_KINDS: Final = {
    "MemoryAPI_kv": (_store_keys, _find_key, _read_value),
    "MemoryAPI_rec_sum": (_store_lines, _find_text, _read_line),
}
