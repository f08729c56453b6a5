"""Laws of putting an answer of the Messages API together."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.anthropic_answer import MessageAssembly
from wieldy.connect.models.failures import ServerFacts
from wieldy.core.errors import ModelError
from wieldy.core.events import CallDelta
from wieldy.core.ports import ModelReply

SERVER = ServerFacts(address="http://h", key_help="Set a key.")
STOP: list[dict[str, Any]] = [
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}
]


def reply_of(events: list[dict[str, Any]], taken: tuple[str, ...] = ()) -> ModelReply:
    assembly = MessageAssembly(SERVER, taken_ids=taken)
    for event in [*events, *STOP]:
        list(assembly.feed(event))
    return assembly.close()


def grown(index: int, start: dict[str, Any], kind: str, name: str, pieces: list[str]) -> list[dict[str, Any]]:
    deltas = [{"type": "content_block_delta", "index": index, "delta": {"type": kind, name: piece}} for piece in pieces]
    return [{"type": "content_block_start", "index": index, "content_block": start}, *deltas]


@given(
    thinking=st.text(max_size=20),
    text=st.text(max_size=20),
    arguments=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
    cuts=st.sets(st.integers(1, 100), max_size=6),
)
def test_the_reply_does_not_depend_on_how_blocks_are_cut(thinking, text, arguments, cuts):
    def pieces(whole: str) -> list[str]:
        places = [0, *sorted(cut for cut in cuts if cut < len(whole)), len(whole)]
        return [whole[start:end] for start, end in pairwise(places)]

    def events(cut: bool) -> list[dict[str, Any]]:
        def parts(whole: str) -> list[str]:
            return pieces(whole) if cut else [whole]

        call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
        return [
            *grown(0, {"type": "thinking", "thinking": ""}, "thinking_delta", "thinking", parts(thinking)),
            *grown(1, {"type": "text", "text": ""}, "text_delta", "text", parts(text)),
            *grown(2, call, "input_json_delta", "partial_json", parts(json.dumps(arguments))),
        ]

    assert reply_of(events(cut=True)) == reply_of(events(cut=False))


def test_calls_never_share_an_id_with_each_other_or_with_earlier_ones():
    calls = [
        {"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": "a", "name": "f"}}
        for index in range(3)
    ]
    found = reply_of(calls, taken=("a",)).message.calls
    assert len({"a", *(call.id for call in found)}) == 4
    assert {call.provider_id for call in found} == {"a"}


def test_blocks_of_tools_that_run_at_the_provider_are_passed_over():
    block = {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {}}
    reply = reply_of([{"type": "content_block_start", "index": 0, "content_block": block}])
    assert reply.message.parts == ()


def test_the_pieces_of_calls_can_be_watched():
    calls = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in "fg"]
    events = [
        *grown(0, {"type": "text", "text": ""}, "text_delta", "text", []),
        *grown(1, calls[0], "input_json_delta", "partial_json", ['{"x"', ": 1}"]),
        *grown(2, calls[1], "input_json_delta", "partial_json", []),
        *grown(3, {"type": "tool_use", "id": "h", "name": "h", "input": {"y": 2}}, "input_json_delta", "x", []),
    ]
    assembly = MessageAssembly(SERVER)
    assert [delta for event in events for delta in assembly.feed(event)] == [
        CallDelta(index=0, name="f"),
        CallDelta(index=0, arguments='{"x"'),
        CallDelta(index=0, arguments=": 1}"),
        CallDelta(index=1, name="g"),
        CallDelta(index=2, name="h", arguments='{"y": 2}'),
    ]


KEYS = st.sampled_from(
    ["type", "message", "index", "content_block", "delta", "usage", "content", "stop_reason", "text", "id"]
)
KINDS = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message",
        "tool_use",
        "text",
        "error",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | KINDS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@given(events=st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=4), whole=st.booleans())
def test_whatever_json_a_server_sends_there_is_a_reply_or_an_error_of_ours(events, whole):
    assembly = MessageAssembly(SERVER)
    with suppress(ModelError):
        for event in events:
            list(assembly.feed_whole(event) if whole else assembly.feed(event))
        assert isinstance(assembly.close(), ModelReply)
