"""A call through the gateway: whose it is, whether its tool is callable for them, and what came of it.

Every call is a run in the journal, on behalf of its principal, also one that is refused. Where a person must consent,
the call waits for them for a while; afterwards its caller is told to make the same call again, which goes on with the
same run. Deliberately not here: what is offered (`catalogue`), and how calls come in (`application`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import anyio

from wieldy.connect.serving.calls import Answered, CallRules, answer, go_on
from wieldy.connect.serving.offering import About, Offered, waiting_result
from wieldy.core.foreign import single
from wieldy.core.json import canonical_json
from wieldy.gateway.catalogue import Catalogue
from wieldy.gateway.config import EVERYBODY
from wieldy.gateway.pins import Pins
from wieldy.gateway.sources import LoadFunctions, sources_of
from wieldy.run.consent import Consent
from wieldy.run.loop import nothing
from wieldy.run.policy import Deny
from wieldy.run.results.masks import Mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyio.abc import TaskGroup

    from wieldy.core.calls import ToolResult
    from wieldy.core.events import RunEvent
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal
    from wieldy.core.principals import Principal
    from wieldy.gateway.catalogue import Listed
    from wieldy.gateway.config import Caller, GatewayConfig
    from wieldy.run.policy import Policy, Proposal
    from wieldy.tools import Tool

_LOOK_AGAIN_S: Final = 0.25
"""How often the journal is asked whether a person has decided, in seconds: they do so in another process."""

_MOST_WAITING: Final = 1000
"""How many calls may wait for people; of more, the oldest are asked anew when they are made again."""


class Gateway:
    """An offering of all that a configuration names.

    Args:
        config: What there is.
        journal: Where calls are recorded.
        environment: Where `${NAME}` of MCP servers is looked up.
        load_functions: Reads a Python file with tools.
        tell: Hears what a person should know.

    Raises:
        UsageError: Something cannot be as it is configured.
    """

    def __init__(
        self,
        config: GatewayConfig,
        *,
        journal: Journal,
        environment: Mapping[str, str],
        load_functions: LoadFunctions,
        tell: Callable[[str], None] = lambda said: None,
    ) -> None:
        self.config = config
        self._tell = tell
        self._mask = Mask({})
        self.sources = sources_of(config, environment=environment, load_functions=load_functions, tell=self._hear)
        self._listeners: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._tasks: TaskGroup | None = None
        secrets = {name: value for source in self.sources for name, value in source.secrets.items()}
        self._mask = Mask(secrets)
        self.catalogue = Catalogue(self.sources, Pins(config.pins), self._mask)
        self._journal = journal
        self._consent = Consent(journal)
        self._rules = CallRules(policy=config.policy, journal=journal, masked=secrets)
        self._waiting: dict[str, str] = {}  # the run of a call that waits for a person, by what the call is
        self._locks: dict[str, anyio.Lock] = {}

    @property
    def about(self) -> About:
        """What it says of itself."""
        return About(name="wieldy gateway", version=version("wieldy"), instructions=self.config.instructions)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Each source is open, or was tried and will be again."""
        self.catalogue.pins.refresh()
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                async with anyio.create_task_group() as starting:
                    for source in self.sources:
                        for owner in source.toolsets:
                            starting.start_soon(tasks.start, source.keep_open, owner, self._hear)
                yield
                self._tasks = None
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:  # as groups of tasks raise what was raised among them
            raise single(group) from None

    def on_change(self, listener: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """The listener hears from now on when what is offered may have changed."""
        self._listeners.append(listener)

    def offered_to(self, principal: Principal | None) -> Sequence[Offered]:
        """What this caller may call."""
        known = self.catalogue.for_caller(self._caller(principal)).values()
        return [Offered(tool=each.tool, title=each.title) for each in known if each.is_callable]

    def find(self, name: str) -> Tool | None:
        """The tool of that name, whoever may call it."""
        for caller in self.config.callers.values():
            listed = self.catalogue.for_caller(caller).get(name)
            if listed is not None:
                return listed.tool
        return None

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        *,
        principal: Principal | None = None,
        emit: Callable[[RunEvent], None] = nothing,
    ) -> ToolResult:
        """As `Offering`."""
        caller = self._caller(principal)
        listed = self.catalogue.for_caller(caller)
        key = canonical_json([caller.principal.name, name, arguments])
        if key in self._waiting:
            return await self._go_on(key, name, arguments, listed, caller, emit)
        tools, rules = _callable(name, listed, self._rules)
        answered = await answer(name, arguments, tools, rules, principal=caller.principal, emit=emit)
        if answered.result is not None:
            return answered.result
        self._remember(key, answered.run_id)
        return await self._go_on(key, name, arguments, listed, caller, emit)

    # Waiting for people

    async def _go_on(
        self,
        key: str,
        name: str,
        arguments: JsonObject,
        listed: Mapping[str, Listed],
        caller: Caller,
        emit: Callable[[RunEvent], None],
    ) -> ToolResult:
        """What came of the call once somebody has decided; until then, that it waits."""
        async with self._locks.setdefault(key, anyio.Lock()):
            run_id = self._waiting.get(key)
            if run_id is None:  # the same call, made at the same time, has brought it to its end
                return await self.call(name, arguments, principal=caller.principal, emit=emit)
            await self._until_decided(run_id)
            tools, rules = _callable(name, listed, self._rules)
            answered = await go_on(run_id, name, arguments, tools, rules, principal=caller.principal, emit=emit)
            if answered.result is not None:
                self._forget(key)
                return answered.result
        return _still_waiting(name, answered)

    async def _until_decided(self, run_id: str) -> None:
        with anyio.move_on_after(self.config.wait_s):
            while self._consent.pending(run_id):  # noqa: ASYNC110 - another process writes the answer
                await anyio.sleep(_LOOK_AGAIN_S)

    def _remember(self, key: str, run_id: str) -> None:
        self._waiting[key] = run_id
        while len(self._waiting) > _MOST_WAITING:
            self._forget(next(iter(self._waiting)))

    def _forget(self, key: str) -> None:
        self._waiting.pop(key, None)
        self._locks.pop(key, None)

    # Parts

    def _caller(self, principal: Principal | None) -> Caller:
        return self.config.callers[EVERYBODY if principal is None else principal.name]

    def _hear(self, said: str) -> None:
        """What a source has to say: a person is told, and whoever is shown the catalogue looks again."""
        self._tell(self._mask.text(said))
        if self._tasks is not None:
            for listener in self._listeners:
                self._tasks.start_soon(listener)


def _callable(name: str, listed: Mapping[str, Listed], rules: CallRules) -> tuple[dict[str, Tool], CallRules]:
    """What the call may reach, and what it is kept to: a tool that is not callable is denied, which is recorded."""
    meant = listed.get(name)
    if meant is not None and not meant.is_callable:
        return {name: meant.tool}, replace(rules, policy=_denying(meant))
    return {each.name: each.tool for each in listed.values() if each.is_callable}, rules


def _denying(listed: Listed) -> Policy:
    def deny(proposal: Proposal) -> Deny:
        del proposal
        return Deny(f"{listed.why_not}, which is for the gateway's operator to do")

    return deny


def _still_waiting(name: str, answered: Answered) -> ToolResult:
    request = answered.waiting[0]
    return waiting_result(
        name,
        request.reason,
        then=(
            f"Somebody can give it with `wieldy approve {request.run_id} {request.call_id}`; then make the same call "
            "again."
        ),
    )
