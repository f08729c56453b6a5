"""A question of a server as an approval: the call rests, a person decides, and it goes on, also in another process."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from wieldy import Agent, ToolError, tool
from wieldy.connect import mcp
from wieldy.testing import ScriptedModel, text
from wieldy.testing import call as scripted_call

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(importlib.util.find_spec("mcp_types") is None, reason="the older SDK knows no such questions"),
]


def agent(command: list[str], journal: Path, turns: list[Any], **more: Any) -> Agent:
    tools = mcp({"mcpServers": {"s": {"command": command[0], "args": command[1:]}}}, **more)
    return Agent(ScriptedModel(turns), tools=[tools], journal=journal)


async def rested(servers: Any, journal: Path, name: str = "s__confirm") -> Any:
    result = await agent(servers.command(), journal, [[scripted_call(name, {})]]).run("go")
    assert result.stop_reason == "waiting_for_approval"
    return result


def content_of(result: Any) -> str:
    return next(message.text for message in result.messages if message.role == "tool")


async def test_a_yes_sends_exactly_what_was_shown_and_the_call_goes_on(servers: Any, tmp_path: Path) -> None:
    journal = tmp_path / "runs.db"
    result = await rested(servers, journal)
    (request,) = result.waiting
    assert request.arguments["question"] == "Delete all?"
    assert request.arguments["answer"] == {"sure": True, "why": "tidy"}
    assert servers.effects() == ["asked"]
    again = agent(servers.command(), journal, [[text("done")]])
    assert [each.call_id for each in again.pending(result.run_id)] == [request.call_id]
    again.approve(request.run_id, request.call_id, by="Ann")
    resumed = await again.resume(result.run_id)
    assert resumed.text == "done"
    assert "accept" in content_of(resumed)
    assert "tidy" in content_of(resumed)
    assert servers.effects() == ["asked", "asked", "deleted"]


async def test_a_no_declines(servers: Any, tmp_path: Path) -> None:
    journal = tmp_path / "runs.db"
    result = await rested(servers, journal)
    again = agent(servers.command(), journal, [[text("done")]])
    again.deny(result.waiting[0].run_id, result.waiting[0].call_id, by="Ann", reason="not today")
    resumed = await again.resume(result.run_id)
    assert "decline" in content_of(resumed)
    assert "deleted" not in servers.effects()


async def test_without_an_answer_it_rests_on_and_the_server_is_not_asked(servers: Any, tmp_path: Path) -> None:
    journal = tmp_path / "runs.db"
    result = await rested(servers, journal)
    again = await agent(servers.command(), journal, []).resume(result.run_id)
    assert again.stop_reason == "waiting_for_approval"
    assert servers.effects() == ["asked"]


async def test_a_form_that_needs_more_than_a_yes_is_declined_and_that_is_said(servers: Any, tmp_path: Path) -> None:
    turns = [[scripted_call("s__ask", {})], [text("done")]]
    result = await agent(servers.command(), tmp_path / "runs.db", turns).run("go")
    assert "decline" in content_of(result)
    assert "nobody can be asked here" in content_of(result)


async def test_a_server_of_the_older_era_waits_for_no_approval(servers: Any, tmp_path: Path) -> None:
    turns = [[scripted_call("s__confirm", {})], [text("done")]]
    result = await agent(servers.command("--era", "legacy"), tmp_path / "runs.db", turns).run("go")
    assert "decline" in content_of(result)
    assert "nobody can be asked here" in content_of(result)


async def test_what_was_sent_after_the_answer_is_not_sent_again(servers: Any, tmp_path: Path) -> None:
    journal = tmp_path / "runs.db"
    result = await rested(servers, journal)
    first = agent(servers.command(), journal, [[text("done")]])
    first.approve(result.waiting[0].run_id, result.waiting[0].call_id, by="Ann")

    # The process dies after the answer was carried to the server and before the result was recorded.
    class Died(BaseException):
        pass

    kept = first.journal.append

    def die(run_id: str, *drafts: Any, **more: Any) -> Any:
        if run_id == result.run_id and any(draft.kind == "call_finished" for draft in drafts):
            raise Died
        return kept(run_id, *drafts, **more)

    first.journal.append = die  # type: ignore[method-assign]
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - however it comes out
        await first.resume(result.run_id)
    assert "Died" in repr(raised.value)
    assert servers.effects().count("deleted") == 1
    resumed = await agent(servers.command(), journal, [[text("done")]]).resume(result.run_id)
    assert "outcome unknown" in content_of(resumed)
    assert servers.effects().count("deleted") == 1


async def test_a_call_that_asked_nothing_and_whose_process_died_stays_in_doubt(servers: Any, tmp_path: Path) -> None:
    journal = tmp_path / "runs.db"
    first = agent(servers.command(), journal, [[scripted_call("s__count", {})]])
    kept = first.journal.append
    run_ids: list[str] = []

    def die(run_id: str, *drafts: Any, **more: Any) -> Any:
        run_ids.append(run_id)
        if any(draft.kind == "call_finished" for draft in drafts):
            raise OSError("the disk is gone")
        return kept(run_id, *drafts, **more)

    first.journal.append = die  # type: ignore[method-assign]
    with pytest.raises(OSError, match="the disk is gone"):
        await first.run("go")
    resumed = await agent(servers.command(), journal, [[text("done")]]).resume(run_ids[0])
    assert "outcome unknown" in content_of(resumed)
    assert servers.effects() == ["counted"]


async def test_a_tool_of_a_server_may_stand_in_for_another_one(servers: Any, tmp_path: Path) -> None:
    @tool(effect="read", fallback="s__count", retries=0)
    def count() -> str:
        """Count."""
        raise ToolError("not here")

    command = servers.command()
    tools = mcp({"mcpServers": {"s": {"command": command[0], "args": command[1:]}}})
    model = ScriptedModel([[scripted_call("count", {})], [text("done")]])
    result = await Agent(model, tools=[count, tools], journal=tmp_path / "runs.db").run("go")
    assert "outcome unknown" not in content_of(result)
    assert servers.effects() == ["counted"]
