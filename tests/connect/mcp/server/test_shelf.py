"""Prompts, resources, completion and changes, as the SDK's own client meets them, in both eras."""

from __future__ import annotations

import base64
from typing import Any, Literal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    PromptReference,
    ResourceListChangedNotification,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
)

from wieldy import Deny, FilePart, ImagePart, Message, Principal, Rule, Rules, tool
from wieldy.connect import mcp_server, prompt, resource
from wieldy.connect.serving.blocks import ResourceContent
from wieldy.connect.serving.calls import CallRules
from wieldy.core.errors import UsageError
from wieldy.run.journal import MemoryJournal
from wieldy.run.state import fold

pytestmark = pytest.mark.anyio
BOUND_S = 60
PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
Tone = Literal["kind", "strict"]


@prompt(title="Review")
def review(code: str, tone: Tone = "kind", times: int = 1) -> str:
    """Review code.

    Args:
        code: What to review.
    """
    return f"Review {times}x, {tone}: {code}"


@prompt(name="all.kinds", description="One of each.", complete={"word": lambda written: [f"{written}!"]})
async def kinds(word: str = "") -> list[object]:
    return [
        word,
        ImagePart.from_bytes(PICTURE),
        FilePart.from_bytes(b"x", name="x.wav"),
        ResourceContent(uri="notes://a", content="A"),
        Message.assistant("Gladly."),
    ]


@prompt(permission="secrets:read")
def secret() -> str:
    return "psst"


@resource("notes://today", media_type="text/markdown")
def today() -> str:
    """What is to be done."""
    return "# Today"


@resource(
    "notes://{folder}/{name}", complete={"name": lambda written: [n for n in ("a b", "b") if n.startswith(written)]}
)
async def note(folder: str, name: str) -> dict[str, str]:
    return {"folder": folder, "name": name}


@resource("picture://one", media_type="image/png")
def picture() -> bytes:
    return PICTURE


@resource("several://one")
def several() -> list[ResourceContent]:
    return [ResourceContent(uri="several://a", content="A"), ResourceContent(uri="several://b", content=b"B")]


@resource("locked://one", permission="secrets:read")
def locked() -> str:
    return "locked"


@resource("broken://one")
def broken() -> str:
    raise ZeroDivisionError("secret internals")


PROMPTS = [review, kinds, secret]
RESOURCES = [today, note, picture, several, locked, broken]


def wire(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def served(**more: Any) -> Any:
    return mcp_server([], prompts=PROMPTS, resources=RESOURCES, **more)


async def test_prompts_are_listed_with_their_arguments_and_filled_in(era: str) -> None:
    async with Client(served().server, mode=era) as client:
        listed = {each.name: each for each in (await client.list_prompts()).prompts}
        assert list(listed) == ["review", "all.kinds"]  # the third one needs a permission
        assert (listed["review"].title, listed["review"].description) == ("Review", "Review code.")
        arguments = [(each.name, each.required) for each in listed["review"].arguments or ()]
        assert arguments == [("code", True), ("tone", False), ("times", False)]
        assert (listed["review"].arguments or ())[0].description == "What to review."
        filled = await client.get_prompt("review", {"code": "x = 1", "tone": "strict", "times": "3"})
        assert [(each.role, each.content.text) for each in filled.messages] == [("user", "Review 3x, strict: x = 1")]


async def test_a_prompt_says_texts_images_files_resources_and_messages(era: str) -> None:
    async with Client(served().server, mode=era) as client:
        messages = (await client.get_prompt("all.kinds", {"word": "hello"})).messages
        said = [
            (each.role, each.content.model_dump(mode="json", by_alias=True, exclude_none=True)) for each in messages
        ]
    assert said == [
        ("user", {"type": "text", "text": "hello"}),
        ("user", {"type": "image", "data": base64.b64encode(PICTURE).decode(), "mimeType": "image/png"}),
        ("user", {"type": "audio", "data": base64.b64encode(b"x").decode(), "mimeType": "audio/wav"}),
        ("user", {"type": "resource", "resource": {"uri": "notes://a", "mimeType": "text/plain", "text": "A"}}),
        ("assistant", {"type": "text", "text": "Gladly."}),
    ]


async def test_what_is_wrong_with_a_request_is_said(era: str) -> None:
    async with Client(served().server, mode=era) as client:
        for name, arguments, expected in (
            ("nothing", {}, "List the prompts"),
            ("secret", {}, "List the prompts"),
            ("review", {}, "code"),
            ("review", {"code": "x", "times": "many"}, "times"),
        ):
            with pytest.raises(MCPError, match=expected) as raised:
                await client.get_prompt(name, arguments)
            assert raised.value.code == -32602
        for uri, expected in (("notes://nothing", "List the resources"), ("locked://one", "List the resources")):
            with pytest.raises(MCPError, match=expected) as raised:
                await client.read_resource(uri)
            assert (raised.value.code, raised.value.data) == (-32602, {"uri": uri})
        with pytest.raises(MCPError) as raised:
            await client.read_resource("broken://one")
        assert "secret internals" not in str(raised.value)


async def test_resources_are_listed_and_read_by_address_and_by_template(era: str) -> None:
    async with Client(served().server, mode=era) as client:
        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed] == ["notes://today", "picture://one", "several://one", "broken://one"]
        assert (listed[0].name, listed[0].description, listed[0].mime_type) == (
            "today",
            "What is to be done.",
            "text/markdown",
        )
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["notes://{folder}/{name}"]

        async def read(uri: str) -> list[Any]:
            contents = (await client.read_resource(uri)).contents
            return [wire(each) for each in contents]

        assert await read("notes://today") == [{"uri": "notes://today", "mimeType": "text/markdown", "text": "# Today"}]
        (filled,) = await read("notes://a%2Fb/c%20d")
        assert filled["text"] == '{"folder": "a/b", "name": "c d"}'
        assert filled["mimeType"] == "application/json"
        (blob,) = await read("picture://one")
        assert base64.b64decode(blob["blob"]) == PICTURE
        assert [each["uri"] for each in await read("several://one")] == ["several://a", "several://b"]


async def test_arguments_complete_by_functions_and_choices_by_themselves(era: str) -> None:
    async with Client(served().server, mode=era) as client:

        async def values(ref: Any, name: str, written: str) -> list[str]:
            return (await client.complete(ref, {"name": name, "value": written})).completion.values

        assert await values(PromptReference(name="review"), "tone", "S") == ["strict"]
        assert await values(PromptReference(name="review"), "code", "x") == []
        assert await values(PromptReference(name="all.kinds"), "word", "hey") == ["hey!"]
        template = ResourceTemplateReference(uri="notes://{folder}/{name}")
        assert await values(template, "name", "a") == ["a b"]
        with pytest.raises(MCPError, match="List the prompts"):
            await values(PromptReference(name="secret"), "word", "")


async def test_who_holds_the_permission_has_what_needs_it(era: str) -> None:
    principal = Principal(name="anna", permissions={"secrets:*"})
    async with Client(served(principal=principal).server, mode=era) as client:
        assert "secret" in [each.name for each in (await client.list_prompts()).prompts]
        assert (await client.get_prompt("secret")).messages[0].content.text == "psst"
        assert (await client.read_resource("locked://one")).contents[0].text == "locked"


async def test_each_request_is_a_run_that_the_policy_allows(era: str) -> None:
    journal = MemoryJournal()
    policy = Rules([Rule(Deny("not today"), tools="resource__today")])
    async with Client(served(rules=CallRules(policy=policy, journal=journal)).server, mode=era) as client:
        await client.get_prompt("review", {"code": "x"})
        with pytest.raises(MCPError, match="not today"):
            await client.read_resource("notes://today")
    calls = [call.call.name for run_id in journal.run_ids() for call in fold(journal.read(run_id)).calls]
    assert sorted(calls) == ["prompt__review", "resource__today"]


async def test_there_is_no_capability_for_what_there_is_not(era: str) -> None:
    @tool(effect="read")
    def add(a: int, b: int) -> int:
        return a + b

    async with Client(mcp_server(add).server, mode=era) as client:
        has = client.server_capabilities
        assert (has.prompts, has.resources, has.completions) == (None, None, None)
        with pytest.raises(MCPError):
            await client.list_prompts()
    async with Client(mcp_server(prompts=[secret]).server, mode=era) as client:
        has = client.server_capabilities
        assert has.prompts is not None
        assert (has.resources, has.completions) == (None, None)


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_client_of_a_handshake_hears_of_the_changes_that_it_wants() -> None:
    server = served()
    heard: list[Any] = []
    has_heard = anyio.Event()

    async def hear(message: Any) -> None:
        heard.append(message)
        if isinstance(message, ResourceListChangedNotification):
            has_heard.set()

    async with Client(server.server, mode="legacy", message_handler=hear) as client:
        await client.session.subscribe_resource("notes://today")
        await client.session.subscribe_resource("several://one")
        await client.session.unsubscribe_resource("several://one")
        with pytest.raises(MCPError, match="List the resources"):
            await client.session.subscribe_resource("locked://one")
        for uri in ("several://one", "notes://today", "picture://one"):
            await server.tell_update(uri)
        await server.tell_change("resources")
        with anyio.fail_after(BOUND_S):
            await has_heard.wait()
    updated = [each.params.uri for each in heard if isinstance(each, ResourceUpdatedNotification)]
    assert updated == ["notes://today"]


async def test_a_client_without_a_handshake_hears_of_what_it_listens_for() -> None:
    server = served()
    async with Client(server.server, mode="auto") as client:
        wanted = ["notes://today", "locked://one"]
        async with client.listen(resource_subscriptions=wanted, prompts_list_changed=True) as subscription:
            await server.tell_update("locked://one")  # which is not there for this caller
            await server.tell_change("tools")
            await server.tell_update("notes://today")
            await server.tell_change("prompts")
            heard: list[str] = []
            with anyio.fail_after(BOUND_S):
                async for event in subscription:
                    heard.append(type(event).__name__)
                    if len(heard) == 2:
                        break
    assert heard == ["ResourceUpdated", "PromptsListChanged"]


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_what_a_template_is_filled_in_with_comes_back(folder: str, name: str) -> None:
    from urllib.parse import quote

    folder, name = (each.encode("utf-8", "replace").decode() for each in (folder, name))
    uri = f"notes://{quote(folder, safe='')}/{quote(name, safe='')}"
    assert note.match(uri) == {"folder": folder, "name": name}


@given(st.text(max_size=30))
def test_a_template_takes_no_address_with_more_or_fewer_parts(text: str) -> None:
    found = note.match(f"notes://{text}")
    assert (found is not None) == (text.count("/") == 1 and all(text.split("/")) and not set("?#") & set(text))


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("today", "scheme"),
        ("notes://{name}/{name}", "each once"),
        ("notes://{na-me}", "in braces"),
        ("notes://today", "a place for each parameter"),
        ("notes://{other}", "a place for each parameter"),
    ],
)
def test_an_address_that_does_not_fit_its_function_is_refused(uri: str, message: str) -> None:
    def read(name: str) -> str:
        return name

    with pytest.raises(UsageError, match=message):
        resource(uri)(read)


def test_what_completes_nothing_and_what_has_one_name_is_refused() -> None:
    def say(word: str) -> str:
        return word

    with pytest.raises(UsageError, match="'words'"):
        prompt(complete={"words": lambda written: []})(say)
    with pytest.raises(UsageError, match="'words'"):
        resource("words://{word}", complete={"words": lambda written: []})(say)
    with pytest.raises(UsageError, match="twice"):
        mcp_server(prompts=[prompt(say), prompt(say)])
