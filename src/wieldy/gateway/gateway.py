"""A call through the gateway: whose it is, whether its tool is callable for them, and what came of it.

Every call is a run in the journal, on behalf of its principal, also one that is refused. Where a person must consent,
the call waits for them for a while; afterwards its caller is told to make the same call again, which goes on with the
same run. Deliberately not here: what is offered (`catalogue`), and how calls come in (`application`).
"""

from __future__ import annotations

import shlex
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import anyio

from wieldy.connect.serving.calls import CallRules, answer, go_on
from wieldy.connect.serving.client import client_if_any
from wieldy.connect.serving.offering import About, Offered, told
from wieldy.core.errors import UsageError
from wieldy.core.foreign import single
from wieldy.gateway.catalogue import Catalogue
from wieldy.gateway.config import EVERYBODY
from wieldy.gateway.pins import Pins
from wieldy.gateway.shelf import GatewayShelf, outward, outward_content
from wieldy.gateway.sources import LoadFunctions, sources_of
from wieldy.gateway.waiting import SameCall, Waiting
from wieldy.run.consent import Consent
from wieldy.run.journal import is_url
from wieldy.run.loop import nothing
from wieldy.run.policy import Deny
from wieldy.run.results.masks import Mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyio.abc import TaskGroup

    from wieldy.connect.serving.shelf import Change
    from wieldy.core.approvals import ApprovalRequest
    from wieldy.core.calls import ToolResult
    from wieldy.core.events import RunEvent
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Journal
    from wieldy.core.principals import Principal
    from wieldy.gateway.catalogue import Known, Listed
    from wieldy.gateway.config import Caller, GatewayConfig
    from wieldy.run.policy import Policy, Proposal
    from wieldy.tools import Tool

_LOOK_AGAIN_S: Final = 0.25
"""How often the journal is asked whether a person has decided, in seconds: they do so in another process."""


class Audience(Protocol):
    """Who listens for changes."""

    async def tell_change(self, what: Change, *, principal: str | None = None) -> None:
        """A list has changed, for one principal or for all."""
        ...

    async def tell_update(self, uri: str, *, principal: str | None = None) -> None:
        """What stands under this address has changed, for one principal or for all."""
        ...


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
        self.sources = sources_of(
            config, environment=environment, load_functions=load_functions, tell=self._hear, changed=self._changed
        )
        self._audience: Audience | None = None
        self._tasks: TaskGroup | None = None
        secrets = {name: value for source in self.sources for name, value in source.secrets.items()}
        self._mask = Mask(secrets)
        self.catalogue = Catalogue(self.sources, Pins(config.pins, tell=self._hear), self._mask)
        self._journal = journal
        self._consent = Consent(journal)
        self._rules = CallRules(policy=config.policy, journal=journal, masked=secrets)
        self._waiting = Waiting()
        self.shelf = GatewayShelf(self.catalogue, self._rules, self._caller)

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

    def tell_to(self, audience: Audience) -> None:
        """Whoever listens there hears from now on when what is offered may have changed."""
        self._audience = audience

    def offered_to(self, principal: Principal | None) -> Sequence[Offered]:
        """What this caller may call."""
        caller = self._caller(principal)
        listed = self.catalogue.for_caller(caller).listed.values()
        for source in sorted({each.definition.source for each in listed if each.state == "changed"}):
            if self._tasks is not None:  # it may have been taken back since; who listens is told if so
                self._tasks.start_soon(self.catalogue.look_again, source, caller)
        return [Offered(tool=each.tool, title=each.title) for each in listed if each.is_callable]

    def find(self, name: str, *, principal: Principal | None) -> Tool | None:
        """The tool that this caller means by that name, callable or not."""
        listed = self.catalogue.for_caller(self._caller(principal)).listed.get(name)
        return None if listed is None else listed.tool

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
        known = await self.catalogue.looked_up(name, caller)
        same = SameCall.of(caller.principal.name, name, arguments)
        if self._waiting.run_of(same) is not None:
            return await self._go_on(same, name, arguments, known, caller, emit)
        tools, rules = _callable(name, known, self._rules)
        answered = await answer(name, arguments, tools, rules, principal=caller.principal, emit=emit)
        if answered.result is not None:
            self._pass_on_content(known.listed.get(name))
            return answered.result
        self._waiting.add(same, answered.run_id)
        return await self._go_on(same, name, arguments, known, caller, emit)

    # Waiting for people

    async def _go_on(
        self,
        same: SameCall,
        name: str,
        arguments: JsonObject,
        known: Known,
        caller: Caller,
        emit: Callable[[RunEvent], None],
    ) -> ToolResult:
        """What came of the call once somebody has decided; until then, that it waits."""
        await self._until_decided(self._waiting.run_of(same))  # beside equal calls, not after them
        async with self._waiting.lock(same):
            run_id = self._waiting.run_of(same)
            if run_id is None:  # the same call, made at the same time, has brought it to its end
                return await self.call(name, arguments, principal=caller.principal, emit=emit)
            tools, rules = _callable(name, known, self._rules)
            answered = await go_on(run_id, name, arguments, tools, rules, principal=caller.principal, emit=emit)
            if answered.result is not None:
                self._waiting.end(same)
                self._pass_on_content(known.listed.get(name))
                return answered.result
        return told(name, answered, then=partial(_how_to_consent, self.config))

    async def _until_decided(self, run_id: str | None) -> None:
        with anyio.move_on_after(self.config.wait_s):
            while run_id is not None and self._consent.pending(run_id):  # noqa: ASYNC110 - another process answers
                await anyio.sleep(_LOOK_AGAIN_S)

    # Parts

    def _pass_on_content(self, called: Listed | None) -> None:
        """What a server has answered goes to the client block for block, with the gateway's addresses of resources."""
        client = client_if_any()
        if client is None or client.content is None or called is None:
            return
        source = next(each for each in self.sources if each.name == called.definition.source)
        client.content = [outward_content(source, self._mask.value(block)) for block in client.content]

    def _caller(self, principal: Principal | None) -> Caller:
        caller = self.config.callers.get(EVERYBODY if principal is None else principal.name)
        if caller is None or (principal is None and caller.key_digest is not None):
            raise UsageError("Expected one of this gateway's principals to call, found somebody else.")
        return caller

    def _hear(self, said: str) -> None:
        """What a source has to say: a person is told, and whoever is shown the catalogue looks again."""
        self._tell(self._mask.text(said))
        if self._tasks is not None and self._audience is not None:
            self._tasks.start_soon(partial(self._audience.tell_change, "tools"))

    def _changed(self, source: str, principal: str | None, what: str) -> None:
        """A source says that its prompts or resources have changed, or one resource."""
        if self._tasks is None or self._audience is None:
            return
        if what in ("tools", "prompts", "resources"):
            self._tasks.start_soon(partial(self._audience.tell_change, what, principal=principal))
            return
        uri = next(outward(each, what) for each in self.sources if each.name == source)
        self._tasks.start_soon(partial(self._audience.tell_update, uri, principal=principal))


def _callable(name: str, known: Known, rules: CallRules) -> tuple[Mapping[str, Tool], CallRules]:
    """What the call may reach, and what it is kept to: a tool that is not callable is denied, which is recorded."""
    meant = known.listed.get(name)
    if meant is not None and not meant.is_callable:
        return {name: meant.tool}, replace(rules, policy=_denying(meant))
    return known.tools, rules


def _denying(listed: Listed) -> Policy:
    def deny(proposal: Proposal) -> Deny:
        del proposal
        return Deny(f"{listed.why_not}; only the gateway's operator can change that")

    return deny


def _how_to_consent(config: GatewayConfig, request: ApprovalRequest) -> str:
    command = f"wieldy approve {request.run_id} {request.call_id}{_option(config)}"
    return (
        f"Somebody can give it where the gateway's configuration is, with `{command}`; then make the same call again."
    )


def _option(config: GatewayConfig) -> str:
    """What tells a command in the folder of the configuration which journal is meant."""
    if config.journal is None:
        return ""
    if is_url(str(config.journal)):
        return " --journal URL"  # a password may stand in it
    file, folder = Path(config.journal).absolute(), config.references.folder
    return f" --journal {shlex.quote(str(file.relative_to(folder) if file.is_relative_to(folder) else file))}"
