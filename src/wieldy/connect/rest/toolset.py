"""The operations of a service as tools: `openapi(document)`.

Deliberately not here: everything that a document says (`service`), and what one call goes through (`calls`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final, get_args

from wieldy.connect.rest.calls import Caller, Page
from wieldy.connect.rest.client import DEFAULT_RESPONSE_BYTES, ServiceClient
from wieldy.connect.rest.fetching import fetch_documents
from wieldy.connect.rest.operations import Diagnostic, Operation
from wieldy.connect.rest.plans import Plan, alternatives_in_words
from wieldy.connect.rest.requests import Request, make_request
from wieldy.connect.rest.responses import presented
from wieldy.connect.rest.schemas import DEFAULT_CHARACTERS
from wieldy.connect.rest.security import Credentials, Scheme, Secret, chosen, unanswerable
from wieldy.connect.rest.service import DocumentSource, Service
from wieldy.core.calls import Effect, ToolAnnotations, ToolDefinition, Trust
from wieldy.core.context import Context
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.schema.rewrite import rewritten
from wieldy.tools import Tool, Toolset
from wieldy.tools.declare import DeclaredEffect
from wieldy.tools.from_schema import tool_from_schema

MAX_DESCRIPTION: Final = 400
"""Of one tool, in characters."""
DEFAULT_TIMEOUT_S: Final = 60.0
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_REPEATABLE: Final = frozenset({"PUT", "DELETE"})


class OpenApiToolset(Toolset):
    """The operations of one service as tools.

    Each operation is looked into when its tool is asked for; one that cannot be used is a diagnostic, and the others go
    on. A document behind a URL, and what a document refers to there, is fetched when the toolset is opened: before, a
    set from a URL has no tools. What `openapi` takes, this takes.
    """

    def __init__(  # noqa: PLR0913 - one parameter for each thing that can be said of a service
        self,
        document: DocumentSource,
        *,
        credentials: Mapping[str, Secret] | None = None,
        server: str | None = None,
        variables: Mapping[str, str] | None = None,
        only: Collection[str] | None = None,
        prefix: str = "",
        effects: Mapping[str, Effect] | None = None,
        trust: Trust = "untrusted",
        timeout_s: float = DEFAULT_TIMEOUT_S,
        schema_characters: int = DEFAULT_CHARACTERS,
        response_bytes: int = DEFAULT_RESPONSE_BYTES,
        output_schemas: bool = False,
    ) -> None:
        self._credentials = Credentials(credentials)
        self._effects = _checked_effects(effects or {})
        self._trust: Trust = _checked_trust(trust)
        self._output_schemas = output_schemas
        self._service = Service(
            document, server=server, variables=variables or {}, only=only, prefix=prefix, characters=schema_characters
        )
        self._client = ServiceClient(timeout_s=timeout_s, max_bytes=response_bytes)
        self._caller = Caller(self._service, self._credentials, self._client)
        self._made: dict[str, Tool] = {}
        super().__init__()
        self._check_credentials()

    def __repr__(self) -> str:
        return f"OpenApiToolset({self._service.documents.root_uri!r}, operations={len(self.operations)})"

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that are meant, in the document's order; not all of them need be usable."""
        return tuple(self._service.operations.values())

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What cannot be used, and why. All of it once all tools were asked for."""
        return self._service.diagnostics

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all operations that can be used, in the document's order."""
        return tuple(tool for name in self._service.operations if (tool := self.get(name)) is not None)

    def get(self, name: str) -> Tool | None:
        """The tool of that name; None if there is no such operation, or it cannot be used."""
        if name not in self._made and (plan := self._service.plan(name)) is not None:
            made = self._make(plan)
            if made is not None:
                self._made[name] = made
        return self._made.get(name)

    def operation(self, name: str) -> Operation | None:
        """The operation behind a tool's name."""
        return self._service.operations.get(name)

    def plan(self, name: str) -> Plan | None:
        """How arguments of that tool become a request."""
        return self._service.plan(name)

    @property
    def scheme_names(self) -> tuple[str, ...]:
        """The security schemes that credentials can be given for."""
        return tuple(self._service.schemes.known) if self._service.is_known else ()

    def schemes_of(self, name: str) -> tuple[Scheme, ...]:
        """The security schemes that a call of that tool answers, or would if it had the credentials."""
        plan = self.plan(name)
        wanted = next((names for names in plan.requirements if names), ()) if plan is not None else ()
        known = self._service.schemes.known
        answered = () if plan is None else chosen(plan.requirements, known, self._credentials)[0]
        return answered or tuple(known[each] for each in wanted if each in known)

    def output_schema(self, name: str) -> JsonObject | None:
        """What a good answer of that tool is, as far as the document says; worked out when asked for."""
        operation = self.operation(name)
        return None if operation is None else self._service.output_schema(operation)

    def request(self, name: str, arguments: JsonObject) -> Request:
        """The request that a call would be, without any secret. Nothing is sent.

        Raises:
            UsageError: There is no such tool, or it has no server.
            ArgumentsError: The arguments do not fit.
        """
        plan, tool = self._usable(name)
        server, reason = self._service.server_of(plan.operation)
        if not server:
            raise UsageError(f"{name}: {reason}")
        return make_request(plan, tool.validate(arguments).json, server=server)

    async def pages(self, name: str, arguments: JsonObject) -> AsyncGenerator[object]:
        """What each page of a list is, one after the other, for as long as the service says that there are more.

        Raises:
            UsageError: There is no such tool, or it does not read.
            ModelVisibleError: A page could not be had.
        """
        plan, tool = self._usable(name)
        if tool.effect != "read":
            raise UsageError(f"Expected a tool that reads a list, found {name!r}, which changes something.")
        following: JsonObject | None = tool.validate(arguments).json
        seen = set[str]()
        while following is not None and canonical_json(following) not in seen:
            seen.add(canonical_json(following))
            page = await self._caller.call(plan, following, effect="read", idempotency_key="")
            yield page.value
            following = page.following

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """Connections stay open, and what has to be fetched is."""
        async with self._client.hold():
            await fetch_documents(self._service)
            self._check_credentials()
            yield

    def _usable(self, name: str) -> tuple[Plan, Tool]:
        tool, plan = self.get(name), self._service.plan(name)
        if tool is None or plan is None:
            operation = self.operation(name)
            place = None if operation is None else operation.place
            why = next((str(each) for each in self.diagnostics if each.place == place), "")
            raise UsageError(f"Expected the name of a tool of this service, found {name!r}. {why}".strip())
        return plan, tool

    def _make(self, plan: Plan) -> Tool | None:
        operation = plan.operation
        server, reason = self._service.server_of(operation)
        if not server:
            self._service.note(reason)  # it can be shown, and a call of it says the same
        for reason in unanswerable(plan.requirements, self._service.schemes):
            self._service.note(f"calls that demand it are sent without it: {reason}")
        effect, is_declared = self._effect_of(plan)
        definition = ToolDefinition(
            name=operation.name,
            description=self._description(plan),
            input_schema=plan.input_schema,
            output_schema=self._service.output_schema(operation) if self._output_schemas else None,
            annotations=ToolAnnotations(
                read_only=effect == "read",
                destructive=_is_destructive(operation, effect),
                idempotent=effect in {"read", "idempotent"} or None,
                open_world=True,
            ),
        )

        async def code(arguments: JsonObject, context: Context) -> object:
            key, name = context.idempotency_key, context.tool_name
            page = await self._caller.call(plan, arguments, effect=effect, idempotency_key=key, name=name)
            return _shown(page, plan)

        make = partial(
            tool_from_schema,
            code=code,
            origin=f"openapi:{operation.method} {server}{operation.path}",
            effect=effect,
            effect_declared=is_declared,
            trust=self._trust,
        )
        try:
            made = _with_or_without_patterns(make, definition)
        except UsageError as error:
            self._service.reject(operation, str(error))
            return None
        return replace(made, risk="high") if operation.method == "DELETE" and effect == "idempotent" else made

    def _description(self, plan: Plan) -> str:
        words = self._service.describe(plan.operation, limit=MAX_DESCRIPTION)
        return " ".join(part for part in (words, alternatives_in_words(plan)) if part)

    def _effect_of(self, plan: Plan) -> tuple[Effect, bool]:
        """What a call does to the world, and whether anybody says so: HTTP does, except of POST and PATCH."""
        operation = plan.operation
        for pattern, effect in self._effects.items():
            if self._service.is_named(operation.name, pattern):
                return effect, True
        if operation.method in _READING:
            return "read", True
        if plan.key is not None:
            return "keyed", True
        return ("idempotent", True) if operation.method in _REPEATABLE else ("unsafe", False)

    def _check_credentials(self) -> None:
        if self._service.is_known:
            self._credentials.check(self._service.schemes)


def _shown(page: Page, plan: Plan) -> object:
    if page.following is None:
        return page.value
    return presented(
        page.value,
        note=f"There is more: for the next page call `{plan.operation.name}` with {canonical_json(page.following)}.",
    )


def _is_destructive(operation: Operation, effect: Effect) -> bool | None:
    if effect == "read":
        return False
    return True if operation.method in _REPEATABLE else None


def _with_or_without_patterns(make: Callable[[ToolDefinition], Tool], definition: ToolDefinition) -> Tool:
    """The tool; without patterns where one of them is no regular expression."""
    try:
        return make(definition)
    except UsageError:
        plain = rewritten(definition.input_schema, _without_pattern)
        return make(replace(definition, input_schema=plain))


def _without_pattern(schema: JsonObject) -> JsonObject:
    return {name: value for name, value in schema.items() if name != "pattern"}


def _checked_effects(effects: Mapping[str, Effect]) -> dict[str, Effect]:
    known = get_args(DeclaredEffect)
    for pattern, effect in effects.items():
        if effect not in known:
            raise UsageError(f"Expected effects= to say {', '.join(known)} of {pattern!r}, found {effect!r}.")
    return dict(effects)


def _checked_trust(trust: Trust) -> Trust:
    if trust not in get_args(Trust):
        raise UsageError(f"Expected trust= to be 'trusted' or 'untrusted', found {trust!r}.")
    return trust
