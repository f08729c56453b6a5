"""Prompts and resources beside tools: nobody is shown a credential, and one accepted name is one thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gateway_world import described, principal

from wieldy.connect.serving.client import ProtocolRefusalError
from wieldy.core.json import canonical_json

pytestmark = pytest.mark.anyio
CANARY = "canary-7f3a-canary"


async def all_of(gateway: Any, who: str) -> list[Any]:
    """Tools and prompts, as `wieldy gateway pins` shows them."""
    return [*gateway.catalogue.listed(who), *(each.listed for each in await gateway.shelf.prompts(who))]


async def test_what_holds_a_credential_is_shown_to_nobody_and_cannot_be_accepted(world: Any, call: Any) -> None:
    world.environment["CANARY"] = CANARY
    one = world.upstream("one")
    one.says_also(
        described("echo"),
        described("says", f"With {CANARY}."),
        described(f"named-{CANARY}"),
        prompts=[
            {"name": "open"},
            {"name": "says", "description": f"With {CANARY}."},
            {"name": "asks", "arguments": [{"name": f"x-{CANARY}"}]},
            {"name": f"named-{CANARY}"},
        ],
        resources=[
            {"uri": "file:///open", "name": "open"},
            {"uri": f"file:///{CANARY}", "name": "address"},
            {"uri": "file:///says", "name": "says", "description": f"With {CANARY}."},
        ],
    )
    command = one.command | {"env": {"CANARY_TOKEN": {"env": "CANARY"}}}
    async with world.opened(accept=False, mcpServers={"one": command}) as gateway:
        anna = principal(gateway, "anna")
        listed = await all_of(gateway, "anna")
        assert [each.state for each in listed] == ["new", "secret", "secret", "new", "secret", "secret", "secret"]
        gateway.catalogue.pins.accept(each.definition for each in listed)  # however that came about
        listed = await all_of(gateway, "anna")
        assert [each.name for each in listed if each.is_callable] == ["one__echo", "one__prompt__open"]
        shown = [await gateway.shelf.listed(kind, principal=anna) for kind in ("prompts", "resources")]
        assert [each["name"] for each in shown[0]] == ["one__open"]
        assert [each["uri"] for each in shown[1]] == ["gateway://one/file:///open"]
        with pytest.raises(ProtocolRefusalError):
            await gateway.shelf.get_prompt("one__says", {}, principal=anna)
        assert (await call(gateway, "anna", f"one__named-{CANARY}")).is_error
        told = [[each.name, each.definition.original, each.definition.said] for each in listed]
        assert CANARY not in canonical_json([told, shown]) + gateway.config.pins.read_text()
    assert one.calls() == []


TAKEN = ["prompt__greet", "read_resource", "prompts/greet", "tools/prompts/greet", "prompt__", "echo"]


@pytest.mark.parametrize("prefix", [True, False])
async def test_to_accept_one_thing_is_to_accept_nothing_else(world: Any, call: Any, prefix: bool) -> None:
    one = world.upstream("one")
    prompts = [{"name": name} for name in ("greet", "echo", "prompt__greet", "read_resource", "prompts/greet")]
    one.says_also(*map(described, TAKEN), prompts=prompts, resources=[{"uri": "file:///a", "name": "a"}])
    config: Any = {"one": one.command | {"prefix": prefix}}
    async with world.opened(accept=False, mcpServers=config) as gateway:
        pins, count = gateway.catalogue.pins, len(TAKEN) + len(prompts)
        for at in range(count):
            listed = await all_of(gateway, "anna")
            assert len({each.name for each in listed}) == count
            assert [each.is_callable for each in listed] == [True] * at + [False] * (count - at)
            assert not any(each.name.endswith("read_resource") for each in gateway.catalogue.listed("anna"))
            pins.accept([listed[at].definition])
        offered = [each.tool.name for each in gateway.offered_to(principal(gateway, "anna"))]
        for name in offered:
            await call(gateway, "anna", name, text="x")
        assert one.calls() == TAKEN
        shown = await gateway.shelf.listed("prompts", principal=principal(gateway, "anna"))
        for each in shown:
            await gateway.shelf.get_prompt(str(each["name"]), {}, principal=principal(gateway, "anna"))
    heard = [json.loads(line) for line in one.heard.read_text().splitlines()]
    assert [each["prompt"] for each in heard if "prompt" in each] == [each["name"] for each in prompts]


async def test_who_may_not_read_resources_may_call_a_tool_of_that_name_and_the_other_way_round(
    world: Any, call: Any
) -> None:
    one = world.upstream("one")
    one.says_also(described("read_resource"), resources=[{"uri": "file:///a", "name": "a"}])
    callers = {"anna": {"key": {"env": "ANNA"}, "tools": ["one__read_resource"]}, "bob": {"key": {"env": "BOB"}}}
    async with world.opened(mcpServers={"one": one.command}, principals=callers) as gateway:
        assert gateway.offered_to(principal(gateway, "anna")) == []
        assert (await call(gateway, "anna", "one__read_resource")).is_error
        assert len(await gateway.shelf.listed("resources", principal=principal(gateway, "anna"))) == 1
        (offered,) = gateway.offered_to(principal(gateway, "bob"))
        assert not (await call(gateway, "bob", offered.tool.name)).is_error
    assert one.calls() == ["read_resource"]
