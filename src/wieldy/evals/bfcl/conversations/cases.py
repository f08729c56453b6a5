"""A conversation as a case of a study, and the model that makes the right calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from wieldy.core.json import digest
from wieldy.evals.bfcl.conversations.running import run_conversation
from wieldy.evals.bfcl.conversations.scoring import official_verdict, strict_verdict
from wieldy.evals.bfcl.conversations.written import read_call
from wieldy.evals.cases.case import Case, Judged, Runs
from wieldy.testing import ScriptedModel, call, text

if TYPE_CHECKING:
    from wieldy.core.messages import Message
    from wieldy.core.ports import Model
    from wieldy.evals.bfcl.conversations.data import BfclConversation
    from wieldy.testing.scripted import Turn

CANNOT: Final = "I cannot do that with what I have been given so far. What is missing?"


def conversation_case(conversation: BfclConversation) -> Case:
    """Run, judged by both rules, and answered by an oracle."""
    turns = [(turn.messages, [function["name"] for function in turn.functions]) for turn in conversation.turns]
    calls = [list(turn.calls) for turn in conversation.turns]
    return Case(
        id=conversation.id,
        category=conversation.category.name,
        # The categories tell the same stories, each with a difficulty of its own.
        cluster=digest("conversation", conversation.id.rpartition("_")[2]),
        digest=digest(turns, calls, conversation.services, conversation.scenario, conversation.category.name),
        run=partial(run_conversation, conversation),
        judge=partial(_judge, conversation),
        scripts={"oracle": partial(oracle, conversation)},
        tools=frozenset(function["name"] for turn in conversation.turns for function in turn.functions),
    )


def _judge(conversation: BfclConversation, runs: Runs) -> Judged:
    return Judged(strict_verdict(conversation, runs), {"official": official_verdict(conversation, runs)})


def oracle(conversation: BfclConversation) -> Model:
    """A model that makes the right calls of each turn at once, and says that it cannot where there are none."""
    world = conversation.world()

    def answer(messages: Sequence[Message]) -> Turn:
        turn = conversation.turns[sum(message.role == "user" for message in messages) - 1]
        if not turn.calls:
            return [text(CANNOT)]
        if messages[-1].role == "tool":
            return [text("It is done.")]
        written = [read_call(each) for each in turn.calls]
        return [call(each.name, world.arguments(*each)) for each in written]

    return ScriptedModel(answer, name="script:oracle")
