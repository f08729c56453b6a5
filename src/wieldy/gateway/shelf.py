"""Prompts and resources of a gateway's MCP servers, for the callers who may have them.

A prompt is `source__prompt`, a resource `gateway://source/` and its own address, so each name is of one source and can
be read back to it; the only source of a gateway that keeps its names keeps its addresses too. Filling a prompt in and
reading a resource are calls: of `source__prompt__NAME` and `source__read_resource`, by which the policy and the
patterns of callers know them. Law: a prompt whose definition is not the accepted one is not there; what a resource
holds is data and is not pinned. Deliberately not here: tools (`catalogue`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote, unquote

from wieldy.connect.mcp.client.toolset import McpToolset
from wieldy.connect.mcp.names import offered_name
from wieldy.connect.serving.calls import CallRules, answer
from wieldy.connect.serving.client import ProtocolRefusalError
from wieldy.connect.serving.shelf import INVALID_PARAMS, Kind, no_such_prompt, no_such_resource, structured
from wieldy.core.calls import ToolAnnotations, ToolDefinition
from wieldy.core.errors import ToolError, UsageError
from wieldy.gateway.catalogue import PROMPT, READ_RESOURCE, Listed
from wieldy.gateway.pins import Definition
from wieldy.run.policy import permitted
from wieldy.tools.from_schema import tool_from_schema
from wieldy.tools.present import Presented

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.core.principals import Principal
    from wieldy.gateway.catalogue import Catalogue
    from wieldy.gateway.config import Caller
    from wieldy.gateway.sources import Source
    from wieldy.tools import Tool
    from wieldy.tools.from_schema import Code

SCHEME: Final = "gateway://"
PINNED: Final = ("name", "title", "description", "arguments")
_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
_CAPABILITIES: Final = ("prompts", "resources", "completions")
_URI: Final[JsonObject] = {"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPrompt:
    """A prompt of a server.

    Attributes:
        listed: The tool that fills it in, its definition, and whether that was accepted.
    """

    source: Source
    toolset: McpToolset
    own: str
    listed: Listed

    @property
    def name(self) -> str:
        """The gateway's name for it."""
        return self.own if self.source.prefix is None else offered_name(self.source.prefix, self.own)

    def is_for(self, caller: Caller) -> bool:
        """Whether the caller may have it."""
        return self.listed.is_callable and self.listed.is_shown_to(caller)


class GatewayShelf:
    """Implements `Shelf`.

    Args:
        catalogue: Its sources, what was accepted, and what must never be shown.
        rules: What calls are kept to.
        caller_of: Who a principal is here.
    """

    def __init__(self, catalogue: Catalogue, rules: CallRules, caller_of: Callable[[Principal | None], Caller]) -> None:
        self._catalogue = catalogue
        self._rules = rules
        self._caller_of = caller_of

    @property
    def has(self) -> frozenset[str]:
        """What some server has that is there now."""
        infos = (
            info
            for source in self._catalogue.sources
            for toolset in source.toolsets.values()
            if isinstance(toolset, McpToolset)
            for info in toolset.servers.values()
        )
        return frozenset(what for info in infos for what in _CAPABILITIES if info.offers(what))

    async def prompts(self, principal: str) -> list[ListedPrompt]:
        """All prompts that a principal's requests could reach, as the servers list them now."""
        self._catalogue.pins.look()
        found: list[ListedPrompt] = []
        for source, toolset in self._servers(principal):
            for said in await _listed(toolset.prompts()):
                if isinstance(said.get("name"), str):
                    found.append(self._prompt(source, toolset, said))
        return found

    async def listed(self, kind: Kind, *, principal: Principal | None) -> Sequence[JsonObject]:
        """As `Shelf`."""
        caller = self._caller_of(principal)
        if kind == "prompts":
            return [
                {**each.listed.definition.said, "name": each.name}
                for each in await self.prompts(caller.principal.name)
                if each.is_for(caller)
            ]
        found: list[JsonObject] = []
        async for source, entry in self._resources(kind, caller):
            place = "uri" if kind == "resources" else "uriTemplate"
            found.append({**entry, place: outward(source, str(entry[place]))})
        return found

    async def get_prompt(self, name: str, arguments: Mapping[str, str], *, principal: Principal | None) -> JsonObject:
        """As `Shelf`."""
        caller = self._caller_of(principal)
        found = await self._known_prompt(name, caller)
        return await self._run(found.listed.tool, dict(arguments), caller)

    async def read_resource(self, uri: str, *, principal: Principal | None) -> JsonObject:
        """As `Shelf`."""
        caller = self._caller_of(principal)
        source, toolset, own = self._place(uri, caller)
        try:
            return await self._run(_reader(source, toolset), {"uri": own}, caller)
        except ProtocolRefusalError as error:
            data = error.data
            if isinstance(data, dict) and data.get("uri") == own:
                data = {**data, "uri": uri}
            raise ProtocolRefusalError(str(error), code=error.code, data=data) from error

    async def complete(self, params: JsonObject, *, principal: Principal | None) -> JsonObject:
        """As `Shelf`."""
        caller = self._caller_of(principal)
        reference = cast("JsonObject", params["ref"])
        if "uri" in reference:
            _, toolset, own = self._place(str(reference["uri"]), caller)
            meant: JsonObject = {**reference, "uri": own}
        else:
            found = await self._known_prompt(str(reference.get("name")), caller)
            toolset, meant = found.toolset, {**reference, "name": found.own}
        try:
            return await toolset.ask("completion/complete", {**params, "ref": meant})
        except ToolError as error:
            raise ProtocolRefusalError(str(error), code=INVALID_PARAMS) from error

    async def subscribe(self, uri: str, *, principal: Principal | None) -> None:
        """As `Shelf`."""
        _, toolset, own = self._place(uri, self._caller_of(principal))
        try:
            await toolset.watch(own)
        except ToolError as error:
            raise ProtocolRefusalError(str(error), code=INVALID_PARAMS) from error

    # Parts

    def _servers(self, principal: str) -> list[tuple[Source, McpToolset]]:
        pairs = ((source, source.toolset_for(principal)) for source in self._catalogue.sources)
        return [(source, toolset) for source, toolset in pairs if isinstance(toolset, McpToolset)]

    def _prompt(self, source: Source, toolset: McpToolset, said: JsonObject) -> ListedPrompt:
        pinned: JsonObject = {name: said[name] for name in PINNED if said.get(name) is not None}
        shown = cast("JsonObject", self._catalogue.mask.value(pinned))
        own = str(shown["name"])
        definition = Definition(source=source.name, original=f"prompts/{own}", said=shown)
        listed = Listed(
            tool=_filler(source, toolset, shown),
            title=None,
            definition=definition,
            state="secret" if shown != pinned else self._catalogue.state_of(source, definition),
        )
        return ListedPrompt(source=source, toolset=toolset, own=own, listed=listed)

    async def _known_prompt(self, name: str, caller: Caller) -> ListedPrompt:
        for each in await self.prompts(caller.principal.name):
            if each.name == name and each.is_for(caller):
                return each
        raise no_such_prompt(name)

    async def _resources(self, kind: Kind, caller: Caller) -> AsyncIterator[tuple[Source, JsonObject]]:
        for source, toolset in self._servers(caller.principal.name):
            if _may(_reader(source, toolset), caller):
                asked = toolset.resources() if kind == "resources" else toolset.resource_templates()
                for entry in await _listed(asked):
                    if self._catalogue.mask.value(entry) == entry:  # what holds a credential is shown to nobody
                        yield source, entry

    def _place(self, uri: str, caller: Caller) -> tuple[Source, McpToolset, str]:
        """Whose resource it is, and its own address.

        Raises:
            ProtocolRefusalError: Nobody's that this caller may know.
        """
        for source, toolset in self._servers(caller.principal.name):
            own = inward(source, uri)
            if own is not None and _may(_reader(source, toolset), caller):
                return source, toolset, own
        raise no_such_resource(uri)

    async def _run(self, tool: Tool, arguments: JsonObject, caller: Caller) -> JsonObject:
        return structured(
            await answer(tool.name, arguments, {tool.name: tool}, self._rules, principal=caller.principal)
        )


def outward(source: Source, uri: str) -> str:
    """The gateway's address for a resource, or for a template of addresses."""
    return uri if source.prefix is None else f"{SCHEME}{quote(source.prefix, safe='')}/{uri}"


def inward(source: Source, uri: str) -> str | None:
    """The source's own address; None if it is another one's."""
    if source.prefix is None:
        return uri
    name, slash, own = uri.removeprefix(SCHEME).partition("/")
    return own if uri.startswith(SCHEME) and slash and unquote(name) == source.prefix else None


def outward_content(source: Source, value: JsonValue) -> JsonValue:
    """Content in which the addresses of resources are the gateway's."""
    match value:
        case {"type": "resource", "resource": {"uri": str(uri), **more}, **rest}:
            return {"type": "resource", "resource": {"uri": outward(source, uri), **more}, **rest}
        case {"type": "resource_link", "uri": str(uri), **rest}:
            return {"type": "resource_link", "uri": outward(source, uri), **rest}
        case _:
            return value


def _filler(source: Source, toolset: McpToolset, said: JsonObject) -> Tool:
    """Fills a prompt in."""
    own = str(said["name"])

    async def fill(arguments: JsonObject, context: Context) -> Presented:
        del context
        result = _without_server(await toolset.ask("prompts/get", {"name": own, "arguments": arguments}))
        messages = result.get("messages")
        if isinstance(messages, list):
            result["messages"] = [_outward_message(source, message) for message in messages]
        return Presented(text=f"The prompt {own!r}, filled in.", structured=result)

    given = said.get("arguments")
    entries = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
    required: list[JsonValue] = [entry["name"] for entry in entries if entry.get("required") is True]
    schema: JsonObject = {
        "type": "object",
        "properties": {str(entry["name"]): {"type": "string"} for entry in entries},
        "required": required,
    }
    return _reading(source, f"{PROMPT}{own}", f"Fill in the prompt {own!r}.", schema, fill)


def _reader(source: Source, toolset: McpToolset) -> Tool:
    """Reads the resources of a source."""

    async def read(arguments: JsonObject, context: Context) -> Presented:
        del context
        result = _without_server(await toolset.ask("resources/read", {"uri": arguments["uri"]}))
        contents = result.get("contents")
        if isinstance(contents, list):
            result["contents"] = [
                {**item, "uri": outward(source, str(item["uri"]))} if isinstance(item, dict) and "uri" in item else item
                for item in contents
            ]
        return Presented(text="The resource.", structured=result)

    return _reading(source, READ_RESOURCE, "Read a resource.", _URI, read)


def _reading(source: Source, name: str, description: str, schema: JsonObject, code: Code) -> Tool:
    definition = ToolDefinition(
        name=offered_name(source.prefix, name),
        description=description,
        input_schema=schema,
        annotations=ToolAnnotations(read_only=True),
    )
    origin = f"mcp:{source.name}#({name})"
    return tool_from_schema(definition, code, origin=origin, effect="read", trust="untrusted")


def _without_server(result: JsonObject) -> JsonObject:
    """The result without the name of who has answered: here that is the gateway."""
    meta = result.get("_meta")
    if not isinstance(meta, dict):
        return result
    return {**result, "_meta": {key: said for key, said in meta.items() if key != _SERVER_INFO}}


def _outward_message(source: Source, message: JsonValue) -> JsonValue:
    if not isinstance(message, dict) or "content" not in message:
        return message
    return {**message, "content": outward_content(source, message["content"])}


def _may(tool: Tool, caller: Caller) -> bool:
    return (
        any(fnmatchcase(tool.name, pattern) for pattern in caller.tools) and permitted(tool, caller.principal) is None
    )


async def _listed(asked: Awaitable[list[JsonObject]]) -> list[JsonObject]:
    """What a server lists; nothing where it does not answer."""
    try:
        return await asked
    except (ToolError, UsageError):
        return []
