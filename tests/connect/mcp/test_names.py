"""Names of servers' tools: fit for every provider, different for different tools, readable wherever they can be."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from wieldy.connect.mcp.names import SEPARATOR, offered_name, servers_part

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")
words = st.text(st.sampled_from("ab_-.é 0"), max_size=80) | st.text(max_size=20)
servers = st.none() | words


def test_a_name_is_the_server_and_the_tool() -> None:
    assert offered_name("time", "get_current_time") == "time__get_current_time"
    assert offered_name(None, "get_current_time") == "get_current_time"


@given(servers, words)
@example("", "")
@example("a", "x" * 200)
def test_every_name_is_one_that_every_provider_takes(server: str | None, tool: str) -> None:
    name = offered_name(server, tool)
    assert LEGAL.fullmatch(name)
    assert name == offered_name(server, tool)


@given(st.lists(st.tuples(words, words), min_size=2, max_size=8, unique=True))
@example([("a", "_b"), ("a_", "b")])
@example([("a", "b__c"), ("a__b", "c")])
@example([("é", "x"), ("è", "x"), ("_", "x")])
def test_different_tools_of_named_servers_have_different_names(pairs: list[tuple[str, str]]) -> None:
    assert len({offered_name(*pair) for pair in pairs}) == len(pairs)


@given(words, words)
def test_a_name_without_a_digest_is_read_back(server: str, tool: str) -> None:
    name = offered_name(server, tool)
    if not re.fullmatch(r".*_[0-9a-f]{8}", name):
        assert tuple(name.split(SEPARATOR, 1)) == (server, tool)


@given(words, words)
@example("a" * 60, "b")
def test_every_name_begins_with_its_servers_part(server: str, tool: str) -> None:
    assert offered_name(server, tool).startswith(servers_part(server))
