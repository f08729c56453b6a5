"""What passes through a gateway beside tools, between real servers and clients of the SDK, each in both eras."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from gateway_world import KEYS, accept_all, principal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
)

from wieldy.connect.mcp.server.server import ToolServer
from wieldy.core.errors import UsageError
from wieldy.run.state import fold

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
BOUND_S = 120
PROGRAM = Path(__file__).parent / "asking_program.py"
ALL = {name.lower(): {"key": {"env": name}} for name in KEYS}


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    """Which revisions the client speaks: the newest, or only those with a handshake."""
    return request.param


@pytest.fixture(scope="module", params=["modern", "handshake"])
def upstream(request: pytest.FixtureRequest) -> Iterator[str]:
    """The server behind the gateway: with all revisions, or only those with a handshake."""
    words = ["handshake"] if request.param == "handshake" else []
    process = subprocess.Popen([sys.executable, str(PROGRAM), *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    process.terminate()
    process.wait()
    process.stdout.close()


async def accept_prompts(gateway: Any) -> None:
    """A person accepts all that the sources say now, prompts as well."""
    accept_all(gateway)
    for name in gateway.config.callers:
        gateway.catalogue.pins.accept([each.listed.definition for each in await gateway.shelf.prompts(name)])


@asynccontextmanager
async def opened(world: Any, url: str, **more: Any) -> AsyncGenerator[Any]:
    config = {"mcpServers": {"one": {"url": url, **more}}, "principals": ALL}
    async with world.opened(**config) as gateway:
        await accept_prompts(gateway)
        yield gateway


def client_of(gateway: Any, who: str, **options: Any) -> Client:
    return Client(ToolServer(gateway, principal=principal(gateway, who)).server, **options)


def fills_in(name: str, asked: list[str]) -> Any:
    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(name)
        return ElicitResult(action="accept", content={"name": name})

    return answer


async def test_questions_go_to_the_client_that_made_the_call(world: Any, upstream: str, era: str) -> None:
    asked: list[str] = []
    async with opened(world, upstream) as gateway:
        async with client_of(gateway, "anna", mode=era, elicitation_callback=fills_in("Anna", asked)) as client:
            result = await client.call_tool("one__greet", {"word": "Hello"})
            assert result.content[0].text == "Hello Anna"
            filled = await client.get_prompt("one__ask_first")
            assert filled.messages[0].content.text == "Hello, Anna"

            async def sample(context: Any, params: Any) -> CreateMessageResult:
                text = f"about {params.messages[0].content.text}"
                return CreateMessageResult(role="assistant", content=TextContent(text=text), model="m")

        async with client_of(gateway, "bob", mode=era, sampling_callback=sample) as client:
            assert (await client.call_tool("one__think", {"about": "x"})).content[0].text == "about x"
        journal = gateway._journal
        calls = [call.call.name for run in journal.run_ids() for call in fold(journal.read(run)).calls]
    assert asked == ["Anna", "Anna"]
    assert sorted(calls) == ["one__greet", "one__prompt__ask_first", "one__think"]


async def test_a_server_learns_only_what_its_caller_can_do(world: Any, upstream: str, era: str) -> None:
    async with opened(world, upstream) as gateway:
        async with client_of(gateway, "anna", mode=era, elicitation_callback=fills_in("Anna", [])) as client:
            said = json.loads((await client.call_tool("one__capabilities", {})).content[0].text)
            is_modern = "roots" not in said
            assert said == (["elicitation"] if is_modern else ["elicitation", "roots", "sampling"])
        async with client_of(gateway, "bob", mode=era) as client:
            if is_modern:
                assert json.loads((await client.call_tool("one__capabilities", {})).content[0].text) == []
            if era == "auto":
                with pytest.raises(MCPError) as raised:
                    await client.call_tool("one__think", {"about": "x"})
                assert raised.value.data == {"requiredCapabilities": {"sampling": {}}}
            else:
                result = await client.call_tool("one__think", {"about": "x"})
                assert result.is_error
                assert "sampling" in result.content[0].text


async def test_a_question_never_reaches_another_principals_client(world: Any, upstream: str, era: str) -> None:
    asked: list[str] = []
    answers: dict[str, str] = {}
    async with opened(world, upstream) as gateway:

        async def meet(who: str) -> None:
            callback = fills_in(who, asked)
            async with client_of(gateway, who, mode=era, elicitation_callback=callback) as client:
                answers[who] = (await client.call_tool("one__meet", {"count": 2})).content[0].text

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(meet, "anna")
                tasks.start_soon(meet, "bob")
    # Without a handshake it is known whose question it is, and so it is over HTTP, where it comes with the request.
    assert sorted(asked) == ["anna", "bob"]
    assert answers == {"anna": "anna", "bob": "bob"}


async def test_the_same_with_a_session_for_each(world: Any, upstream: str, era: str) -> None:
    asked: list[str] = []
    async with opened(world, upstream, session="principal") as gateway:
        for who in ("anna", "bob"):
            async with client_of(gateway, who, mode=era, elicitation_callback=fills_in(who, asked)) as client:
                assert (await client.call_tool("one__greet", {"word": "Hi"})).content[0].text == f"Hi {who}"
    assert asked == ["anna", "bob"]


ASKING_OVER_ITS_SESSION = {"command": sys.executable, "args": [str(PROGRAM.with_name("session_program.py"))]}


@asynccontextmanager
async def listening(gateway: Any, who: str, heard: list[str], asked: list[str]) -> AsyncGenerator[Client]:
    """A client that keeps what it hears."""

    async def hear(params: Any) -> None:
        heard.append(f"{who} {params.data}")

    options: dict[str, Any] = {"logging_callback": hear, "elicitation_callback": fills_in(who, asked)}
    async with client_of(gateway, who, mode="legacy", **options) as client:
        yield client


@pytest.mark.parametrize("is_over", [True, False])
async def test_over_a_session_that_is_shared_nobody_is_asked_and_nothing_of_it_is_told(
    world: Any, is_over: bool
) -> None:
    heard: list[str] = []
    asked: list[str] = []
    async with world.opened(mcpServers={"one": ASKING_OVER_ITS_SESSION}, principals=ALL) as gateway:
        async with listening(gateway, "bob", heard, asked) as client:
            if is_over:
                await client.call_tool("one__keep", {"text": "what bob has"})
            else:  # over plain HTTP there is no client
                await gateway.call("one__keep", {"text": "what bob has"}, principal=principal(gateway, "bob"))
        async with listening(gateway, "anna", heard, asked) as client:
            result = await client.call_tool("one__ask", {})
            assert await client.call_tool("one__keep", {}) != result  # what was logged before would be here
    said = " ".join(block.text for block in result.content)
    assert (asked, heard) == ([], [])
    assert '"action": "decline"' in said
    assert "did not say for which call" in said
    assert "what bob has" not in said


@pytest.mark.parametrize("config", [{"session": "principal"}, {}])
async def test_over_a_session_of_one_principal_its_client_is_asked_also_after_a_call_that_was_given_up(
    world: Any, config: Any
) -> None:
    heard: list[str] = []
    asked: list[str] = []
    names = ALL if config else {"anna": ALL["anna"]}
    async with world.opened(mcpServers={"one": {**ASKING_OVER_ITS_SESSION, **config}}, principals=names) as gateway:
        for who in names:
            await gateway.call("one__keep", {"text": f"{who}'s"}, principal=principal(gateway, who))
        async with listening(gateway, "anna", heard, asked) as client:
            with anyio.CancelScope() as scope:
                scope.cancel()
                await client.call_tool("one__keep", {"text": "anna's"})
            result = await client.call_tool("one__ask", {})
            with anyio.fail_after(BOUND_S):
                while not heard:  # the notification comes by a way of its own
                    await anyio.lowlevel.checkpoint()
    assert asked == ["anna"]
    assert heard == ["anna about anna's"]
    assert '"name": "anna"' in result.content[0].text


async def test_who_calls_over_plain_http_is_not_asked_through_the_client_of_another(world: Any, upstream: str) -> None:
    asked: list[str] = []
    async with opened(world, upstream) as gateway:

        async def meet() -> None:
            async with client_of(gateway, "anna", elicitation_callback=fills_in("anna", asked)) as client:
                assert (await client.call_tool("one__meet", {"count": 2})).content[0].text == "anna"

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(meet)
                result = await gateway.call("one__meet", {"count": 2}, principal=principal(gateway, "bob"))
    assert asked == ["anna"]
    assert "Who are you?" not in result.content


async def test_prompts_and_resources_pass_under_names_of_their_own(world: Any, upstream: str, era: str) -> None:
    async with opened(world, upstream) as gateway, client_of(gateway, "anna", mode=era) as client:
        listed = {each.name: each for each in (await client.list_prompts()).prompts}
        assert sorted(listed) == ["one__ask_first", "one__welcome"]
        assert listed["one__welcome"].description == "Welcome somebody."
        messages = (await client.get_prompt("one__welcome", {"name": "Eve"})).messages
        assert messages[0].content.text == "Welcome, Eve!"
        assert str(messages[1].content.resource.uri) == "gateway://one/notes://today"
        (today,) = (await client.list_resources()).resources
        assert (today.uri, today.mime_type) == ("gateway://one/notes://today", "text/markdown")
        for uri in (today.uri, messages[1].content.resource.uri):
            (content,) = (await client.read_resource(str(uri))).contents
            assert (content.uri, content.text) == ("gateway://one/notes://today", "# Today")
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "gateway://one/notes://{folder}/{name}"
        (content,) = (await client.read_resource("gateway://one/notes://a/b")).contents
        assert (content.uri, content.text) == ("gateway://one/notes://a/b", "a/b")
        for uri in ("gateway://one/notes://a", "gateway://two/notes://today", "notes://today"):
            with pytest.raises(MCPError) as raised:
                await client.read_resource(uri)
            assert (raised.value.code, raised.value.data) == (-32602, {"uri": uri})
        prompt = PromptReference(name="one__welcome")
        assert (await client.complete(prompt, {"name": "name", "value": "a"})).completion.values == ["anna"]
        reference = ResourceTemplateReference(uri=template.uri_template)
        assert (await client.complete(reference, {"name": "name", "value": "a"})).completion.values == []


async def test_content_passes_block_for_block(world: Any, upstream: str, era: str) -> None:
    async with opened(world, upstream) as gateway, client_of(gateway, "anna", mode=era) as client:
        blocks = (await client.call_tool("one__shown", {})).content
    async with Client(upstream, mode=era) as client:
        direct = (await client.call_tool("shown", {})).content
    assert blocks == direct
    assert base64.b64decode(direct[1].data).startswith(b"\x89PNG")


async def test_a_block_of_a_type_that_no_client_knows_passes_as_text(world: Any, era: str) -> None:
    opened = world.opened(mcpServers={"one": ASKING_OVER_ITS_SESSION}, principals=ALL)
    async with opened as gateway, client_of(gateway, "anna", mode=era) as client:
        result = await client.call_tool("one__odd", {})
    first, second = result.content
    assert json.loads(first.text) == {"type": "weird", "x": 1}
    assert second.text == "kept"
    assert not result.is_error


async def test_changes_are_told_to_those_who_listen(world: Any, upstream: str) -> None:
    async with opened(world, upstream) as gateway:
        server = ToolServer(gateway, principal=principal(gateway, "anna"))
        gateway.tell_to(server.server)
        async with Client(server.server, mode="auto") as client:
            uri = "gateway://one/notes://today"
            async with client.listen(prompts_list_changed=True, resource_subscriptions=[uri]) as subscription:
                told: list[str] = []

                async def change() -> None:
                    while len(told) < 2:  # what is listened for upstream begins soon, not at once
                        await client.call_tool("one__change", {"what": "notes://today"})
                        await client.call_tool("one__change", {"what": "prompts"})

                with anyio.fail_after(BOUND_S):
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(change)
                        async for event in subscription:
                            if type(event).__name__ not in told:
                                told.append(type(event).__name__)
                            if len(told) == 2:
                                break
    assert sorted(told) == ["PromptsListChanged", "ResourceUpdated"]


async def test_what_a_server_logs_is_heard_by_the_client_of_the_call(world: Any, upstream: str, era: str) -> None:
    heard: list[Any] = []

    async def hear(params: Any) -> None:
        heard.append((params.level, params.data))

    options: dict[str, Any] = {"mode": era, "logging_callback": hear, "elicitation_callback": fills_in("Anna", [])}
    if era == "auto":
        options["log_level"] = "info"
    async with opened(world, upstream) as gateway, client_of(gateway, "anna", **options) as client:
        await client.call_tool("one__greet", {"word": "Hello"})
    assert heard == [("info", "asking")]


# Who may have what


async def test_who_is_shown_no_prompts_and_resources_has_none(world: Any, upstream: str) -> None:
    callers = {"anna": ALL["anna"], "bob": ALL["bob"] | {"tools": ["one__prompt__welcome"]}}
    async with world.opened(mcpServers={"one": {"url": upstream}}, principals=callers) as gateway:
        async with client_of(gateway, "anna") as client:
            assert (await client.list_prompts()).prompts == []  # nobody has accepted them yet
            with pytest.raises(MCPError, match="no prompt"):
                await client.get_prompt("one__welcome", {"name": "Eve"})
        await accept_prompts(gateway)
        async with client_of(gateway, "bob") as client:
            assert [each.name for each in (await client.list_prompts()).prompts] == ["one__welcome"]
            assert (await client.list_resources()).resources == []
            assert (await client.list_resource_templates()).resource_templates == []
            with pytest.raises(MCPError, match="no resource"):
                await client.read_resource("gateway://one/notes://today")
            with pytest.raises(MCPError, match="no prompt"):
                await client.get_prompt("one__ask_first")


async def test_a_prompt_that_is_described_differently_is_not_there(world: Any, upstream: str) -> None:
    async with opened(world, upstream) as gateway, client_of(gateway, "anna") as client:
        (welcome,) = [each for each in await gateway.shelf.prompts("anna") if each.own == "welcome"]
        definition = welcome.listed.definition
        changed = type(definition)(
            source="one", original=definition.original, said=definition.said | {"description": "Something else."}
        )
        gateway.catalogue.pins.accept([changed])
        assert [each.name for each in (await client.list_prompts()).prompts] == ["one__ask_first"]
        (now,) = [each for each in await gateway.shelf.prompts("anna") if each.own == "welcome"]
        assert now.listed.state == "changed"
        with pytest.raises(MCPError, match="no prompt"):
            await client.get_prompt("one__welcome", {"name": "Eve"})


async def test_the_policy_decides_on_prompts_and_resources(world: Any, upstream: str) -> None:
    rules = [{"decision": "deny", "reason": "not today", "tools": ["one__read_resource", "one__prompt__*"]}]
    config = {"mcpServers": {"one": {"url": upstream, "pinned": False}}, "policy": {"rules": rules}, "principals": ALL}
    async with world.opened(**config) as gateway, client_of(gateway, "anna") as client:
        with pytest.raises(MCPError, match="not today"):
            await client.get_prompt("one__welcome", {"name": "Eve"})
        with pytest.raises(MCPError, match="not today"):
            await client.read_resource("gateway://one/notes://today")


async def test_the_only_source_may_keep_its_names(world: Any, upstream: str) -> None:
    async with opened(world, upstream, prefix=False) as gateway, client_of(gateway, "anna") as client:
        assert "greet" in [tool.name for tool in (await client.list_tools()).tools]
        assert "welcome" in [each.name for each in (await client.list_prompts()).prompts]
        assert (await client.read_resource("notes://today")).contents[0].text == "# Today"
    both = {"one": {"url": upstream, "prefix": False}, "two": {"url": upstream}}
    with pytest.raises(UsageError, match="only the single source"):
        world.gateway(mcpServers=both)


# Headers


@pytest.fixture
def url_of(world: Any) -> Iterator[Any]:
    """The endpoint of a gateway in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(**config: Any) -> str:
        file = world.write(principals=ALL, journal="calls.db", **config)
        program = "from wieldy.apps.cli.main import main; main()"
        command = [sys.executable, "-c", program, "gateway", str(file), "--port", "0", "--json"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **KEYS}))
        assert started[-1].stdout is not None
        return json.loads(started[-1].stdout.readline())["mcp"]

    yield start
    for process in started:
        process.terminate()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


CANARIES = {
    "X-Api-Key": "canary-one",
    "Cookie": "session=canary-two",
    "X-Request-Id": "canary-three",
    "X-Odd": "canary-four",
}


async def test_no_header_of_a_caller_passes_unless_it_is_named(url_of: Any, upstream: str) -> None:
    named = {"url": upstream, "pinned": False, "forward_headers": ["x-request-id", "X-Odd", "X-Not-There"]}
    url = url_of(mcpServers={"none": {"url": upstream, "pinned": False}, "some": named})
    sent = {"Authorization": f"Bearer {KEYS['ANNA']}", **CANARIES}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=BOUND_S) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        said = {
            source: (await client.call_tool(f"{source}__headers", {})).content[0].text for source in ("none", "some")
        }
        rest = url.removesuffix("/mcp")
        for source, text in said.items():  # and just so over plain HTTP
            answer = await http.post(f"{rest}/tools/{source}__headers", json={})
            assert _named(answer.text) == _named(text)
    assert "canary" not in said["none"]
    assert _named(said["some"]) == {"x-request-id": "canary-three", "x-odd": "canary-four"}
    assert not any(KEYS["ANNA"] in text for text in said.values())


def _named(said: str) -> dict[str, str]:
    return {name: value for name, value in json.loads(said).items() if "canary" in value}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Authorization", "never passed on"),
        ("cookie", "never passed on"),
        ("Proxy-Authorization", "never passed on"),
        ("Content-Type", "that HTTP and MCP do not use"),
        ("Mcp-Session-Id", "that HTTP and MCP do not use"),
        ("Host", "that HTTP and MCP do not use"),
        ("a b", "that HTTP and MCP do not use"),
        ("X-Own", "in one of them"),
    ],
)
def test_some_headers_are_never_passed_on(world: Any, name: str, message: str) -> None:
    server = {"url": "http://127.0.0.1:9/mcp", "forward_headers": [name], "headers": {"x-own": "1"}}
    with pytest.raises(UsageError, match=message):
        world.gateway(mcpServers={"one": server})


def test_a_command_is_sent_no_headers(world: Any) -> None:
    with pytest.raises(UsageError, match="found a command"):
        world.gateway(mcpServers={"one": {"command": "x", "forward_headers": ["X-Request-Id"]}})
