"""The conversations whose memory a question is about: run once, and what the memory then is kept in the journal.

For each configuration, trial, kind of memory and scenario there is one chain of conversations, each a run for every
message, and behind each conversation a run of one call that records what is in the memory. Its id is made from what it
is of, so whoever needs the memory finds it, and a chain that was broken off goes on behind its last whole conversation.
Law: what one chain has kept is in no other one, and no question changes it. A conversation that a provider or we
ourselves broke off keeps nothing; the next question that needs it tries it again. Deliberately not here: questions.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import anyio

from wieldy.core.errors import RunBusyError
from wieldy.core.json import JsonObject, sha256
from wieldy.core.messages import Message
from wieldy.evals.bfcl.conversations.running import LIMITS, RESULTS, tools_in
from wieldy.evals.cases.conversations import Said, converse
from wieldy.evals.tasks.environments import BESIDE, LOOK, LOOKING, end_state, look_tool, looking_model
from wieldy.run.journal import kinds
from wieldy.run.loop import run
from wieldy.run.policy import allow_all
from wieldy.run.request import RunRequest
from wieldy.tools import tools_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.agent import Agent
    from wieldy.core.ports import Entry, Lease
    from wieldy.evals.bfcl.conversations.worlds import World
    from wieldy.evals.bfcl.memory.data import Earlier, Scenario
    from wieldy.evals.cases.case import Attempt
    from wieldy.run.state import RunState

EARLIER: Final = "earlier_conversation"
"""The member of a run's metadata by which one is known that fills a memory; its value is the conversation's id."""
_PATIENCE_S: Final = 0.5
"""After which it is asked again whether somebody else has filled the memory, in seconds."""


class Filled(NamedTuple):
    """What came of the conversations before.

    Attributes:
        kept: What is in the memory; None where it is not known.
        run: The run that has recorded it; where it is not known, the one that was broken off.
    """

    kept: JsonObject | None
    run: str


async def filled(scenario: Scenario, attempt: Attempt) -> Filled:
    """The memory after all conversations, which are run as far as they were not before.

    Raises:
        JournalError: Something could not be recorded.
    """
    chain = _Chain(scenario, attempt)
    lease = await chain.lease()
    try:
        return await chain.go_on()
    finally:
        lease.release()


class _Chain:
    def __init__(self, scenario: Scenario, attempt: Attempt) -> None:
        self._scenario = scenario
        self._attempt = attempt
        of = {name: attempt.metadata.get(name) for name in ("eval", "configuration", "trial")}
        self._name = f"{of}/{scenario.identity}"

    async def lease(self) -> Lease:
        """Nobody else fills this memory, here or in another process of this machine."""
        journal, name = self._attempt.journal, _id_of(self._name)
        while True:
            if journal.holder(name) is None:  # to look writes nothing
                with suppress(RunBusyError):
                    return journal.lease(name)
            await anyio.sleep(_PATIENCE_S)

    async def go_on(self) -> Filled:
        kept, place = dict[str, Any](), ""
        for at, earlier in enumerate(self._scenario.earlier):
            entries = self._kept_behind(at)
            if entries is None:
                world = self._scenario.world(kept)
                broken = await self._converse(earlier, world)
                if broken is not None:
                    return Filled(None, broken)
                entries = await self._keep(at, earlier, world)
            kept, place = cast("JsonObject", end_state(entries).value), entries[0].run_id
        return Filled(kept, place)

    def _kept_behind(self, at: int) -> Sequence[Entry] | None:
        return next((each for each in self._looks(at) if _is_whole(each)), None)

    def _looks(self, at: int) -> list[Sequence[Entry]]:
        """The entries of every run that looked at the memory behind this conversation; the last may be torn."""
        every = (self._attempt.journal.read(self._id_of_look(at, number)) for number in count())
        return list(takewhile(len, every))

    def _id_of_look(self, at: int, number: int) -> str:
        return _id_of(f"{self._name}/{at}/{number}")

    async def _converse(self, earlier: Earlier, world: World) -> str | None:
        """The id of a run that failed; None if the conversation came to its end, or its model to a limit."""
        left = iter(earlier.said)
        told = Message.system(self._scenario.told(world, is_asked=False))
        agent = agent_with(world, self._scenario, self._attempt, **{EARLIER: earlier.id})

        async def user(before: RunState | None) -> Said | None:
            is_over = before is not None and before.stop_reason != "answered"
            said = None if is_over else next(left, None)
            if said is None:
                return None
            return Said(messages=[*([] if before else [told]), Message.user(said)], agent=agent)

        ids = await converse(user)
        return None if _is_whole(self._attempt.journal.read(ids[-1])) else ids[-1]

    async def _keep(self, at: int, earlier: Earlier, world: World) -> Sequence[Entry]:
        kept = self._scenario.kept(world)

        async def look() -> JsonObject:
            return kept

        request = RunRequest(
            model=looking_model(),
            toolset=tools_from([look_tool(look)]),
            journal=self._attempt.journal,
            messages=(Message.user(LOOKING),),
            policy=allow_all,
            metadata={**self._attempt.metadata, BESIDE: LOOK, EARLIER: earlier.id},
            run_id=self._id_of_look(at, len(self._looks(at))),
        )
        await run(request)
        return self._attempt.journal.read(request.run_id)


def agent_with(world: World, scenario: Scenario, attempt: Attempt, **about: str) -> Agent:
    """An agent whose tools are those of the memory.

    Args:
        world: The memory.
        scenario: Whose memory it is.
        attempt: With what it is run.
        about: What is recorded of its runs besides.
    """
    own = replace(attempt, metadata={**attempt.metadata, **about})
    return own.agent(tools_in(scenario.functions, world), limits=LIMITS, policy=allow_all, results=RESULTS)


def _is_whole(entries: Sequence[Entry]) -> bool:
    """Whether a run came to an end, be it by a limit."""
    return any(entry.kind == kinds.RUN_FINISHED for entry in entries)


def _id_of(name: str) -> str:
    return sha256(name)[:16]
