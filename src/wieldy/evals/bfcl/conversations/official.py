"""The benchmark's own rules for conversations, its defects included, so that numbers compare.

After each turn that has right calls, the services must be as those calls leave them, and each of their results must be
among the results that the model's calls have had so far. Kept as it is there: turns that have no right calls are not
looked at; results are compared as texts; both sides share what the services' modules keep; and the names of functions
before a parenthesis are replaced even within texts, differently on both sides. Each trial begins with fresh modules,
which is what the original does for the first trial in a process, and not for those after it.
Source: `multi_turn_checker`, `multi_turn_utils` of `bfcl_eval` 2026.3.23. Deliberately not here: journals (`scoring`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from wieldy.evals.bfcl.conversations.data import BfclConversation, Mistake
from wieldy.evals.bfcl.conversations.worlds import World
from wieldy.evals.bfcl.conversations.written import read_call
from wieldy.evals.bfcl.decoding import DecodingError

CRASH: Final = "checker_crash"
NO_CALL: Final = "multi_turn:empty_turn_model_response"
OTHER_STATE: Final = "multi_turn:instance_state_mismatch"
RESULT_LACKING: Final = "multi_turn:execution_response_mismatch"

_FUNCTION: Final = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")
_FORBIDDEN: Final = frozenset({"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"})


def check(conversation: BfclConversation, turns: Sequence[Sequence[Sequence[str]]]) -> Mistake | None:
    """The first thing that is wrong; None if the trial is right.

    Args:
        conversation: The task.
        turns: For each turn the replies that had calls, each with its calls, written as Python. As many as the
            conversation has.

    Raises:
        UsageError: The services cannot be had.
    """
    classes = conversation.code.load(conversation.services)
    made = Side("model_eval", conversation, World(classes, conversation.scenario, is_long=conversation.is_long))
    right = Side(
        "model_ground_truth_eval", conversation, World(classes, conversation.scenario, is_long=conversation.is_long)
    )
    results = list[str]()
    for at, (turn, replies) in enumerate(zip(conversation.turns, turns, strict=True)):
        results += [made.result(call) for calls in replies for call in calls]
        wanted = [right.result(call) for call in turn.calls]
        if not turn.calls:
            continue
        error = _error_after(replies, made, right, results, wanted)
        if error is not None:
            return Mistake(at, error)
    return None


def _error_after(
    replies: Sequence[Sequence[str]], made: Side, right: Side, results: list[str], wanted: list[str]
) -> str | None:
    if not replies or (len(replies) == 1 and not replies[0]):
        return NO_CALL
    try:
        if not _is_same_state(made.world, right.world):
            return OTHER_STATE
    except RecursionError:  # of a folder that was copied into itself
        return CRASH
    left = list(results)
    for result in wanted:
        if result not in left:
            return RESULT_LACKING
        left.remove(result)
    return None


class Side:
    """The services of one side, and the calls that are made to them.

    Args:
        label: The original keeps instances in variables of such names, which get into texts; as long as they are there.
    """

    def __init__(self, label: str, conversation: BfclConversation, world: World) -> None:
        self.world = world
        self._label = re.sub(r"[-./:]", "_", f"{label}_{conversation.id}")

    def result(self, text: str) -> str:
        """What a call written as Python results in, as text."""
        name = text.partition("(")[0].split(".")[-1]
        if name in _FORBIDDEN:
            return f"Error during execution: Function call {name} is not allowed."
        try:
            written = read_call(self._renamed(text))
        except DecodingError as error:
            return f"Error during execution: {error}"
        return self.world.call(*written).text

    def _renamed(self, text: str) -> str:
        head, parenthesis, arguments = text.partition("(")
        return head + parenthesis + _FUNCTION.sub(self._with_label, arguments)

    def _with_label(self, found: re.Match[str]) -> str:
        service = self.world.service_of.get(found[1])
        return found[1] if service is None else f"{self._label}_{service}_instance.{found[1]}"


def _is_same_state(made: World, right: World) -> bool:
    return all(getattr(made.services[service], name) == value for service, name, value in right.attributes())
