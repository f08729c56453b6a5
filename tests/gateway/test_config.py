"""What a configuration may say, and what is said of one that cannot be."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from gateway_world import KEYS, World
from hypothesis import example, given
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.core.principals import Principal
from wieldy.gateway.application import gateway_application
from wieldy.gateway.config import read_config
from wieldy.gateway.pins import Definition, Pins, pinned_part
from wieldy.gateway.written import content_of

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
        (SERVER | {"listen": {"port": "http"}}, "`port`: expected a whole number"),
        (SERVER | {"approvals": {"wait": 3}}, "expected wait_s; found 'wait'"),
        (SERVER | {"policy": {"rules": [{"decision": "maybe"}]}}, "gateway.json, policy: rules[0]: expected the dec"),
        (SERVER | {"policy": None}, "gateway.json, policy: expected an object, found NoneType"),
        (SERVER | {"principals": {" ": ANNA["anna"]}}, "principals: expected a name for each, found an empty one"),
        (SERVER | {"principals": {"anna": {"key": {"env": "ANNA"}, "tools": 5}}}, "a list of texts"),
        (SERVER | {"principals": {"anna": {"key": {"env": "ANNA"}, "tools": None}}}, "a list of texts, found nothing"),
        (SERVER | {"principals": {"anna": {"key": {"env": "ANNA"}, "permissions": None}}}, "found nothing"),
        (SERVER | {"principals": None}, "expected an object, found nothing"),
        (SERVER | {"principals": {}}, "`principals`: expected at least one, found none. Without"),
        (SERVER | {"principals": {"anna": {"key": None}}}, "expected a reference to a secret"),
        (SERVER | {"policy": {"rules": [{"decision": "allow", "tools": None}]}}, "tools: expected a value"),
        (SERVER | {"listen": {"port": 1.5}}, "a whole number from 0 to 65535, found 1.5"),
        (SERVER | {"listen": {"port": 65536}}, "a whole number from 0 to 65535, found 65536"),
        (SERVER | {"listen": {"port": True}}, "a whole number from 0 to 65535"),
        (SERVER | {"listen": {"port": -1}}, "a whole number from 0 to 65535"),
        (SERVER | {"approvals": {"wait_s": -1}}, "a number from 0 on"),
    ],
)
def test_what_cannot_be_is_refused_with_the_place(world: World, config: Any, said: str) -> None:
    world.environment["SHORT"] = "short"
    with pytest.raises(UsageError) as refused:
        read(world, config)
    assert said in str(refused.value)
    assert KEYS["ANNA"] not in str(refused.value)


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({"mcpServers": {"one": {"command": "x", "args": 1}}}, "mcpServers.one, `args`: expected a list of texts"),
        ({"mcpServers": {"one": {"command": "x", "url": "y"}}}, "mcpServers.one: expected either"),
        ({"services": {"s": {"document": "no.json"}}}, "services.s: "),
        (
            {"services": {"s": {"document": {"openapi": "3.1.0"}, "effects": {"a": "no"}}}},
            "services.s: expected effects=",
        ),
    ],
)
def test_a_source_that_cannot_be_is_named_with_its_file(world: World, sources: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        world.gateway(**sources)
    assert f"gateway.json, {said}" in str(caught.value)


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


@given(text=st.text("0123456789abcdefABCDEF g\n", max_size=70))
@example("")
@example("a" * 63)
@example("a" * 64)
@example("aa " * 21 + "a")
def test_a_digest_is_one_or_there_is_no_gateway(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("config") / "gateway.json"
    for name in ("anna", "everybody"):
        file.write_text(json.dumps(SERVER | {"principals": {name: {"key": {"sha256": text}}}}))
        if re.fullmatch("[0-9a-fA-F]{64}", text):
            config = read_config(file, environment={})
            assert config.callers[name].key_digest == text.lower()
            assert config.keys is not None
        else:
            with pytest.raises(UsageError, match="64 hexadecimal digits"):
                read_config(file, environment={})


def test_who_has_no_key_is_nobody_where_there_are_keys(world: World) -> None:
    callers = {"everybody": {"key": {"env": "ANNA"}}}
    gateway = world.gateway(mcpServers={"one": {"command": "x"}}, principals=callers)
    for call in (lambda: gateway.offered_to(None), lambda: gateway.offered_to(Principal(name="somebody"))):
        with pytest.raises(UsageError, match="one of this gateway's principals"):
            call()


names = st.text("abyn01~.- ", min_size=1, max_size=4)


@given(entries=st.lists(names, min_size=2, max_size=4), depth=st.integers(0, 2), is_yaml=st.booleans())
@example(["anna", "build", "anna"], 1, True)
@example(["one", "one"], 0, False)
def test_what_stands_twice_is_refused(
    tmp_path_factory: pytest.TempPathFactory, entries: list[str], depth: int, is_yaml: bool
) -> None:
    file = tmp_path_factory.mktemp("config") / f"gateway.{'yaml' if is_yaml else 'json'}"
    text = "{" + ", ".join(f"{json.dumps(name)}: {at}" for at, name in enumerate(entries)) + "}"
    if is_yaml:  # no JSON, in the way that people write it
        text = "".join(f"\n{'  ' * (depth + 1)}{json.dumps(name)}: {at} # {at}" for at, name in enumerate(entries))
    outer = "".join(f"\n{'  ' * at}x:" if is_yaml else '{"x": ' for at in range(depth))
    file.write_text(f"{outer}{text}" if is_yaml else outer + text + "}" * depth)
    if len(set(entries)) == len(entries):
        found: Any = content_of(file)
        for _ in range(depth):
            found = found["x"]
        assert found == {name: at for at, name in enumerate(entries)}
    else:
        with pytest.raises(UsageError, match="twice"):
            content_of(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"listen": {"port": 1e999}}', "`port`: expected a whole number"),
        ("listen: {port: .inf}", "`port`: expected a whole number"),
        ("approvals: {wait_s: .inf}", "a number from 0 on, found inf"),
        ("mcpServers: {1: {command: x}}", "found 1; write it in quotes"),
        ("principals: {yes: {key: {env: ANNA}}}", "found True; write it in quotes"),
        ("mcpServers: {a: {command: x}, 'a': {command: y}}", "the key 'a' twice"),
        ("[" * 100_000, "found something else"),
    ],
)
def test_what_no_configuration_can_say(world: World, text: str, said: str) -> None:
    file = world.folder / "gateway.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_config(file, environment=world.environment)
    assert said in str(refused.value)


def test_what_is_merged_into_an_object_may_be_said_again_there(world: World) -> None:
    file = world.folder / "gateway.yaml"
    file.write_text("functions:\n  one: &a {file: a.py, pinned: false}\n  two: {<<: *a, file: b.py}\n")
    functions = read_config(file, environment={}).functions
    assert functions["two"].values == {"file": "b.py", "pinned": False}


def test_others_than_this_machine_are_served_with_keys_only(world: World) -> None:
    gateway = world.gateway(mcpServers={"one": {"command": "x"}}, principals=None, listen={"host": "0.0.0.0"})
    with pytest.raises(UsageError, match="Expected keys where others"):
        gateway_application(gateway)
    gateway_application(world.gateway(mcpServers={"one": {"command": "x"}}, principals=None))


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
