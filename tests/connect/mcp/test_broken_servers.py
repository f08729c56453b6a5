"""Servers that break the protocol: one broken thing costs only itself, and what cannot be read is said."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from wieldy import RunError
from wieldy.connect import mcp
from wieldy.connect.mcp.client import server as client_server
from wieldy.connect.mcp.client import stdio
from wieldy.connect.mcp.client.pages import MOST_ENTRIES

pytestmark = pytest.mark.anyio

Listen: TypeAlias = Callable[[type[BaseHTTPRequestHandler]], str]

PROGRAM = Path(__file__).parent / "raw_server.py"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "raw", "version": "1"},
}
GOOD = {"name": "good", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
ANSWER = {"content": [{"type": "text", "text": "fine"}]}


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[..., list[str]]:
    """The command of a server that follows a script."""

    def command(**methods: Any) -> list[str]:
        script = {"initialize": HELLO, "tools/list": {"tools": [GOOD]}, "tools/call": ANSWER, **methods}
        path = tmp_path / "script.json"
        path.write_text(json.dumps(script))
        return [sys.executable, str(PROGRAM), str(path)]

    return command


@pytest.mark.parametrize(
    "broken",
    [
        {"name": "bad", "inputSchema": {"type": "objekt"}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": 7}},
        {"name": "bad", "inputSchema": "none"},
        {"name": "bad"},
        {"name": ["bad"], "inputSchema": {"type": "object"}},
        "bad",
    ],
)
async def test_a_broken_tool_does_not_cost_the_others(scripted: Any, call: Any, broken: Any) -> None:
    command = scripted(**{"tools/list": {"tools": [broken, GOOD]}})
    async with mcp(command, trusted=True) as toolset:
        assert [tool.name for tool in toolset] == ["good"]
        assert [notice.kind for notice in toolset.notices] == ["left_out"]
        assert (await call(toolset, "good")).content == "fine"


async def test_hints_and_descriptions_of_a_wrong_type_are_passed_over(scripted: Any) -> None:
    odd = GOOD | {"description": 7, "annotations": {"readOnlyHint": "yes"}, "title": "Good", "outputSchema": 7}
    async with mcp(scripted(**{"tools/list": {"tools": [odd]}}), trusted=True) as toolset:
        (tool,) = toolset
        assert (tool.definition.description, tool.effect) == ("Good", "unsafe")
        assert [notice.kind for notice in toolset.notices] == ["output_schema"]


async def test_a_list_that_never_ends_is_read_until_it_repeats_itself(scripted: Any) -> None:
    async with mcp(scripted(**{"tools/list": {"tools": [GOOD], "nextCursor": "again"}})) as toolset:
        assert [tool.name for tool in toolset] == ["good"]
        assert [notice.kind for notice in toolset.notices] == ["left_out"]  # the same tool a second time


async def test_of_a_list_that_is_too_long_the_rest_is_left_out_and_told_in_one_sentence(scripted: Any) -> None:
    many = [GOOD | {"name": f"tool.{number}"} for number in range(MOST_ENTRIES + 1)]  # each is renamed, and said to be
    async with mcp(scripted(**{"tools/list": {"tools": many}})) as toolset:
        assert len(toolset) == MOST_ENTRIES
        cut, *renamed, last = map(str, toolset.notices)
        assert cut.startswith(f"of `tools/list` only the first {MOST_ENTRIES} entries are read")
        assert len(renamed) < 100
        assert last == f"and {MOST_ENTRIES - len(renamed)} more of its tools"


async def test_a_server_without_tools_is_an_empty_set(scripted: Any) -> None:
    async with mcp(scripted(initialize=HELLO | {"capabilities": {}})) as toolset:
        assert len(toolset) == 0


@pytest.mark.parametrize("answer", [{"content": 7}, {"content": [{"type": "text", "text": 7}]}, {"isError": "perhaps"}])
async def test_an_answer_that_cannot_be_read_is_said_or_shown_and_never_lost(
    scripted: Any, call: Any, answer: Any
) -> None:
    async with mcp(scripted(**{"tools/call": answer}), trusted=True) as toolset:
        result = await call(toolset, "good")
        assert "protocol does not know" in result.content or not result.is_error
        assert result.content


async def test_of_a_call_that_may_have_had_an_effect_nobody_knows_how_it_ended(scripted: Any, call: Any) -> None:
    plain = {"name": "good", "inputSchema": {"type": "object"}}
    broken = {"raw": '{"jsonrpc": "2.0", "id": ID, "result": 7}'}
    entry = {"command": (command := scripted(**{"tools/list": {"tools": [plain]}, "tools/call": broken}))[0]}
    async with mcp({"mcpServers": {"s": {**entry, "args": command[1:], "timeout_s": 1}}}) as toolset:
        result = await call(toolset, "s__good")
        assert result.is_error
        assert "do not take it for" in result.content


@pytest.mark.parametrize("text", ['"cut \\ud83d"', '"cut \\ude00"', '"cut \\udce9"'])
async def test_half_of_a_pair_costs_one_character_and_nothing_else(scripted: Any, call: Any, text: str) -> None:
    broken = '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": TEXT}]}}'
    listed = (
        '{"jsonrpc": "2.0", "id": ID, "result": {"tools": [{"name": "good", "description": TEXT, "inputSchema": {}}]}}'
    )
    answers = {"tools/call": {"raw": broken.replace("TEXT", text)}, "tools/list": {"raw": listed.replace("TEXT", text)}}
    async with mcp(scripted(**answers), trusted=True) as toolset:
        assert [tool.definition.description for tool in toolset] == ["cut \ufffd"]
        assert (await call(toolset, "good")).content == "cut \ufffd"


TOKEN = "canary-7f3a-canary"
UNREADABLE = [
    {"method": "notifications/message", "params": {"level": TOKEN, "data": "x"}},
    {"method": "notifications/message", "params": {"level": "error"}},
    {"method": "notifications/progress", "params": {"progressToken": {"a": TOKEN}, "progress": TOKEN}},
    {"method": "notifications/resources/updated", "params": {"uri": [TOKEN]}},
    {"method": "notifications/tools/list_changed", "params": TOKEN},
    {"method": "notifications/cancelled", "params": {"requestId": [TOKEN]}},
    {"method": f"notifications/{TOKEN}", "params": {"a": TOKEN}},
    {"id": 99, "method": "elicitation/create", "params": {"message": [TOKEN]}},
    {"id": TOKEN, "result": {}},
]


@pytest.mark.parametrize("message", UNREADABLE)
async def test_what_cannot_be_read_of_what_a_server_says_unasked_is_not_logged(
    scripted: Any, call: Any, caplog: pytest.LogCaptureFixture, message: Any
) -> None:
    unasked = json.dumps({"jsonrpc": "2.0"} | message)
    answer = json.dumps({"jsonrpc": "2.0", "id": "ID", "result": ANSWER}).replace('"ID"', "ID")
    command = scripted(**{"tools/call": {"raw": "\n".join([*[unasked] * 1000, answer])}})
    async with mcp({"mcpServers": {"s": {"command": command[0], "args": command[1:], "timeout_s": 60}}}) as toolset:
        assert "\nfine\n" in (await call(toolset, "s__good")).content
    assert caplog.text == ""


@pytest.mark.parametrize("result", ["7", "[" * 3000, "tru", '{"content": []'])
async def test_an_answer_that_is_no_message_ends_its_call_at_once_and_says_so(
    scripted: Any, call: Any, result: str
) -> None:
    broken = {"raw": f'{{"jsonrpc": "2.0", "id": ID, "result": {result}}}'}
    async with mcp(scripted(**{"tools/list": {"tools": [PLAIN]}, "tools/call": broken})) as toolset:
        found = await call(toolset, "good")
    assert found.is_error
    assert "outcome unknown" in found.content
    assert "no message of JSON-RPC" in found.content


PLAIN = {"name": "good", "inputSchema": {"type": "object"}}


async def test_a_block_that_the_protocol_does_not_know_is_shown_and_the_call_has_ended(
    scripted: Any, call: Any
) -> None:
    odd: list[Any] = [{"type": "weird", "x": 1}, {"type": "text", "text": 7}, 7]
    answer = {"content": [{"type": "text", "text": "before"}, *odd, {"type": "text", "text": "after"}]}
    async with mcp(scripted(**{"tools/list": {"tools": [PLAIN]}, "tools/call": answer})) as toolset:
        result = await call(toolset, "good")
    assert not result.is_error
    for said in ("before", '"weird"', "7", "after"):
        assert said in result.content


@pytest.mark.parametrize("code", [-32000, -32001, -32700, -32600, 0, 5, *range(760400, 760410)])
async def test_an_error_is_the_servers_word_whatever_its_code(scripted: Any, call: Any, code: int) -> None:
    error = {"raw": json.dumps({"jsonrpc": "2.0", "id": "ID", "error": {"code": code, "message": "no licence"}})}
    error["raw"] = error["raw"].replace('"ID"', "ID")
    for tool in (PLAIN, GOOD):  # what only reads is not tried again either
        async with mcp(scripted(**{"tools/list": {"tools": [tool]}, "tools/call": error}), trusted=True) as toolset:
            result = await call(toolset, "good")
        assert result.is_error
        assert "refused" in result.content
        assert "no licence" in result.content


async def test_a_message_without_end_ends_the_connection_and_says_so(
    scripted: Any, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 1_000_000)
    command = scripted(**{"tools/call": {"raw": "x" * 1000, "times": 3000}})
    async with mcp({"mcpServers": {"s": {"command": command[0], "args": command[1:]}}}) as toolset:
        result = await call(toolset, "s__good")
        assert result.is_error
        assert "outcome unknown" in result.content


# HTTP


class Refusing:
    """A server on the loopback that answers a status to everything, and keeps what it was sent."""

    def __init__(self, listen: Listen, status: int, body: str = "", content_type: str = "text/plain") -> None:
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

        self.url = listen(Handler)


@pytest.fixture
def refusing(listen: Listen) -> Callable[..., Refusing]:
    return partial(Refusing, listen)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, "", "HTTP 401 Unauthorized"),
        (403, "not for you", "HTTP 403 Forbidden: not for you"),
        (500, "", "HTTP 500"),
        (503, "later", "HTTP 503 Service Unavailable: later"),
        (404, "", "HTTP 404 Not Found"),
        (200, "<html>", "text/plain and not with JSON"),
    ],
)
async def test_what_a_server_answers_instead_is_said(refusing: Any, status: int, body: str, said: str) -> None:
    server = refusing(status, body)
    with pytest.raises(RunError, match=said):
        async with mcp({"url": server.url}):
            pytest.fail("it was opened")


async def test_an_error_of_the_protocol_is_told_in_its_own_words(refusing: Any) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "no licence"}})
    server = refusing(400, body, "application/json")
    with pytest.raises(RunError, match="no licence"):
        async with mcp({"url": server.url}):
            pytest.fail("it was opened")


async def test_headers_are_sent_with_every_request(refusing: Any) -> None:
    server = refusing(401)
    with pytest.raises(RunError):
        async with mcp({"url": server.url, "headers": {"X-Key": "${KEY}"}}, environment={"KEY": "canary-77"}):
            pytest.fail("it was opened")
    assert server.headers
    assert all(headers["x-key"] == "canary-77" for headers in server.headers)


async def test_a_server_that_says_who_it_is_and_nothing_more_is_given_up(
    scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_server, "LIST_S", 0.5)
    command = scripted(**{"tools/list": {"raw": ""}})
    with pytest.raises(RunError, match=r"no answer within 0\.5 s"):
        async with mcp(command):
            pytest.fail("it was opened")


async def test_what_a_server_does_not_offer_is_empty_and_what_it_offers_beside_tools_is_there(scripted: Any) -> None:
    command = scripted(
        initialize=HELLO | {"capabilities": {"resources": {}}},
        **{"resources/list": {"resources": [{"uri": "note://a", "name": "a"}]}},
    )
    async with mcp(command, resources=True, prompts=True) as toolset:
        assert [tool.name for tool in toolset] == ["list_resources", "read_resource"]
        assert await toolset.prompts() == []
        assert [entry["uri"] for entry in await toolset.resources()] == ["note://a"]


async def test_what_has_changed_since_a_set_was_last_open_is_told_once(scripted: Any) -> None:
    heard: list[Any] = []
    toolset = mcp(scripted(), on_notice=heard.append)
    async with toolset:
        assert heard == []
    scripted(**{"tools/list": {"tools": [GOOD | {"description": "Better."}]}})
    for _ in range(2):
        async with toolset:
            assert [(notice.kind, notice.tool) for notice in heard] == [("changed", "good")]
