"""A conversation with a user: one run for each message of theirs, each going on from the history of the one before.

Law: a run begins with exactly what the run before it left, which is read from the journal, and then what the user says
next; so the entries of the runs are all that a verdict needs. The conversation is over where the user has no more to
say, where a run came to no end from which one can go on, and at `most_turns`. Deliberately not here: what users say
(each benchmark knows its own), and verdicts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from wieldy.evals.cases.recorded import recorded
from wieldy.run.state import RunState, fold

if TYPE_CHECKING:
    from wieldy.agent import Agent
    from wieldy.core.messages import Message

MOST_TURNS: Final = 100
"""Messages of the user, unless something else is said: nothing goes on for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a user says, and to whom.

    Attributes:
        messages: Added to the history; usually one of the user. A system message may only be the very first.
        agent: Answers: its tools are those that the model has from now on. Its journal is read for the history.
    """

    messages: Sequence[Message | Mapping[str, Any]]
    agent: Agent


User: TypeAlias = "Callable[[RunState | None], Awaitable[Said | None]]"
"""Says what comes next, given what became of the run before (None at the beginning); None to end the conversation."""


async def converse(user: User, *, most_turns: int = MOST_TURNS) -> list[str]:
    """The ids of the runs, in order; whatever stopped one is in its journal.

    Raises:
        UsageError: A run cannot begin as it is asked for.
        JournalError: It could not be recorded that one began, or what became of it cannot be read.
        Exception: Whatever `user` raises.
    """
    ids, before = list[str](), None
    while len(ids) < most_turns:
        said = await user(before)
        if said is None:
            break
        history = () if before is None else before.messages
        ids.append(await recorded(said.agent, [*history, *said.messages]))
        before = fold(said.agent.journal.read(ids[-1]))
        if before.status != "finished":  # there is no answer after which a user could speak
            break
    return ids
