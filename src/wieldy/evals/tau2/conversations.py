"""A conversation of an agent with a customer: their runs take turns, and each is recorded.

The customer is played by a model, with the benchmark's guidelines and the task's instructions, and with the tools that
a customer has; or by a script, which says no more than what it does. Law: which calls were carried out, by whom and in
which order, is in the journal. Deliberately not here: what is right (`judging`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any, Final

from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.evals.cases.case import PLAIN, Attempt
from wieldy.evals.cases.conversations import Said, converse
from wieldy.evals.cases.recorded import recorded
from wieldy.evals.tasks.environments import BESIDE
from wieldy.evals.tau2.worlds import Done, TauWorld, gold_calls
from wieldy.run.policy import allow_all
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text

if TYPE_CHECKING:
    from wieldy.core.ports import Model
    from wieldy.run.state import RunState
    from wieldy.testing.scripted import Turn

MOST_TURNS: Final = 60
"""Messages of the customer; the benchmark ends a conversation after 200 steps of both."""
STOPS: Final = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
"""Any of these in a message of the customer ends the conversation."""
USER: Final = "simulated user"
"""How runs of the customer are marked in their metadata."""

_GREETING: Final = "Hi! How can I help you today?"
_INSTRUCTIONS: Final = (
    "You are a customer service agent. In each turn you either call tools or write to the customer. Follow the policy."
)
_LIMITS: Final = Limits(turns=30)


@dataclass(slots=True, kw_only=True)
class Customer:
    """Says what the customer says, each time in a run of its own.

    Attributes:
        ids: Of its runs, in order.
        history: What was said, as the customer sees it: the agent speaks as the user of its model.
    """

    attempt: Attempt
    world: TauWorld
    model: Model
    ids: list[str] = field(default_factory=list[str])
    history: list[Message] = field(default_factory=lambda: [Message.user(_GREETING)])

    async def __call__(self, before: RunState | None) -> Said | None:
        """The next message, to the agent; None where the customer has no more to say."""
        if before is not None:
            if not _text(before).strip():  # a customer has nothing to answer to
                return None
            self.history.append(Message.user(_text(before)))
        playing = replace(
            self.attempt,
            model=self.model,
            metadata={**self.attempt.metadata, BESIDE: USER},
            configuration=PLAIN,
            policy=allow_all,
        )
        scenario = str(self.world.task.user_scenario)
        instructions = f"{self.world.domain.guidelines}\n\n<scenario>\n{scenario}\n</scenario>"
        agent = playing.agent(self.world.tools("user"), instructions=instructions, limits=_LIMITS)
        run_id = await recorded(agent, self.history)
        self.ids.append(run_id)
        state = fold(self.attempt.journal.read(run_id))
        said = _text(state)
        if state.status != "finished" or not said.strip() or any(stop in said for stop in STOPS):
            return None
        self.history = [message for message in state.messages if message.role != "system"]
        policy = f"{_INSTRUCTIONS}\n\n<policy>\n{self.world.environment.get_policy()}\n</policy>"
        helping = self.attempt.agent(self.world.tools("assistant"), instructions=policy, limits=_LIMITS)
        return Said(messages=[Message.user(said)], agent=helping)


async def run_conversation(world: TauWorld, attempt: Attempt, user: Model) -> list[str]:
    """The ids of all runs in order: each of the customer, and behind it that of the agent who answers."""
    customer = Customer(attempt=attempt, world=world, model=user)
    answers = await converse(customer, most_turns=MOST_TURNS)
    return [run_id for pair in zip_longest(customer.ids, answers) for run_id in pair if run_id is not None]


def _text(state: RunState) -> str:
    last = next((message for message in reversed(state.messages) if message.role == "assistant"), None)
    return "" if last is None else last.text


# Scripts: the calls that the task lists, in their order; whose turn it is is seen from what has been said


def scripted_agent(task: Any) -> Model:
    """Makes the agent's calls, up to where the customer has to do something; in the end says what is to be told."""
    parts = _parts(task)
    criteria = task.evaluation_criteria
    told = " ".join(() if criteria is None else criteria.communicate_info or ())

    def turn(messages: Sequence[Message]) -> Turn:
        said = sum(message.role == "user" for message in messages) - 1
        own = parts[said][0] if said < len(parts) else []
        made = _since_user(messages)
        if made < len(own):
            return [call(own[made].name, own[made].arguments)]
        return [text(f"That is done. {told}".strip())]

    return ScriptedModel(turn, name="script:oracle")


def scripted_user(task: Any) -> Model:
    """Makes the customer's calls when their turn has come, and ends the conversation when all is done."""
    parts = _parts(task)

    def turn(messages: Sequence[Message]) -> Turn:
        said = sum(message.role == "user" for message in messages) - 1
        if said == 0:
            return [text("I need your help.")]
        own = parts[said - 1][1] if said - 1 < len(parts) else []
        made = _since_user(messages)
        if made < len(own):
            return [call(own[made].name, own[made].arguments)]
        return [text(STOPS[0] if said >= len(parts) else "I have done that.")]

    return ScriptedModel(turn, name="script:user")


def _since_user(messages: Sequence[Message]) -> int:
    """How many calls were answered since the last message of the other side."""
    at = max(at for at, message in enumerate(messages) if message.role == "user")
    return sum(message.role == "tool" for message in messages[at:])


def _parts(task: Any) -> list[tuple[list[Done], list[Done]]]:
    """The task's calls as turns: what the agent does, and what the customer then does."""
    parts: list[tuple[list[Done], list[Done]]] = [([], [])]
    for requestor, group in groupby(gold_calls(task), key=lambda each: each.requestor):
        if requestor == "assistant" and (parts[-1][0] or parts[-1][1]):
            parts.append(([], []))
        parts[-1][0 if requestor == "assistant" else 1].extend(group)
    return parts


UserOf = Callable[[Any], "Model"]
"""Makes who plays the customer of a task."""
