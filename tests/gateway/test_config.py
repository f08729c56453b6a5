"""What a configuration may say, and what is said of one that cannot be."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from gateway_world import KEYS, World
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.gateway.application import gateway_application
from wieldy.gateway.config import read_config
from wieldy.gateway.pins import Definition, Pins, pinned_part

SERVER = {"mcpServers": {"one": {"command": "x"}}}
ANNA = {"anna": {"key": {"env": "ANNA"}}}


def read(world: World, config: Any) -> Any:
    file = world.folder / "gateway.json"
    file.write_text(json.dumps(config))
    return read_config(file, environment=world.environment)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ([], "expected an object, found list"),
        ({}, "expected `mcpServers`, `services` or `functions`, found none"),
        (SERVER | {"principle": {}}, "did you mean 'principals'"),
        (SERVER | {"principals": {"anna": {"key": "plain"}}}, "secrets do not stand here"),
        (SERVER | {"principals": {"anna": {}}}, "expected a reference to a secret"),
        (SERVER | {"principals": {"anna": {"key": {"env": "NOT_SET"}}}}, "NOT_SET to be set"),
        (SERVER | {"principals": {"anna": {"key": {"file": "missing"}}}}, "the file 'missing' cannot be read"),
        (SERVER | {"principals": {"anna": {"key": {"env": "SHORT"}}}}, "at least 16 characters"),
        (SERVER | {"principals": ANNA | {"b": {"key": {"env": "ANNA"}}}}, "found one key twice"),
        (SERVER | {"functions": {"one": {"file": "x.py"}}}, "sources with different names, found 'one'"),
        (SERVER | {"listen": {"port": "http"}}, "`port`: expected a number"),
        (SERVER | {"approvals": {"wait": 3}}, "expected wait_s; found 'wait'"),
        (SERVER | {"policy": {"rules": [{"decision": "maybe"}]}}, "decision"),
        (SERVER | {"principals": {"anna": {"key": {"env": "ANNA"}, "tools": 5}}}, "a list of texts"),
    ],
)
def test_what_cannot_be_is_refused_with_the_place(world: World, config: Any, said: str) -> None:
    world.environment["SHORT"] = "short"
    with pytest.raises(UsageError) as refused:
        read(world, config)
    assert said in str(refused.value)
    assert KEYS["ANNA"] not in str(refused.value)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"command": "x", "session": "mine"}, "expected 'shared' or 'principal'"),
        ({"command": "x", "as": {"anna": {}}}, '"session": "principal"'),
        ({"command": "x", "session": "principal", "as": {"carl": {}}}, "expected a principal"),
        ({"command": "x", "env": {"T": {"env": "NOT_SET"}}}, "env.T: expected the environment variable NOT_SET"),
        ({}, "expected either `command` or `url`"),
    ],
)
def test_what_a_server_cannot_be_is_refused(world: World, entry: Any, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        world.gateway(mcpServers={"one": entry})
    assert said in str(refused.value)


def test_keys_are_kept_as_digests_only(world: World) -> None:
    config = read(world, SERVER | {"principals": ANNA | {"bob": {"key": {"sha256": "a" * 64}}}})
    assert config.callers["anna"].key_digest == sha256(KEYS["ANNA"].encode()).hexdigest()
    assert KEYS["ANNA"] not in repr(config)
    assert config.keys.principal_of(f"Bearer {KEYS['ANNA']}").name == "anna"
    assert config.keys.principal_of("Bearer " + "a" * 64) is None  # a digest is no key


def test_others_than_this_machine_are_served_with_keys_only(world: World) -> None:
    gateway = world.gateway(mcpServers={"one": {"command": "x"}}, principals={}, listen={"host": "0.0.0.0"})
    with pytest.raises(UsageError, match="Expected keys where others"):
        gateway_application(gateway)
    gateway_application(world.gateway(mcpServers={"one": {"command": "x"}}, principals={}))


def test_yaml_says_the_same_as_json(world: World) -> None:
    file = world.folder / "gateway.yaml"
    file.write_text("mcpServers: {one: {command: x}}\nprincipals:\n  anna: {key: {env: ANNA}, tools: [a, b]}\n")
    config = read_config(file, environment=world.environment)
    assert config.callers["anna"].tools == ("a", "b")
    assert config.pins == world.folder / "gateway.pins.json"
    file.write_text("a: [")
    with pytest.raises(UsageError, match="expected YAML or JSON"):
        read_config(file, environment=world.environment)


# What was accepted

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
definitions = st.builds(
    lambda name, description, more: {"name": name, "description": description, "inputSchema": more},
    texts,
    texts,
    st.dictionaries(texts, st.integers() | texts | st.lists(texts, max_size=2), max_size=3),
)


@given(said=st.lists(definitions, max_size=4, unique_by=lambda each: each["name"]), other=definitions)
def test_what_was_accepted_is_callable_in_the_next_process_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, said: list[Any], other: Any
) -> None:
    file = tmp_path_factory.mktemp("pins") / "pins.json"
    all_of_them = [Definition(source="s", original=each["name"], said=pinned_part(each)) for each in said]
    Pins(file).accept(all_of_them)
    again = Pins(file)
    again.refresh()
    assert all(again.state_of(each) == "accepted" for each in all_of_them)
    stranger = Definition(source="s", original=other["name"], said=pinned_part(other))
    assert (again.state_of(stranger) == "accepted") == (other in said)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 2, "sources": {}}', '{"version": 1, "sources": 3}'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "pins.json"
    file.write_text(content)
    with pytest.raises(UsageError, match="expected the file that `wieldy gateway pins` writes"):
        Pins(file).refresh()


@pytest.mark.parametrize("change", ["definition", "taken away"])
def test_a_file_that_does_not_agree_with_itself_is_refused(tmp_path: Path, change: str) -> None:
    file = tmp_path / "pins.json"
    pins = Pins(file)
    pins.accept(Definition(source="s", original=name, said={"name": name}) for name in ("a", "b"))
    content = json.loads(file.read_text())
    if change == "definition":
        content["sources"]["s"]["tools"]["a"]["definition"]["description"] = "another"
    else:
        del content["sources"]["s"]["tools"]["a"]
    file.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="was changed by something else"):
        Pins(file).refresh()
