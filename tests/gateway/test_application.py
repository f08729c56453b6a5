"""What comes over a gateway's two endpoints, for each of its principals."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from gateway_world import KEYS, described

from wieldy.connect.rest.in_process import started
from wieldy.gateway.application import gateway_application
from wieldy.gateway.gateway import Gateway

pytestmark = pytest.mark.anyio
OUTPUT = {"type": "object", "properties": {"data": {"type": "string"}}}


@asynccontextmanager
async def reached(gateway: Gateway, who: str) -> AsyncGenerator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {KEYS[who.upper()]}"}
    transport = httpx2.ASGITransport(app=gateway_application(gateway).app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
        yield http


async def test_a_tool_of_others_is_answered_as_one_that_does_not_exist(world: Any) -> None:
    one = world.upstream("one", described("echo"), described("secret"))
    own = one.command | {"session": "principal"}
    async with (
        world.opened(mcpServers={"one": one.command, "own": own}) as gateway,
        reached(gateway, "bob") as http,
    ):
        for hidden, missing in (("one__secret", "one__sekret"), ("own__echo", "own__ecko")):
            answers = [await http.post(f"/tools/{name}", json={}) for name in (hidden, missing)]
            assert [answer.status_code for answer in answers] == [404, 404]
            assert answers[0].text.replace(hidden, missing) == answers[1].text
        assert (await http.post("/tools/one__echo", json={"text": "x"})).status_code == 200


@pytest.mark.parametrize(("with_data", "without"), [("anna", "bob"), ("bob", "anna")])
async def test_an_answer_has_the_form_that_its_caller_was_told(world: Any, with_data: str, without: str) -> None:
    one = world.upstream("one", described("data", outputSchema=OUTPUT))
    other = world.upstream("other", described("data"))
    of_other = {without: {"args": other.command["args"]}}
    server = one.command | {"session": "principal", "as": of_other, "pinned": False}
    callers = {name.lower(): {"key": {"env": name}} for name in KEYS}
    async with world.opened(mcpServers={"m": server}, principals=callers) as gateway:
        async with reached(gateway, with_data) as http:
            assert (await http.post("/tools/m__data", json={})).json() == {"data": "data {}"}
        async with reached(gateway, without) as http:
            answer = await http.post("/tools/m__data", json={})
            told = (await http.get("/openapi.json")).json()["paths"]["/tools/m__data"]["post"]["responses"]["200"]
        assert answer.headers["content-type"].partition(";")[0] in told["content"]
        assert answer.text.startswith("data {}")


async def test_the_headers_of_a_call_are_checked_by_the_tool_of_its_caller(world: Any) -> None:
    region = {"type": "string", "x-mcp-header": "Region"}
    one = world.upstream("one", described("echo", inputSchema={"type": "object", "properties": {"region": region}}))
    gateway = world.gateway(mcpServers={"one": one.command | {"pinned": False}})
    version = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    meta = version | {"io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "one__echo", "arguments": {"region": "north"}, "_meta": meta}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "one__echo",
        "Authorization": f"Bearer {KEYS['BOB']}",
    }
    app = gateway_application(gateway).app
    async with (
        started(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:1") as http,
    ):
        differs = await http.post("/mcp", json=asked, headers=headers | {"Mcp-Param-Region": "south"})
    assert (differs.status_code, differs.json()["error"]["code"]) == (400, -32020)
    assert one.calls() == []
