"""Which servers are meant, in every form in which that can be said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from wieldy import UsageError
from wieldy.connect.mcp.client.sdk import Address
from wieldy.connect.mcp.client.stdio import Command
from wieldy.connect.mcp.config import read_config

ENVIRONMENT = {"API_TOKEN": "canary-7f3a", "PLACE": "Rome"}


def read(config: Any) -> Any:
    return read_config(config, environment=ENVIRONMENT)


def command_of(config: Any) -> Command:
    (server,) = read(config)
    assert isinstance(server.target, Command)
    return server.target


def address_of(config: Any) -> Address:
    (server,) = read(config)
    assert isinstance(server.target, Address)
    return server.target


FILE = {
    "mcpServers": {
        "time": {"command": "uvx", "args": ["mcp-server-time", "--zone=${PLACE}"], "env": {"TOKEN": "${API_TOKEN}"}},
        "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${API_TOKEN}"}, "type": "http"},
        "old": {"url": "https://example.org/sse", "type": "sse", "trusted": True, "timeout_s": 5, "tools": ["a"]},
    }
}


def test_a_file_as_desktop_clients_have_it(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(FILE))
    for config in (path, str(path), FILE):
        time, web, old = read(config)
        assert (time.name, web.name, old.name) == ("time", "web", "old")
        assert time.target == Command(
            program="uvx", arguments=("mcp-server-time", "--zone=Rome"), environment={"TOKEN": "canary-7f3a"}
        )
        assert web.target == Address(url="https://example.org/mcp", headers={"Authorization": "Bearer canary-7f3a"})
        assert old.target.is_sse
        assert (old.is_trusted, old.timeout_s, old.tools) == (True, 5, ("a",))
        assert not time.is_trusted


def test_a_command_line_a_list_and_a_url() -> None:
    assert command_of("uvx 'a b' --c").arguments == ("a b", "--c")
    assert command_of(["uvx", "x"]).program == "uvx"
    assert command_of({"command": "uvx", "cwd": "/tmp"}).folder == Path("/tmp")
    assert address_of("https://example.org/mcp").url == "https://example.org/mcp"
    assert address_of({"url": "http://127.0.0.1:9/mcp"}).headers == {}


def test_only_what_is_named_is_looked_up() -> None:
    assert command_of(["x", "$PLACE", "${PLACE}", "${NO_PLACE:-Paris}", "%PLACE%", "~"]).arguments == (
        "$PLACE",
        "Rome",
        "Paris",
        "%PLACE%",
        "~",
    )


def test_secrets_are_in_no_text() -> None:
    for server in read(FILE):
        assert "canary" not in repr(server)
    assert set(read(FILE)[1].secrets.values()) == {"canary-7f3a"}
    (server,) = read({"url": "https://me:canary-77@example.org/mcp?key=canary-77"})
    assert "canary" not in server.title


@pytest.mark.parametrize("name", ["DB_PW", "GH_PAT", "PAT", "MY_APIKEY", "db-pwd", "SMTP_PASS", "X-Pin", "DSN", "SIG2"])
def test_names_say_what_is_a_secret(name: str) -> None:
    (server,) = read({"command": "x", "env": {name: "Q7x!"}})
    assert set(server.secrets.values()) == {"Q7x!"}
    (server,) = read({"url": "https://example.org/mcp", "headers": {name: "Q7x!"}})
    assert set(server.secrets.values()) == {"Q7x!"}


def test_a_variable_is_a_secret_whatever_it_is_given_to() -> None:
    entry = {"command": "x", "args": ["--db", "postgres://u:${DB_PW}@h/x"], "env": {"ADDRESS": "u:${GH_PAT}"}}
    (server,) = read_config(entry, environment={"DB_PW": "CANARY1", "GH_PAT": "CANARY2"})
    assert set(server.secrets.values()) == {"CANARY1", "CANARY2"}


@pytest.mark.parametrize("name", ["PATH", "PWD", "OLDPWD", "COMPASS", "SPIN", "PATTERN", "SIGNAL", "CERTAINTY"])
def test_what_is_no_secret_is_not_taken_for_one(name: str) -> None:
    (server,) = read({"command": "x", "env": {name: "/usr/share/rome"}})
    assert server.secrets == {}
    (server,) = read({"url": "https://example.org/mcp", "headers": {"X-Year": "2026", "X-Tenant": "acme-rome"}})
    assert set(server.secrets.values()) == {"acme-rome"}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "mcpServers"),
        ({"mcpServers": {}}, "mcpServers"),
        ({"command": "x", "tools": None}, "`tools`: expected a list of texts"),
        ({"command": "x", "at_once": 1.5}, "`at_once`: expected a whole number"),
        ({"command": "x", "at_once": float("inf")}, "`at_once`: expected a number above 0"),
        ({"command": "x", "timeout_s": float("inf")}, "`timeout_s`: expected a number above 0"),
        ({"mcpServers": {"a": {}}}, "server 'a': expected either `command` or `url`, found none"),
        ({"mcpServers": {"a": {"command": "x", "url": "https://e.org"}}}, "found both"),
        ({"mcpServers": {"a": "uvx x"}}, "expected an object"),
        ({"mcpServers": {"a": {"command": "x", "argz": []}}}, "'argz'"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "`args`: expected a list of texts"),
        ({"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}, "`env.A`"),
        ({"mcpServers": {"a": {"command": "x", "args": ["${NO_SUCH}"]}}}, "NO_SUCH"),
        ({"mcpServers": {"a": {"url": "ftp://e.org"}}}, "http://"),
        ({"mcpServers": {"a": {"url": "http://[::1"}}}, "whose host or port cannot be read"),
        ({"mcpServers": {"a": {"url": "http://e.org:0x1"}}}, "whose host or port cannot be read"),
        ({"mcpServers": {"a": {"url": "http://e.org:0"}}}, "http://"),
        ({"mcpServers": {"a": {"url": "http:///mcp"}}}, "http://"),
        ({"mcpServers": {"a": {"url": "http://e.org/\nx"}}}, "no spaces and control characters"),
        (
            {"mcpServers": {"a": {"url": "https://e.org", "headers": {"X": "é"}}}},
            "`headers.X`: expected a value of ASCII",
        ),
        (
            {"mcpServers": {"a": {"url": "https://e.org", "headers": {"X": "a\r\nY: b"}}}},
            "`headers.X`: expected a value",
        ),
        (
            {"mcpServers": {"a": {"url": "https://e.org", "headers": {"X Y": "a"}}}},
            "`headers.X Y`: expected the name of",
        ),
        (
            {"mcpServers": {"a": {"command": "x", "env": {"A": "x\0y"}}}},
            "`env.A`: expected a text without the character 0",
        ),
        ({"mcpServers": {"a": {"command": "x", "env": {"A=B": "x"}}}}, "`env.A=B`: expected the name of a variable"),
        ({"mcpServers": {"a": {"command": "x", "args": ["x\0y"]}}}, "`args`: expected a text without the character 0"),
        ({"mcpServers": {"a": {"command": "x\0y"}}}, "`command`: expected a text without the character 0"),
        ({"mcpServers": {"a": {"command": "x", "cwd": "x\0y"}}}, "`cwd`: expected a text without the character 0"),
        ("http://[::1", "whose host or port cannot be read"),
        ({"mcpServers": {"a": {"url": "https://e.org", "type": "websocket"}}}, "`type`"),
        ({"mcpServers": {"a": {"url": "https://e.org", "type": "stdio"}}}, "`type`"),
        ({"mcpServers": {"a": {"command": "x", "effects": {"t": "keyed"}}}}, "`effects.t`"),
        ({"mcpServers": {"a": {"command": "x", "timeout_s": 0}}}, "`timeout_s`"),
        ({"mcpServers": {"a": {"command": "x", "trusted": "yes"}}}, "`trusted`"),
        ("", "command"),
        ([], "command"),
        ("uvx 'a", "command line"),
        (7, "server object"),
        ("/no/such/file.json", "cannot be read"),
    ],
)
def test_what_cannot_be_is_said_with_its_place(config: Any, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        read(config)


def test_a_file_that_is_no_json_is_said_to_be_none(tmp_path: Path) -> None:
    for content in ("{", "[]", "7"):
        path = tmp_path / "x.json"
        path.write_text(content)
        with pytest.raises(UsageError, match="mcpServers"):
            read(path)


def test_a_file_that_has_a_server_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_text('{"mcpServers": {"one": {"command": "x"}, "one": {"command": "y"}}}')
    with pytest.raises(UsageError, match="twice"):
        read(path)
