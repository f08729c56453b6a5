"""What a tool asks its client and tells it, as the SDK's own client meets it, in both eras."""

from __future__ import annotations

from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    ClientCapabilities,
    CreateMessageResult,
    ElicitRequestURLParams,
    ElicitResult,
    GetPromptRequest,
    GetPromptRequestParams,
    ImageContent,
    ListRootsResult,
    Root,
    TextContent,
)
from pydantic import BaseModel

from wieldy import tool
from wieldy.connect import client as asking_client
from wieldy.connect import mcp_server, prompt
from wieldy.connect.mcp.server.exchange import Raw
from wieldy.connect.serving.calls import CallRules
from wieldy.run.journal import MemoryJournal
from wieldy.run.state import fold

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
BOUND_S = 60


class Room(BaseModel):
    """What a person fills in."""

    size: Literal["small", "large"]
    seats: int = 2


STARTED: list[str] = []


@tool(effect="unsafe")
async def book(day: str) -> str:
    """Book a room."""
    STARTED.append(day)
    room = await asking_client().ask(f"Which room on {day}?", Room)
    if room is None:
        return "nothing is booked"
    sure = await asking_client().ask("Sure?", {"type": "object", "properties": {"ok": {"type": "boolean"}}})
    return f"{room.size} for {room.seats}, {sure}"


@tool(effect="read")
async def think(about: str) -> str:
    """Ask the client's model."""
    return await asking_client().sample(about, max_tokens=10, system="Be brief.")


@tool(effect="read")
async def everything() -> dict[str, Any]:
    """Ask for three things at once."""
    ask = {"mode": "form", "message": "Name?", "requestedSchema": {"type": "object", "properties": {}}}
    return await asking_client().inputs(
        {
            "form": {"method": "elicitation/create", "params": ask},
            "roots": {"method": "roots/list", "params": {}},
        }
    )


@tool(effect="read")
async def visit() -> bool:
    """Send a person somewhere."""
    return await asking_client().visit("Log in", "https://example.org/login", elicitation_id="login-1")


@tool(effect="read")
async def ask_oddly() -> Any:
    """Ask for what there is not."""
    return await asking_client().inputs({"x": {"method": "tools/list", "params": {}}})


@tool(effect="read")
async def say() -> str:
    """Tell the client something."""
    for level in ("debug", "info", "error"):
        asking_client().log(level, {"level": level}, logger="tests")
    return "said"


@tool(effect="read")
def say_from_a_thread() -> str:
    """Tell the client something."""
    asking_client().log("error", "from a thread")
    return "said"


@prompt
async def plan() -> str:
    """Ask before it says something."""
    room = await asking_client().ask("Which room?", Room)
    return f"Plan for {room}"


TOOLS = [book, think, everything, visit, ask_oddly, say, say_from_a_thread]


async def accept(context: Any, params: Any) -> ElicitResult:
    if isinstance(params, ElicitRequestURLParams):
        return ElicitResult(action="accept")
    filled: dict[str, Any] = {"size": "large"} if "room" in params.message else {"ok": True}
    return ElicitResult(action="accept", content=filled)


async def decline(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="decline")


def server(**more: Any) -> Any:
    return mcp_server(TOOLS, prompts=[plan], **more).server


async def test_a_person_at_the_client_fills_in_a_form(era: str) -> None:
    journal = MemoryJournal()
    STARTED.clear()
    async with Client(server(rules=CallRules(journal=journal)), mode=era, elicitation_callback=accept) as client:
        result = await client.call_tool("book", {"day": "Monday"})
        assert result.content[0].text == "large for 2, {'ok': True}"
        filled = await client.get_prompt("plan")
        assert filled.messages[0].content.text == "Plan for size='large' seats=2"
    assert STARTED == ["Monday"]  # once: its code waited where it was
    calls = [call for run_id in journal.run_ids() for call in fold(journal.read(run_id)).calls]
    assert sorted(call.call.name for call in calls) == ["book", "prompt__plan"]


async def test_a_no_is_told(era: str) -> None:
    async with Client(server(), mode=era, elicitation_callback=decline) as client:
        assert (await client.call_tool("book", {"day": "Monday"})).content[0].text == "nothing is booked"


async def test_an_answer_that_does_not_fit_is_an_error(era: str) -> None:
    async def odd(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"size": "huge"})

    async with Client(server(), mode=era, elicitation_callback=odd) as client:
        result = await client.call_tool("book", {"day": "Monday"})
    assert result.is_error
    assert "The client's answers" in result.content[0].text
    assert "'large'" in result.content[0].text or '"large"' in result.content[0].text


async def test_the_clients_model_answers(era: str) -> None:
    heard: list[Any] = []

    async def sample(context: Any, params: Any) -> CreateMessageResult:
        heard.append(params)
        return CreateMessageResult(role="assistant", content=TextContent(text="42"), model="m")

    async with Client(server(), mode=era, sampling_callback=sample) as client:
        assert (await client.call_tool("think", {"about": "all"})).content[0].text == "42"
    assert (heard[0].system_prompt, heard[0].max_tokens, heard[0].messages[0].content.text) == ("Be brief.", 10, "all")


async def test_an_answer_of_the_clients_model_that_is_no_text_is_an_error(era: str) -> None:
    async def sample(context: Any, params: Any) -> CreateMessageResult:
        image = ImageContent(data="AAAA", mime_type="image/png")
        return CreateMessageResult(role="assistant", content=image, model="m")

    async with Client(server(), mode=era, sampling_callback=sample) as client:
        result = await client.call_tool("think", {"about": "all"})
    assert result.is_error
    assert "Expected text from the client's model" in result.content[0].text


async def test_several_things_are_asked_at_once(era: str) -> None:
    async def roots(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///home/anna")])

    callbacks: dict[str, Any] = {"elicitation_callback": accept, "list_roots_callback": roots}
    async with Client(server(), mode=era, **callbacks) as client:
        data = (await client.call_tool("everything", {})).structured_content
        assert data["form"]["action"] == "accept"
        assert data["roots"]["roots"][0]["uri"] == "file:///home/anna"
        assert (await client.call_tool("visit", {})).content[0].text == "true"


async def test_a_client_is_not_asked_for_what_it_has_not_said_that_it_can(era: str) -> None:
    async with Client(server(), mode=era) as client:
        if era == "legacy":
            result = await client.call_tool("think", {"about": "all"})
            assert result.is_error
            assert "needs a client with sampling" in result.content[0].text
            return
        with pytest.raises(MCPError, match="needs a client with sampling") as raised:
            await client.call_tool("think", {"about": "all"})
        assert raised.value.code == -32021
        assert raised.value.data == {"requiredCapabilities": {"sampling": {}}}


async def test_only_what_the_protocol_knows_can_be_asked(era: str) -> None:
    async with Client(server(), mode=era, elicitation_callback=accept) as client:
        result = await client.call_tool("ask_oddly", {})
    assert result.is_error
    assert "Expected one of elicitation/create" in result.content[0].text


async def test_without_a_client_there_is_nobody_to_ask() -> None:
    with pytest.raises(Exception, match="there is none here"):
        await book.function(day="Monday")


# Between two requests


CAPABLE = {"io.modelcontextprotocol/clientCapabilities": ClientCapabilities(elicitation={}).model_dump()}


async def call(client: Client, day: str, **more: Any) -> dict[str, Any]:
    params = CallToolRequestParams(name="book", arguments={"day": day}, **more)
    result = await client.session.send_request(CallToolRequest(params=params), Raw)
    return dict(result.model_extra or {})


def answered(key: str = "input") -> dict[str, Any]:
    return {"input_responses": {key: ElicitResult(action="accept", content={"size": "small"})}}


async def test_a_state_is_good_once_and_for_the_same_call() -> None:
    async with Client(server(), mode="auto", elicitation_callback=accept) as client:
        asked = await call(client, "Monday")
        assert asked["resultType"] == "input_required"
        state = asked["requestState"]
        for wrong, day in ((f"{state}x", "Monday"), (state, "Tuesday")):
            with pytest.raises(MCPError, match="Expected the requestState") as raised:
                await call(client, day, request_state=wrong, **answered())
            assert raised.value.code == -32602
        again = await call(client, "Monday", request_state=state, **answered("other"))
        assert again["inputRequests"] == asked["inputRequests"]  # what was asked for is still missing
        with pytest.raises(MCPError, match="counts once"):
            await call(client, "Monday", request_state=state, **answered())
        second = await call(client, "Monday", request_state=again["requestState"], **answered())
        assert second["inputRequests"]["input"]["params"]["message"] == "Sure?"
        other = GetPromptRequestParams(name="book", request_state=second["requestState"])
        with pytest.raises(MCPError, match="Expected the requestState"):
            await client.session.send_request(GetPromptRequest(params=other), Raw)
        last = await call(client, "Monday", request_state=second["requestState"], **answered())
        assert last["content"][0]["text"].startswith("small for 2")


async def test_a_client_that_keeps_no_state_may_bring_its_answer_along() -> None:
    async with Client(server(), mode="auto", elicitation_callback=accept) as client:
        asked = await call(client, "Monday", **answered())
        assert asked["inputRequests"]["input"]["params"]["message"] == "Sure?"


async def test_a_call_that_waits_is_given_up_with_the_server() -> None:
    journal = MemoryJournal()
    with anyio.fail_after(BOUND_S):
        async with Client(server(rules=CallRules(journal=journal)), mode="auto", elicitation_callback=accept) as client:
            await call(client, "Monday")
    (run_id,) = journal.run_ids()
    assert fold(journal.read(run_id)).status != "finished"


# Log messages


async def logged(name: str, **client_options: Any) -> list[tuple[str, Any, str | None]]:
    heard: list[tuple[str, Any, str | None]] = []

    async def hear(params: Any) -> None:
        heard.append((params.level, params.data, params.logger))

    async with Client(server(), logging_callback=hear, **client_options) as client:
        if client_options["mode"] == "legacy" and name == "say":
            await client.session.set_logging_level("info")
        await client.call_tool(name, {})
    return heard


async def test_a_client_hears_from_the_level_on_that_it_wants() -> None:
    expected = [(level, {"level": level}, "tests") for level in ("info", "error")]
    assert await logged("say", mode="legacy") == expected
    assert await logged("say", mode="auto", log_level="info") == expected
    assert await logged("say_from_a_thread", mode="legacy") == [("error", "from a thread", None)]
    assert await logged("say_from_a_thread", mode="auto", log_level="debug") == [("error", "from a thread", None)]


async def test_a_client_without_a_handshake_that_has_not_asked_hears_nothing() -> None:
    assert await logged("say", mode="auto", log_level=None) == []
