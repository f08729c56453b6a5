"""The client that the official conformance suite drives: `wieldy.connect.mcp`, told by each scenario what to do.

The suite starts this program once for each scenario, with the address of its server as the last argument:

    npx @modelcontextprotocol/conformance@0.2.0-alpha.12 client --requirements 2026-07-28 \
        --command "python conformance/mcp/client.py"

What a scenario wants beyond listing tools and calling them stands in `MCP_CONFORMANCE_CONTEXT`. Logging in is the SDK's
(`auth` of a server); the person in front of the browser is played here, by following the redirect.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

import wieldy
from wieldy.connect.mcp.client.questions import Question
from wieldy.connect.mcp.client.tools import McpTool
from wieldy.connect.mcp.client.toolset import McpToolset
from wieldy.schema import CompiledSchema, example

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "tools_call")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
REDIRECT = "http://localhost:3000/callback"
METADATA_URL = "https://conformance-test.local/client-metadata.json"


class Storage:
    """What an authorization server has given, for as long as this program runs."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, if there are any."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """The tokens are kept."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Who we are to the server, if it was said."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """That is kept."""
        self.client = client_info


class Browser:
    """A person who consents: follows the link, and hands back what the redirect brings."""

    def __init__(self) -> None:
        self._answer: AuthorizationCodeResult | None = None

    async def go_to(self, url: str) -> None:
        """The person follows the link and consents."""
        async with httpx2.AsyncClient() as client:
            response = await client.get(url, follow_redirects=False)
        query = parse_qs(urlsplit(response.headers["location"]).query)
        self._answer = AuthorizationCodeResult(
            code=query["code"][0], state=query.get("state", [None])[0], iss=query.get("iss", [None])[0]
        )

    async def answer(self) -> AuthorizationCodeResult:
        """What the redirect brought."""
        assert self._answer is not None
        return self._answer


def login(url: str) -> httpx2.Auth:
    """How this scenario logs in."""
    storage = Storage()
    if SCENARIO == "auth/client-credentials-basic":
        return ClientCredentialsOAuthProvider(
            server_url=url,
            storage=storage,
            client_id=CONTEXT["client_id"],
            client_secret=CONTEXT["client_secret"],
            token_endpoint_auth_method="client_secret_basic",
        )
    if SCENARIO == "auth/client-credentials-jwt":
        signed = SignedJWTParameters(
            issuer=CONTEXT["client_id"],
            subject=CONTEXT["client_id"],
            signing_algorithm=CONTEXT.get("signing_algorithm", "ES256"),
            signing_key=CONTEXT["private_key_pem"],
        )
        return PrivateKeyJWTOAuthProvider(
            server_url=url,
            storage=storage,
            client_id=CONTEXT["client_id"],
            assertion_provider=signed.create_assertion_provider(),
        )
    if SCENARIO == "auth/pre-registration":
        storage.client = OAuthClientInformationFull(
            client_id=CONTEXT["client_id"],
            client_secret=CONTEXT["client_secret"],
            redirect_uris=[AnyUrl(REDIRECT)],
            token_endpoint_auth_method="client_secret_basic",
        )
    browser = Browser()
    return OAuthClientProvider(
        server_url=url,
        client_metadata=OAuthClientMetadata(
            client_name="wieldy",
            redirect_uris=[AnyUrl(REDIRECT)],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        ),
        storage=storage,
        redirect_handler=browser.go_to,
        callback_handler=browser.answer,
        client_metadata_url=METADATA_URL,
    )


def fill_in(question: Question) -> dict[str, Any]:
    """The defaults of what is asked, and something that fits where there is none."""
    properties: Any = (question.schema or {}).get("properties", {})
    made: Any = example(CompiledSchema(question.schema)) if question.schema else {}
    defaults = {name: part["default"] for name, part in properties.items() if "default" in part}
    required: Any = (question.schema or {}).get("required", [])
    return {name: made[name] for name in required if name not in defaults and name in made} | defaults


async def call_tools(toolset: McpToolset) -> None:
    """The calls that the scenario names; without any, one of each tool."""
    by_original = {known.original: known.name for known in toolset.mcp_tools}
    schemas = {known.original: known.definition.input_schema for known in toolset.mcp_tools}
    wanted = CONTEXT.get("toolCalls")
    if wanted is None:
        wanted = [{"name": known.original, "arguments": arguments_of(known, schemas)} for known in toolset.mcp_tools]
    for number, call in enumerate(wanted):
        tool = toolset.get(by_original.get(call["name"], ""))
        if tool is None:
            print(f"{call['name']} is not offered")
            continue
        context = wieldy.Context(run_id="conformance", call_id=str(number), tool_name=tool.name, idempotency_key="")
        try:
            result = await tool.function(call.get("arguments", {}), context)
        except wieldy.ModelVisibleError as error:
            print(f"{tool.name}: {error}")
        else:
            print(f"{tool.name} -> {result.text[:200]}")


def arguments_of(known: McpTool, schemas: dict[str, Any]) -> dict[str, Any]:
    """Arguments that fit; a tool that is to be told the schema of another one is told it as it was received."""
    if known.original == "add_numbers":
        return {"a": 5, "b": 3}
    if known.original == "json_schema_echo":
        return {"schema": schemas["json_schema_2020_12_tool"]}
    made: Any = example(CompiledSchema(known.definition.input_schema))
    return made if isinstance(made, dict) else {}


async def main(url: str) -> None:
    """Does what the scenario wants."""
    entry: dict[str, Any] = {"url": url, "trusted": True, "timeout_s": 20}
    if SCENARIO.startswith("auth/"):
        entry["auth"] = login(url)
    async with wieldy.connect.mcp(entry, answerer=fill_in) as toolset:
        print(toolset.servers, [tool.name for tool in toolset], *toolset.notices)
        await call_tools(toolset)


if __name__ == "__main__":
    anyio.run(main, sys.argv[-1])
