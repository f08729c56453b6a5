"""A conversation by an agent: every message of the user is a run, and every call is carried out on the services.

Calls are carried out one after the other in the order in which the model wrote them, as the benchmark does. What a
service raises, an unknown name and arguments that do not fit reach the model as errors. As there, a turn may have 20
replies with calls; the conversation ends with the one that has more.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from wieldy.core.errors import ToolError
from wieldy.core.limits import Limits
from wieldy.evals.bfcl.offering import offered
from wieldy.evals.cases.conversations import Said, converse
from wieldy.run.policy import allow_all
from wieldy.run.results import ResultRules
from wieldy.tools.from_schema import tool_from_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject
    from wieldy.evals.bfcl.conversations.data import BfclConversation
    from wieldy.evals.bfcl.conversations.worlds import World
    from wieldy.evals.cases.case import Attempt
    from wieldy.run.state import RunState
    from wieldy.tools import Tool

MOST_REPLIES: Final = 21
"""With calls, in one turn; after the last of them nothing follows."""
LIMITS: Final = Limits(turns=MOST_REPLIES, output_tokens=MOST_REPLIES * 1024, repeats=MOST_REPLIES + 1)
RESULTS: Final = ResultRules(limit_bytes=1_000_000)
"""Long results are a part of what is tried, and the benchmark shows them whole."""


async def run_conversation(conversation: BfclConversation, attempt: Attempt) -> list[str]:
    """The ids of the runs, one for each turn that was reached.

    Raises:
        UsageError: The services' code is not here, or is another.
    """
    world, left = conversation.world(), iter(conversation.turns)

    async def user(before: RunState | None) -> Said | None:
        is_over = before is not None and before.stop_reason != "answered"
        turn = None if is_over else next(left, None)
        if turn is None:
            return None
        return Said(
            messages=[{"role": role, "content": text} for role, text in turn.messages],
            agent=attempt.agent(tools_in(turn.functions, world), limits=LIMITS, policy=allow_all, results=RESULTS),
        )

    return await converse(user)


def tools_in(functions: Iterable[Mapping[str, Any]], world: World) -> list[Tool]:
    """The functions as tools that act on the services of this world."""
    return [
        # Unsafe for the order alone: calls that may change anything are carried out one by one.
        tool_from_schema(
            definition, partial(_carry_out, world), origin=f"bfcl:{definition.name}", effect="unsafe", retries=0
        )
        for definition in offered(functions).definitions
    ]


async def _carry_out(world: World, arguments: JsonObject, context: Context) -> str:
    outcome = world.call(context.tool_name, (), arguments)
    if outcome.is_error:
        raise ToolError(outcome.text)
    return outcome.text
