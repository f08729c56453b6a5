"""Tools of servers as a program and a model use them, in both eras of the protocol."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from wieldy import Agent, CallProgress, FilePart, ImagePart, UsageError
from wieldy.connect import mcp
from wieldy.connect.mcp.client.questions import Question
from wieldy.connect.mcp.client.tools import Notice
from wieldy.connect.mcp.client.toolset import McpToolset
from wieldy.testing import ScriptedModel, text
from wieldy.testing import call as scripted_call

pytestmark = pytest.mark.anyio


def one(command: list[str], *, trusted: bool = True, **more: Any) -> McpToolset:
    return mcp({"mcpServers": {"s": {"command": command[0], "args": command[1:]}}}, trusted=trusted, **more)


async def until(condition: Any) -> None:
    with anyio.fail_after(30):
        while not condition():
            await anyio.to_thread.run_sync(lambda: None)


# Definitions


async def test_the_tools_of_all_pages_are_there_with_what_is_known_of_them(servers: Any, era: str) -> None:
    async with one(servers.command("--era", era)) as toolset:
        echo = toolset.get("s__echo")
        assert echo is not None
        assert (echo.effect, echo.effect_declared, echo.trust) == ("read", True, "trusted")
        assert echo.definition.description == "Say it again."
        assert len(toolset) > 16
        assert toolset.servers["s"].name == "tests 1"
        assert toolset.servers["s"].protocol == ("2026-07-28" if era == "modern" else "2025-11-25") or not is_new_sdk()
        assert {each.provenance for each in toolset.mcp_tools} == {"declared", "derived"}
        assert toolset.notices == ()


def is_new_sdk() -> bool:
    return importlib.util.find_spec("mcp_types") is not None


async def test_tools_of_a_stranger_are_unsafe_and_what_they_return_is_a_strangers_words(
    servers: Any, era: str, call: Any
) -> None:
    async with one(servers.command("--era", era), trusted=False) as toolset:
        assert {tool.effect for tool in toolset} == {"unsafe"}
        result = await call(toolset, "s__echo", text="do as I say")
        assert result.trust == "untrusted"
        assert "do as I say" in result.content
        assert result.content != "do as I say"


async def test_what_the_program_says_stands_above_what_the_server_says(servers: Any) -> None:
    command = servers.command()
    entry = {"command": command[0], "args": command[1:], "effects": {"count": "idempotent"}, "tools": ["count", "echo"]}
    async with mcp({"mcpServers": {"s": entry}}) as toolset:
        assert {tool.name: tool.effect for tool in toolset} == {"s__echo": "unsafe", "s__count": "idempotent"}


async def test_several_servers_are_one_set(servers: Any, call: Any) -> None:
    command = servers.command()
    entry = {"command": command[0], "args": command[1:]}
    async with mcp({"mcpServers": {"a": entry, "b": entry}}, trusted=["b"]) as toolset:
        assert {tool.trust for tool in toolset if tool.name.startswith("a__")} == {"untrusted"}
        assert "trusted" in {tool.trust for tool in toolset if tool.name.startswith("b__")}
        assert (await call(toolset, "b__echo", text="hi")).content == "hi"
        with pytest.raises(UsageError, match="named"):
            await toolset.read_resource("note://one")
        assert len(await toolset.resources()) == 2
    with pytest.raises(UsageError, match="'c'"):
        mcp({"mcpServers": {"a": entry}}, trusted=["c"])


# Calls


async def test_arguments_are_checked_before_a_server_is_asked(servers: Any, era: str, call: Any) -> None:
    async with one(servers.command("--era", era)) as toolset:
        result = await call(toolset, "s__wait", seconds="soon")
        assert result.is_error
        assert "seconds" in result.content
    assert servers.effects() == []


async def test_images_audio_resources_and_links_arrive(servers: Any, era: str, call: Any) -> None:
    async with one(servers.command("--era", era)) as toolset:
        result = await call(toolset, "s__picture")
        assert [type(part) for part in result.parts] == [ImagePart, FilePart, FilePart]
        for words in ("look:", "inside", "file:///c.csv"):
            assert words in result.content


async def test_data_is_there_for_code_and_what_breaks_its_schema_is_kept_and_said(
    servers: Any, era: str, call: Any
) -> None:
    async with one(servers.command("--era", era)) as toolset:
        good = await call(toolset, "s__data")
        assert (good.content, good.structured_content) == ('{"n": 7}', {"n": 7})
        wrong = await call(toolset, "s__wrong_data")
        assert not wrong.is_error
        assert wrong.structured_content == {"n": "seven", "kept": True}
        assert "not what the tool promises" in wrong.content


async def test_failures_of_the_tool_and_of_the_protocol_are_told(servers: Any, era: str, call: Any) -> None:
    async with one(servers.command("--era", era)) as toolset:
        failed = await call(toolset, "s__fail")
        assert (failed.is_error, failed.layer) == (True, "model")
        assert "no such order" in failed.content
        refused = await call(toolset, "s__refuse")
        assert refused.is_error
        assert "that is no good argument" in refused.content


async def test_progress_is_seen_by_those_who_watch(servers: Any, era: str) -> None:
    async with one(servers.command("--era", era)) as toolset:
        model = ScriptedModel([[scripted_call("s__steps", {})], [text("done")]])
        events = [event async for event in Agent(model, tools=[toolset]).stream("go")]
        seen = [(event.message, event.fraction) for event in events if isinstance(event, CallProgress)]
        assert seen == [("step 1", 0.5), ("step 2", 1.0)]


async def test_changed_lists_are_read_again_and_changes_are_told(servers: Any, era: str, call: Any) -> None:
    heard: list[Notice] = []
    async with one(servers.command("--era", era), on_notice=heard.append) as toolset:
        before = toolset.get("s__echo")
        assert before is not None
        await call(toolset, "s__change")
        await until(lambda: toolset.get("s__added") is not None)
        after = toolset.get("s__echo")
        assert after is not None
        assert after.definition.description == "Say something else."
        assert {(notice.kind, notice.tool) for notice in heard} == {("changed", "echo"), ("added", "added")}
        assert toolset.notices == tuple(heard)
        # Who still has the old description is told so with the result.
        assert "describes this tool differently" in (await call(Keeping(before), "s__echo", text="x")).content
        assert (await call(toolset, "s__echo", text="x")).content == "x"


def Keeping(tool: Any) -> Any:
    from wieldy import Toolset

    return Toolset([tool])


# Questions to a person


async def test_a_question_is_answered_by_the_program(servers: Any, era: str, call: Any) -> None:
    asked: list[Question] = []

    async def answer(question: Question) -> dict[str, Any]:
        asked.append(question)
        return {"size": 41}

    async with one(servers.command("--era", era), answerer=answer) as toolset:
        result = await call(toolset, "s__ask")
        assert result.content == "accept {'size': 41}"
    assert asked[0].message == "Which size?"
    assert asked[0].server == "s"
    assert asked[0].schema is not None


async def test_a_question_that_sends_a_person_to_a_page_has_its_address(servers: Any, era: str, call: Any) -> None:
    asked: list[str | None] = []

    def answer(question: Question) -> dict[str, Any]:
        asked.append(question.url)
        return {}

    async with one(servers.command("--era", era), answerer=answer) as toolset:
        assert (await call(toolset, "s__ask", url=True)).content == "accept None"
    assert asked == ["https://example.org/login"]


async def test_a_question_is_declined_where_nobody_can_be_asked_and_by_who_says_no(
    servers: Any, era: str, call: Any
) -> None:
    async with one(servers.command("--era", era)) as toolset:
        result = await call(toolset, "s__ask")
        assert "decline" in result.content
        assert "nobody can be asked here" in result.content
    async with one(servers.command("--era", era), answerer=lambda _: None) as toolset:
        assert (await call(toolset, "s__ask")).content == "decline None"


# Resources and prompts


async def test_resources_and_prompts_are_read_by_the_program(servers: Any, era: str) -> None:
    async with one(servers.command("--era", era)) as toolset:
        assert [entry["uri"] for entry in await toolset.resources("s")] == ["note://one"]
        assert [entry["uriTemplate"] for entry in await toolset.resource_templates()] == ["note://{name}"]
        assert "content of note://one" in (await toolset.read_resource("note://one")).text
        assert [entry["name"] for entry in await toolset.prompts()] == ["greet"]
        assert "Say hello to Ann." in (await toolset.get_prompt("greet", {"who": "Ann"})).text
        with pytest.raises(UsageError, match="'t'"):
            await toolset.resources("t")


async def test_a_model_may_read_them_where_that_is_asked_for(servers: Any, era: str, call: Any) -> None:
    async with one(servers.command("--era", era), resources=True, prompts=True) as toolset:
        assert "note://one" in (await call(toolset, "s__list_resources")).content
        assert "content of note://x" in (await call(toolset, "s__read_resource", uri="note://x")).content
        assert "greet" in (await call(toolset, "s__list_prompts")).content
        filled = await call(toolset, "s__get_prompt", name="greet", arguments={"who": "Ann"})
        assert "Say hello to Ann." in filled.content


# Secrets and the environment


async def test_a_server_gets_the_variables_that_it_is_given_and_no_secret_is_shown(
    servers: Any, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIELDY_TEST_CANARY", "canary-1")
    command = servers.command()
    entry = {"command": command[0], "args": command[1:], "env": {"SERVICE_TOKEN": "${MY_TOKEN}", "PLAIN": "seen"}}
    toolset = mcp({"mcpServers": {"s": entry}}, trusted=True, environment={"MY_TOKEN": "canary-secret-2"})
    async with toolset:
        assert (await call(toolset, "s__environment", name="WIELDY_TEST_CANARY")).content == "(not set)"
        assert (await call(toolset, "s__environment", name="PLAIN")).content == "seen"
        shown = (await call(toolset, "s__environment", name="SERVICE_TOKEN")).content
        assert "canary" not in shown
        assert "[secret" in shown
    assert "canary" not in repr(toolset)


async def test_headers_go_to_the_server_and_into_no_error(servers: Any) -> None:
    entry = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer canary-secret-3"}}
    with pytest.raises(Exception, match="cannot be reached") as raised:
        async with mcp({"mcpServers": {"s": entry}}):
            pytest.fail("it was opened")
    assert "canary" not in str(raised.value)


# Servers in this process


@pytest.mark.skipif(not is_new_sdk(), reason="the server object is one of the new SDK")
async def test_a_server_object_is_a_server(call: Any) -> None:
    specification = importlib.util.spec_from_file_location(
        "server_program", Path(__file__).parent / "server_program.py"
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    async with mcp(module.build(), trusted=True) as toolset:
        assert (await call(toolset, "echo", text="hi")).content == "hi"
        assert (await call(toolset, "count")).content == "0"
    async with mcp({"mcpServers": {"here": module.build()}}) as toolset:
        assert toolset.get("here__echo") is not None


async def test_sse_of_the_older_kind_is_one_word_in_the_configuration() -> None:
    with pytest.raises(Exception, match="'old'"):
        async with mcp({"mcpServers": {"old": {"url": "http://127.0.0.1:9/sse", "type": "sse"}}}):
            pytest.fail("it was opened")


def test_importing_it_does_not_import_the_sdk() -> None:
    import subprocess

    code = (
        "import sys, wieldy\nwieldy.connect.mcp('uvx server')\n"
        "print([name for name in sys.modules if name == 'mcp' or name.startswith(('mcp.', 'mcp_types'))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_function_is_found_under_its_name_whatever_was_imported_before() -> None:
    import subprocess

    code = (
        "import wieldy.connect.mcp.names, wieldy\nfrom wieldy.connect.mcp.config import read_config\n"
        "import wieldy.connect.mcp.client.server\nprint(wieldy.connect.mcp('uvx server').tools)"
    )
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "()"
