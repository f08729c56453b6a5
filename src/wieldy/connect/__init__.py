"""Connections to what lies outside: models behind servers, the embedded one, services, and servers of tools.

Wire spellings are translated here, in both directions, so that the rooms below speak one vocabulary.
Importing this package imports no client library. Below: `core` and `testing`; above: `agent` and `apps`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Loaded before the function of the same name is defined: a package is bound to its name only when it is first loaded.
import wieldy.connect.mcp  # noqa: F401  # pyright: ignore[reportUnusedImport]
from wieldy.connect.serving.client import client
from wieldy.connect.serving.prompts import prompt
from wieldy.connect.serving.resources import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from wieldy.connect.mcp.client.questions import Answerer
    from wieldy.connect.mcp.client.tools import Notice
    from wieldy.connect.mcp.client.toolset import McpToolset
    from wieldy.connect.mcp.config import McpConfig
    from wieldy.connect.mcp.server.server import ToolServer
    from wieldy.connect.rest.in_process import AppToolset
    from wieldy.connect.rest.security import Secret
    from wieldy.connect.rest.service import DocumentSource
    from wieldy.connect.rest.toolset import OpenApiToolset
    from wieldy.connect.serving.calls import CallRules
    from wieldy.connect.serving.keys import Keys
    from wieldy.connect.serving.prompts import Prompt
    from wieldy.connect.serving.resources import Resource
    from wieldy.core.calls import Effect, Trust
    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Model
    from wieldy.core.principals import Principal
    from wieldy.tools.toolset import ToolLike

__all__ = ["asgi", "chat_app", "client", "mcp", "mcp_server", "openapi", "prompt", "resource", "rest_app"]


def openapi(  # noqa: PLR0913 - one parameter for each thing that can be said of a service
    document: DocumentSource,
    *,
    credentials: Mapping[str, Secret] | None = None,
    server: str | None = None,
    variables: Mapping[str, str] | None = None,
    only: Collection[str] | None = None,
    prefix: str = "",
    effects: Mapping[str, Effect] | None = None,
    trust: Trust = "untrusted",
    timeout_s: float = 60.0,
    schema_characters: int = 4000,
    response_bytes: int = 32 * 2**20,
    output_schemas: bool = False,
) -> OpenApiToolset:
    """The operations of a service that an OpenAPI document (2.0, 3.0 or 3.1) describes, as tools.

    Args:
        document: A path, a URL or a dictionary. A set from a URL knows its tools once it is opened.
        credentials: By the names of the document's security schemes: a key, a token or `user:password`; or a dictionary
            with `username` and `password`, or with `client_id`, `client_secret` and perhaps `scope` and `token_url`.
        server: The address to use instead of the document's.
        variables: Values for places in the document's addresses.
        only: Patterns of names of operations, such as `["list_*"]`; all of them if left out.
        prefix: Stands before all names, as in `github__`; patterns are of the names without it.
        effects: What calls do to the world, by patterns of names, where HTTP says too little: `{"search_*": "read"}`.
        trust: Whether strangers may have shaped what the service returns.
        timeout_s: How long one request may take, in seconds.
        schema_characters: How much the schema of one tool may say beyond the names and types of its arguments.
        response_bytes: How much of an answer is read.
        output_schemas: Whether tools say what they return, as typed code needs it.

    Raises:
        UsageError: The document cannot be read, or one of the others does not fit it.
    """
    from wieldy.connect.rest.toolset import OpenApiToolset  # noqa: PLC0415 - it brings an HTTP client along

    return OpenApiToolset(
        document,
        credentials=credentials,
        server=server,
        variables=variables,
        only=only,
        prefix=prefix,
        effects=effects,
        trust=trust,
        timeout_s=timeout_s,
        schema_characters=schema_characters,
        response_bytes=response_bytes,
        output_schemas=output_schemas,
    )


def asgi(
    app: Any,
    *,
    document: JsonObject | None = None,
    credentials: Mapping[str, Secret] | None = None,
    only: Collection[str] | None = None,
    prefix: str = "",
    effects: Mapping[str, Effect] | None = None,
    trust: Trust = "trusted",
    output_schemas: bool = True,
) -> AppToolset:
    """The operations of an application in this process as tools, such as one of FastAPI; nothing goes over the network.

    Args:
        app: An ASGI application.
        document: Its OpenAPI document; an application of FastAPI makes its own.
        credentials: As of `openapi`.
        only: As of `openapi`.
        prefix: As of `openapi`.
        effects: As of `openapi`.
        trust: Whether strangers may have shaped what it returns.
        output_schemas: Whether tools say what they return.

    Raises:
        UsageError: It has no document, or one of the others does not fit it.
    """
    from wieldy.connect.rest.in_process import AppToolset  # noqa: PLC0415 - as above

    return AppToolset(
        app,
        document,
        credentials=credentials,
        only=only,
        prefix=prefix,
        effects=effects,
        trust=trust,
        output_schemas=output_schemas,
    )


def mcp(
    config: McpConfig,
    *,
    trusted: bool | Iterable[str] = (),
    resources: bool = False,
    prompts: bool = False,
    answerer: Answerer | None = None,
    on_notice: Callable[[Notice], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> McpToolset:
    """The tools of servers that speak the Model Context Protocol; none is started before the set is entered.

    Args:
        config: The path of a file with `mcpServers`, what such a file holds, a URL, a command line, a command as a
            list, or a server object of the MCP library.
        trusted: The servers whose hints about their tools count and whose results are not a stranger's words: their
            names, or True for all.
        resources: Whether tools that list and read resources are offered as well.
        prompts: Whether tools that list and fill in prompts are.
        answerer: Answers what a server asks a person; without one such questions are declined.
        on_notice: Hears at once what `notices` collects.
        environment: Where `${NAME}` in the configuration is looked up; this process's own if left out.

    Raises:
        UsageError: The configuration cannot be read.
    """
    from wieldy.connect.mcp.client.toolset import open_toolset  # noqa: PLC0415 - a model connector needs none of it

    return open_toolset(
        config,
        trusted=trusted,
        resources=resources,
        prompts=prompts,
        answerer=answerer,
        on_notice=on_notice,
        environment=environment,
    )


def mcp_server(  # noqa: PLR0913 - one parameter for each thing that can be said of a server
    tools: ToolLike | Iterable[ToolLike] = (),
    *,
    prompts: Iterable[Prompt] = (),
    resources: Iterable[Resource] = (),
    name: str = "wieldy",
    version: str = "",
    instructions: str | None = None,
    rules: CallRules | None = None,
    keys: Keys | Mapping[str, str] | None = None,
    principal: Principal | None = None,
) -> ToolServer:
    """The tools as a server that speaks the Model Context Protocol: `mcp_server(tools).serve_stdio()`.

    Args:
        tools: A toolset, a tool or a function, or several of them.
        prompts: Functions that were made prompts by `prompt`.
        resources: Functions that were made resources by `resource`.
        name: What the server calls itself.
        version: Of the server.
        instructions: For the models that use it.
        rules: What calls are kept to: a policy, a journal, limits, secrets.
        keys: Who may call over HTTP: `Keys`, or keys by name; None for everybody who reaches it.
        principal: On whose behalf calls are made where there are no keys.

    Raises:
        UsageError: The MCP library is not installed or too old, something is no tool, two prompts or resources have one
            name, or a key is too short.
    """
    from wieldy.connect.mcp.server.server import ToolServer  # noqa: PLC0415 - as above
    from wieldy.connect.serving.keys import keys_from  # noqa: PLC0415
    from wieldy.connect.serving.offering import About, offering_of  # noqa: PLC0415

    about = About(name=name, version=version, instructions=instructions)
    offering = offering_of(tools, rules, about, prompts=prompts, resources=resources)
    return ToolServer(offering, keys=keys_from(keys), principal=principal)


def rest_app(
    tools: ToolLike | Iterable[ToolLike],
    *,
    name: str = "wieldy",
    version: str = "",
    rules: CallRules | None = None,
    keys: Keys | Mapping[str, str] | None = None,
    principal: Principal | None = None,
    host: str = "127.0.0.1",
) -> Any:
    """The tools as an HTTP service: an ASGI application with `POST /tools/NAME` and an OpenAPI document.

    Args:
        tools: A toolset, a tool or a function, or several of them.
        name: What the service calls itself.
        version: Of the service.
        rules: What calls are kept to: a policy, a journal, limits, secrets.
        keys: Who may call: `Keys`, or keys by name; None for everybody who reaches it.
        principal: On whose behalf calls are made where there are no keys.
        host: Where it will listen: on the loopback, and without keys, only requests that name it are answered, so that
            no page in a browser can reach it under another name.

    Raises:
        UsageError: Something is no tool, or a key is too short.
    """
    from wieldy.connect.serving.keys import keys_from  # noqa: PLC0415 - as above
    from wieldy.connect.serving.offering import About, offering_of  # noqa: PLC0415
    from wieldy.connect.serving.rest import rest_application  # noqa: PLC0415

    offering = offering_of(tools, rules, About(name=name, version=version))
    return rest_application(offering, keys=keys_from(keys), principal=principal, host=host)


def chat_app(
    model: str | Model,
    *,
    name: str | None = None,
    retries: int = 1,
    keys: Keys | Mapping[str, str] | None = None,
    host: str = "127.0.0.1",
) -> Any:
    """The model as a server of the OpenAI protocol whose tool calls are right: an ASGI application.

    Args:
        model: Who answers: a model, or a string that names one.
        name: What clients call it; its own name if left out.
        retries: How often it is asked again where its reply is not right.
        keys: Who may ask: `Keys`, or keys by name; None for everybody who reaches it.
        host: Where it will listen: on the loopback, and without keys, only requests that name it are answered.

    Raises:
        UsageError: The string names no model, or a key is too short.
    """
    from wieldy.connect.models.resolve import resolve  # noqa: PLC0415 - as above
    from wieldy.connect.serving.chat.application import ChatRules, chat_application  # noqa: PLC0415
    from wieldy.connect.serving.keys import keys_from  # noqa: PLC0415

    rules = ChatRules(name=name, retries=retries)
    return chat_application(resolve(model), rules=rules, keys=keys_from(keys), host=host).app
