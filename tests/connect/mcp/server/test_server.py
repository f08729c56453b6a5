"""A toolset as a server, met by the SDK's own client in another process: over standard input and output, and HTTP."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from tools_program import KEYS, PICTURE, TOOLS

from wieldy.connect import mcp, mcp_server
from wieldy.core.errors import UsageError
from wieldy.core.principals import Principal
from wieldy.run.journal import open_journal
from wieldy.run.state import fold

pytestmark = pytest.mark.anyio
BOUND_S = 60


async def until(condition: Any) -> None:
    with anyio.fail_after(BOUND_S):
        while not condition():
            await anyio.to_thread.run_sync(lambda: None)


def text_of(result: Any) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


async def test_schemas_are_what_the_toolset_has(over_stdio: Any, era: str) -> None:
    async with over_stdio() as client:
        listed = (await client.list_tools()).tools
    for found, tool in zip(listed, TOOLS.tools, strict=True):
        definition = tool.definition
        assert found.name == definition.name
        assert found.description == definition.prompt_description
        assert json.dumps(found.input_schema) == json.dumps(definition.input_schema)  # the order of keys as well
        # Revisions with a handshake know only objects as output.
        is_known = era == "auto" or (definition.output_schema or {}).get("type") == "object"
        assert json.dumps(found.output_schema) == json.dumps(definition.output_schema if is_known else None)


async def test_annotations_say_what_calls_do(over_stdio: Any) -> None:
    async with over_stdio() as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    assert hints["add"].read_only_hint is True
    assert (hints["keep"].read_only_hint, hints["keep"].idempotent_hint) == (False, True)
    assert hints["wait"].read_only_hint is False
    assert hints["fail"] is None  # nobody has said what it does


async def test_results_are_text_data_and_parts(over_stdio: Any, era: str) -> None:
    async with over_stdio() as client:
        added = await client.call_tool("add", {"a": 2, "b": 3})
        assert (text_of(added), added.is_error) == ("5", False)
        assert added.structured_content == (5 if era == "auto" else None)
        kept = await client.call_tool("keep", {"point": {"x": 1, "below": [{"x": 2}]}})
        assert kept.structured_content == {"x": 1, "below": [{"x": 2, "below": []}]}
        shown = (await client.call_tool("picture", {})).content
        assert [(part.type, part.mime_type) for part in shown if part.type == "image"] == [("image", "image/png")]
        assert base64.b64decode(shown[-1].data) == PICTURE


async def test_what_goes_wrong_is_a_result_that_says_what_to_do(over_stdio: Any) -> None:
    async with over_stdio() as client:
        for name, arguments, said in (
            ("fail", {}, "There is no order 17. List the orders first."),
            ("add", {"a": 1}, "`b` is missing"),
            ("ad", {"a": 1, "b": 2}, "Did you mean `add`?"),
            ("denied", {}, "nobody may"),
            ("crash", {}, "internal error"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert said in text_of(result)
            assert "ZeroDivisionError" not in text_of(result)


async def test_progress_reaches_the_client_that_asks_for_it(over_stdio: Any, tmp_path: Path) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(*progress: Any) -> None:
        heard.append(progress)

    async with over_stdio() as client:
        arguments = {"seconds": 0, "log": str(tmp_path / "log")}
        assert text_of(await client.call_tool("wait", arguments, progress_callback=hear)) == "waited"
    assert heard == [(0.25, 1.0, "begun"), (1.0, 1.0, "done")]


@pytest.mark.parametrize("transport", ["over_stdio", "over_http"])
async def test_a_client_that_gives_up_cancels_the_call(
    request: pytest.FixtureRequest, transport: str, era: str, tmp_path: Path
) -> None:
    connect, log = request.getfixturevalue(transport), tmp_path / "log"

    def said() -> list[str]:
        return log.read_text().split() if log.exists() else []

    async with connect(*([KEYS["anna"]] if transport == "over_http" else [])) as client, anyio.create_task_group() as t:
        t.start_soon(client.call_tool, "wait", {"seconds": 600, "log": str(log)})
        await until(lambda: said() == ["began"])
        t.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await until(lambda: said() == ["began", "cancelled"])


async def test_a_call_is_a_run_in_the_journal(over_http: Any, journal: Path) -> None:
    async with over_http(KEYS["bob"]) as client:
        await client.call_tool("add", {"a": 2, "b": 3})
        await client.call_tool("denied", {})
    recorded = open_journal(journal, read_only=True)
    runs = [recorded.read(run_id) for run_id in list(recorded.run_ids())[:2]]
    assert [entries[0].data["principal"] for entries in runs] == ["bob", "bob"]
    denied, added = (fold(entries) for entries in runs)
    assert (added.calls[0].call.name, added.calls[0].call.arguments) == ("add", {"a": 2, "b": 3})
    assert added.calls[0].result is not None
    assert added.calls[0].result.content == "5"
    assert denied.calls[0].result is not None
    assert denied.calls[0].result.layer == "policy"
    assert (added.status, denied.status) == ("finished", "finished")


async def test_a_hundred_calls_at_once_are_answered_each_with_its_own_result(over_http: Any) -> None:
    sums: dict[int, str] = {}

    async with over_http(KEYS["anna"]) as client, anyio.create_task_group() as tasks:

        async def add(number: int) -> None:
            sums[number] = text_of(await client.call_tool("add", {"a": number, "b": 1}))

        for number in range(100):
            tasks.start_soon(add, number)
    assert sums == {number: str(number + 1) for number in range(100)}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong-wrong-wrong-wrong"},
        {"Authorization": f"Basic {KEYS['anna']}"},
        {"Authorization": "Bearer"},
        {"X-Api-Key": KEYS["anna"]},
    ],
)
async def test_nobody_calls_without_a_key(url: str, headers: dict[str, str]) -> None:
    async with httpx2.AsyncClient(headers=headers, timeout=BOUND_S) as http:
        answer = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert KEYS["anna"] not in answer.text


async def test_a_session_serves_only_whoever_has_opened_it(url: str) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    taken = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=taken, timeout=BOUND_S) as http:
        anna, bob = ({"Authorization": f"Bearer {KEYS[name]}"} for name in ("anna", "bob"))
        opened = await http.post(url, json=hello, headers=anna)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        question = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await http.post(url, json=question, headers=anna | session)).status_code == 200
        assert (await http.post(url, json=question, headers=bob | session)).status_code == 404


async def test_a_page_in_a_browser_cannot_reach_the_loopback_under_another_name(url: str) -> None:
    async with httpx2.AsyncClient(timeout=BOUND_S) as http:
        known = {"Authorization": f"Bearer {KEYS['anna']}", "Host": "evil.example"}
        answer = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=known)
    assert answer.status_code == 421


async def test_our_own_client_reaches_a_server_in_the_same_process(call: Any) -> None:
    async with mcp({"mcpServers": {"here": mcp_server(TOOLS).server}}, trusted=True) as toolset:
        added = toolset.get("here__add")
        assert added is not None
        assert added.effect == "read"
        assert added.definition.input_schema == TOOLS.tools[0].definition.input_schema
        assert (await call(toolset, "here__add", a=2, b=3)).content == "5"


async def test_calls_whose_permission_a_caller_lacks_are_not_even_shown() -> None:
    from wieldy import tool

    @tool(effect="read", permission="orders:read")
    def order() -> str:
        """Show the order."""
        return "paid"

    async def names(principal: Principal | None) -> list[str]:
        async with mcp({"mcpServers": {"here": mcp_server([order], principal=principal).server}}) as toolset:
            return [each.name for each in toolset.tools]

    assert await names(None) == []
    assert await names(Principal(name="anna", permissions={"orders:*"})) == ["here__order"]


async def test_a_call_that_needs_consent_is_not_made_where_nobody_can_give_it() -> None:
    from mcp import Client

    from wieldy import Ask, Rule, Rules
    from wieldy.connect.serving.calls import CallRules

    rules = CallRules(policy=Rules([Rule(Ask("it is dear"), tools="add")]))
    async with Client(mcp_server(TOOLS, rules=rules).server) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
    assert result.is_error
    assert text_of(result) == "`add` is not done: it needs a person's consent (it is dear)."


def test_others_than_this_machine_are_not_served_without_keys() -> None:
    with pytest.raises(UsageError, match="Expected keys where others"):
        mcp_server(TOOLS).serve_http(host="0.0.0.0")


def test_a_short_key_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 16 characters"):
        mcp_server(TOOLS, keys={"anna": "short"})


async def test_a_journal_that_cannot_be_written_is_an_error_of_the_server(tmp_path: Path) -> None:
    from mcp import Client

    from wieldy.connect.serving.calls import CallRules
    from wieldy.core.errors import JournalError
    from wieldy.run.journal import MemoryJournal

    class Full(MemoryJournal):
        """As where a disk is full."""

        def append(self, *arguments: Any, **more: Any) -> Any:
            raise JournalError("the disk is full")

    async with Client(mcp_server(TOOLS, rules=CallRules(journal=Full())).server) as client:
        with pytest.raises(MCPError, match=r"^The call could not be recorded, and was not carried out\.$"):
            await client.call_tool("add", {"a": 1, "b": 2})


@pytest.mark.parametrize("is_annotated", [True, False])
async def test_a_header_must_repeat_the_argument_that_the_schema_names_for_it(is_annotated: bool) -> None:
    from wieldy import ToolDefinition
    from wieldy.tools.from_schema import tool_from_schema

    async def code(arguments: Any, context: Any) -> str:
        return f"looked in {arguments['region']}"

    region = {"type": "string"} | ({"x-mcp-header": "Region"} if is_annotated else {})
    schema = {"type": "object", "properties": {"region": region}}
    definition = ToolDefinition(name="look", description="Look.", input_schema=schema)
    server = mcp_server([tool_from_schema(definition, code, origin="test")])
    asgi = httpx2.ASGITransport(app=server.asgi())
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "look", "arguments": {"region": "north"}, "_meta": meta}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "look",
    }
    async with (
        server.server.session_manager.run(),
        httpx2.AsyncClient(transport=asgi, base_url="http://127.0.0.1:1", headers=headers) as http,
    ):
        fits = await http.post("/mcp", json=asked, headers={"Mcp-Param-Region": "north"})
        differs = await http.post("/mcp", json=asked, headers={"Mcp-Param-Region": "south"})
    assert fits.json()["result"]["content"] == [{"type": "text", "text": "looked in north"}]
    if is_annotated:
        assert (differs.status_code, differs.json()["error"]["code"]) == (400, -32020)
        assert differs.json()["error"]["message"].startswith("Mcp-Param-Region header does not match")
    else:
        assert differs.json()["result"] == fits.json()["result"]  # a header that nothing is said of
