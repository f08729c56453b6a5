"""One question, asked of a model with the memory that the conversations before have left.

A question has a memory of its own with that content: what it changes there no other question sees. Deliberately not
here: how the memory was filled (`filling`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wieldy.core.messages import Message
from wieldy.evals.bfcl.memory.filling import agent_with, filled
from wieldy.evals.cases.recorded import recorded

if TYPE_CHECKING:
    from wieldy.evals.bfcl.memory.data import MemoryTask
    from wieldy.evals.cases.case import Attempt


async def ask(task: MemoryTask, attempt: Attempt) -> list[str]:
    """The id of the run that answers; where the memory cannot be filled, that of the run that was broken off instead.

    Raises:
        UsageError: The memory's code is not here, or is another.
        JournalError: Something could not be recorded.
    """
    scenario = task.scenario
    memory = await filled(scenario, attempt)
    if memory.kept is None:
        return [memory.run]
    world = scenario.world(memory.kept)
    told = Message.system(scenario.told(world, is_asked=True))
    agent = agent_with(world, scenario, attempt, memory=memory.run)
    return [await recorded(agent, [told, Message.user(task.question)])]
