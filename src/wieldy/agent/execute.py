"""Code that is run for its own sake, without a model that wrote it; its calls go the way of all calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wieldy.agent.code import opened, request_of, tools_for
from wieldy.core.messages import Message
from wieldy.run.actions.code.ended import ended_from_text
from wieldy.run.actions.code.model import CodeModel
from wieldy.run.loop import run
from wieldy.run.policy import allow_all
from wieldy.run.request import RunRequest, new_run_id
from wieldy.run.results import ResultRules

if TYPE_CHECKING:
    from wieldy.agent.code_rules import CodeRules
    from wieldy.core.events import RunResult
    from wieldy.core.ports import Journal
    from wieldy.run.actions.code.ended import Ended
    from wieldy.run.policy import Approver, Policy
    from wieldy.tools import Toolset


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What came of code.

    Attributes:
        result: Of the run whose model it was.
        ended: How it ended; None if its run rests, or ended before it.
    """

    result: RunResult
    ended: Ended | None


async def execute(
    code: str,
    toolset: Toolset,
    rules: CodeRules,
    *,
    journal: Journal,
    policy: Policy = allow_all,
    approver: Approver | None = None,
) -> Executed:
    """The code has come to its end, or its run rests.

    Args:
        code: Python.
        toolset: The tools are functions there.
        rules: Where it runs.
        journal: Where its run is recorded.
        policy: Asked before every call.
        approver: Asked where the policy wants a person's consent; without one the run rests.

    Raises:
        UsageError: The sandbox does not work here, or two tools have one name in Python.
        RunError: The run could not be recorded.
    """
    run_id = new_run_id()
    tools = tools_for(toolset, rules)
    async with opened(tools, rules) as (_, places):
        level, because = places.place(code)
        namespace = places.namespace(level)
        assert namespace is not None
        model = CodeModel(
            namespace,
            level=level,
            run_id=run_id,
            started=lambda: journal.read(run_id)[0].time,
            results=ResultRules(),
        )
        request = RunRequest(model=model, toolset=tools, journal=journal, policy=policy, approver=approver)
        result = await run(request_of(request, model, messages=(Message.user(code),), because=because))
    return Executed(result=result, ended=ended_from_text(result.text))
