"""A task of one's own as a case of a study: how it is run, judged, and answered by its scripted models.

Where it has an environment, a fresh one begins with the run and is looked at behind it, in a run of its own.
Deliberately not here: what is right (`judging`), and running many (`running`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

from wieldy.core.errors import UsageError, WieldyError
from wieldy.core.messages import messages_from
from wieldy.evals.cases.case import Attempt, Case, Judged, Runs
from wieldy.evals.cases.recorded import recorded
from wieldy.evals.tasks.environments import EndState, end_state, look_at
from wieldy.evals.tasks.identities import identity_of
from wieldy.evals.tasks.judging import measures_of, verdict_of
from wieldy.evals.tasks.offered import check_names
from wieldy.evals.tasks.task import ExpectedCall, Task, tool_names
from wieldy.run.records import message_to_json
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import tools_from

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.messages import Message
    from wieldy.core.ports import Model
    from wieldy.evals.tasks.environments import Environment, Stage
    from wieldy.testing.scripted import ScriptedCall, Turn


def case_of(task: Task) -> Case:
    """The task as a case.

    Raises:
        UsageError: What it forbids can never be done, because there is no tool or parameter of that name.
    """
    check_names(task)
    scripts = {name: partial(_following, name, task, calls) for name, calls in task.scripts.items()}
    return Case(
        id=task.id,
        category=task.kind,
        cluster=task.cluster or task.id,
        digest=_digest(task),
        run=partial(_run, task),
        judge=partial(_judge, task),
        scripts={"oracle": partial(oracle, task), **scripts},
        tools=None if task.environment is not None else tool_names(task) or (None if task.tools else frozenset()),
        takes_code=True,
        axes=task.axes,
        criterion=task.judge,
    )


def _digest(task: Task) -> str:
    """Of everything but the id; its other words are other tasks, and its cluster is told as it counts."""
    messages = [message_to_json(message) for message in messages_from(task.prompt)]
    apart = {"id", "prompt", "tools", "environment", "variants", "cluster", "instructions", "policy"}
    rest = {each.name: getattr(task, each.name) for each in fields(task) if each.name not in apart}
    on = None if task.environment is None else task.environment.identity
    return identity_of(messages, tools_from(task.tools).tools, task.system, on, task.cluster or task.id, rest)


async def _run(task: Task, attempt: Attempt) -> list[str]:
    if task.environment is None:
        return [await recorded(attempt.agent(task.tools, instructions=task.system), task.prompt)]
    async with AsyncExitStack() as stack:
        stage = await _begun(task, task.environment, stack)
        agent = attempt.agent([*task.tools, *stage.tools], instructions=task.system)
        return [await recorded(agent, task.prompt), await look_at(stage, attempt)]


async def _begun(task: Task, environment: Environment, stack: AsyncExitStack) -> Stage:
    """The environment at work.

    Raises:
        UsageError: Its code failed.
    """
    try:
        return await stack.enter_async_context(environment.begin())
    except WieldyError:
        raise
    except (Exception, SystemExit) as error:  # it is somebody's code
        what = f"{type(error).__name__}: {error}"
        raise UsageError(f"The environment of the task {task.id!r} could not begin: {what}") from error


def _judge(task: Task, runs: Runs) -> Judged:
    end = EndState(None) if task.environment is None else end_state(runs[-1])
    verdict = verdict_of(task, runs[0], end)
    return Judged(verdict, measures=measures_of(task, runs[0], end, verdict))


def oracle(task: Task) -> Model:
    """A model that makes the wanted calls, all at once or one after the other as they are wanted, and then answers."""
    calls = [_call(each) for each in task.calls or ()]
    return _scripted(task, [calls] if task.order == "any" and calls else [[each] for each in calls], "oracle")


def _following(name: str, task: Task, calls: Sequence[ExpectedCall]) -> Model:
    """A model that makes these calls, one a turn, and then answers."""
    return _scripted(task, [[_call(each)] for each in calls], name)


def _scripted(task: Task, turns: Iterable[Turn], name: str) -> Model:
    script = [*turns, [text("; ".join(task.answer) or "Done.")]]
    before = sum(message.role == "assistant" for message in messages_from(task.prompt))

    def turn(messages: Iterable[Message]) -> Turn:
        asked = sum(message.role == "assistant" for message in messages)
        return script[min(asked - before, len(script) - 1)]

    return ScriptedModel(turn, name=f"script:{name}")


def _call(expected: ExpectedCall) -> ScriptedCall:
    return call(expected.name, {**expected.arguments, **_first(expected)})


def _first(expected: ExpectedCall) -> JsonObject:
    return {name: options[0] for name, options in expected.alternatives.items() if name not in expected.arguments}
