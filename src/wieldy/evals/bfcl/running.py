"""One task run by a model, through an agent like any other run: read, validated, recorded, and not carried out.

Every call waits for a consent that nobody gives, so a run rests after its first reply and nothing is made up as a
result. Only a reply all of whose calls are wrong is answered, once, and what follows is not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wieldy.core.errors import RunError
from wieldy.core.limits import Limits
from wieldy.evals.bfcl.offering import offer_of
from wieldy.evals.cases.recorded import recorded
from wieldy.run.policy import Ask
from wieldy.tools.from_schema import tool_from_schema

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject
    from wieldy.evals.bfcl.data import BfclTask
    from wieldy.evals.cases.case import Attempt
    from wieldy.run.policy import Proposal

MOST_OUTPUT_TOKENS: Final = 1024


async def run_task(task: BfclTask, attempt: Attempt) -> str:
    """The id of the run, which the journal has; how it ended is in there, whatever that was."""
    offer = offer_of(task)
    tools = [
        tool_from_schema(definition, _never, origin=f"bfcl:{definition.name}", effect="unsafe")
        for definition in offer.definitions
    ]
    agent = attempt.agent(tools, limits=Limits(turns=1, output_tokens=MOST_OUTPUT_TOKENS), policy=_only_look)
    return await recorded(agent, [{"role": role, "content": text} for role, text in task.messages])


def _only_look(proposal: Proposal) -> Ask:
    return Ask(reason=f"{proposal.call.name} is compared, not carried out")


async def _never(arguments: JsonObject, context: Context) -> object:
    raise RunError(f"{context.tool_name} was carried out with {arguments}, expected that it waits for consent.")
