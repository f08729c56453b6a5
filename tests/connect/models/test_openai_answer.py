"""What servers send instead of what the protocol says, and what is made of it."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.failures import ServerFacts
from wieldy.connect.models.openai_answer import ChatAssembly
from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.errors import (
    AuthenticationError,
    ContentFilterError,
    ModelError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
)
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.messages import Message
from wieldy.core.ports import ModelReply

SERVER = ServerFacts(address="http://h/v1", key_help="Set a key.", secret="sk-secret")


def reply_of(*chunks: dict[str, Any], taken: tuple[str, ...] = (), finish: str | None = "tool_calls") -> ModelReply:
    assembly = ChatAssembly(SERVER, taken_ids=taken)
    for data in chunks:
        list(assembly.feed(data))
    if finish:
        list(assembly.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    return assembly.close()


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def calls(*items: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(items))


def function(name: str | None = None, arguments: Any = None, **more: Any) -> dict[str, Any]:
    fields = {"name": name, "arguments": arguments}
    return {**more, "function": {key: value for key, value in fields.items() if value is not None}}


A, B = '{"x": 1}', '{"x": 2}'
TWO_CALLS = {
    "by index": [
        calls(function("f", "", index=0, id="a")),
        calls(function(None, A, index=0)),
        calls(function("f", B, index=1, id="b")),
    ],
    "without an index": [
        calls(function("f", "", id="a")),
        calls(function(None, A)),
        calls(function("f", B[:3], id="b")),
        calls(function(None, B[3:])),
    ],
    "without an index, the id on every piece": [
        calls(function("f", A[:2], id="a")),
        calls(function(None, A[2:], id="a")),
        calls(function("f", B[:2], id="b")),
        calls(function(None, B[2:], id="b")),
    ],
    "all at index 0, each in one chunk": [
        calls(function("f", A, index=0, id="a")),
        calls(function("f", B, index=0, id="b")),
    ],
    "all at index 0, each whole, without ids": [
        calls(function("f", A, index=0)),
        calls(function("f", B, index=0)),
    ],
    "without index and id, each whole": [calls(function("f", A)), calls(function("f", B))],
    "without index and id, both in one chunk": [calls(function("f", A), function("f", B))],
    "with one id for both": [
        calls(function("f", A, index=0, id="a")),
        calls(function("f", B, index=1, id="a")),
    ],
    "with one id for both and no index": [calls(function("f", A, id="a"), function("f", B, id="a"))],
    "with the name on every piece": [
        calls(function("f", A[:4], index=0, id="a")),
        calls(function("f", A[4:], index=0, id="a")),
        calls(function("f", B, index=1, id="b")),
    ],
    "with another id on every piece": [
        calls(function("f", A[:4], index=0, id="a")),
        calls(function(None, A[4:], index=0, id="a2")),
        calls(function("f", B, index=1, id="b")),
    ],
    "with an index that grows within a call": [
        calls(function("f", A[:4], index=0, id="a")),
        calls(function(None, A[4:], index=1)),
        calls(function("f", B, index=2, id="b")),
    ],
    "with arguments before the name": [
        calls(function(None, A[:4], id="a")),
        calls(function("f", A[4:], id="a")),
        calls(function("f", B, id="b")),
    ],
    "with arguments as an object": [
        calls(function("f", {"x": 1}, index=0, id="a")),
        calls(function("f", {"x": 2}, index=1, id="b")),
    ],
    "with the function's fields on the call itself": [
        calls(
            {"index": 0, "id": "a", "name": "f", "arguments": A}, {"index": 1, "id": "b", "name": "f", "arguments": B}
        )
    ],
    "interleaved": [
        calls(function("f", A[:4], index=0, id="a"), function("f", B[:5], index=1, id="b")),
        calls(function(None, B[5:], index=1), function(None, A[4:], index=0)),
    ],
    "with a single object instead of a list": [
        delta(tool_calls=function("f", A, id="a")),
        delta(tool_calls=function("f", B, id="b")),
    ],
    "with empty ids": [calls(function("f", A, index=0, id="")), calls(function("f", B, index=1, id=""))],
}


@pytest.mark.parametrize("chunks", TWO_CALLS.values(), ids=TWO_CALLS.keys())
def test_two_calls_are_two_calls(chunks):
    found = reply_of(*chunks).message.calls
    assert [(call.name, call.arguments) for call in found] == [("f", {"x": 1}), ("f", {"x": 2})]
    assert len({call.id for call in found}) == 2
    assert all(call.id for call in found)


def test_the_providers_id_is_kept_beside_ours_where_ours_must_differ():
    chunks = [calls(function("f", A, index=0, id="call_0")), calls(function("f", B, index=1, id="call_0"))]
    first, second = reply_of(*chunks, taken=("call_0",)).message.calls
    assert (first.provider_id, second.provider_id) == ("call_0", "call_0")
    assert len({"call_0", first.id, second.id}) == 3


def test_a_whole_answer_keeps_calls_apart_by_their_place():
    assembly = ChatAssembly(SERVER)
    message = {"content": None, "tool_calls": [function("f", "", id="a"), function("f", "{}", id="a")]}
    list(assembly.feed_whole({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
    assert [call.arguments for call in assembly.close().message.calls] == [{}, {}]


def test_a_call_without_a_name_is_an_invalid_call():
    (call,) = reply_of(calls(function(None, A, index=0, id="a"))).message.calls
    assert isinstance(call, InvalidToolCall)
    assert (call.name, call.text) == (None, A)


@pytest.mark.parametrize("arguments", ['{"x": ', "[1]", '"text"', "no JSON", "null", [1], 5, '{"a": 1}{"b": 2}'])
def test_arguments_that_are_no_object_make_an_invalid_call(arguments):
    (call,) = reply_of(calls(function("f", arguments, index=0, id="a"))).message.calls
    assert isinstance(call, InvalidToolCall)


@pytest.mark.parametrize("arguments", ["", "  ", None, "{}", {}])
def test_no_arguments_are_an_empty_object(arguments):
    (call,) = reply_of(calls(function("f", arguments, index=0, id="a"))).message.calls
    assert call == ToolCall(id="a", name="f", arguments={}, provider_id="a")


@pytest.mark.parametrize("finish", ["length", "max_tokens", "model_length"])
def test_a_call_that_had_not_come_to_its_arguments_when_the_limit_was_reached_is_not_run(finish):
    chunks = [calls(function("f", A, index=0, id="a")), calls(function("g", "", index=1, id="b"))]
    reply = reply_of(*chunks, finish=finish)
    whole, cut = reply.message.calls
    assert isinstance(whole, ToolCall)
    assert isinstance(cut, InvalidToolCall)
    assert reply.finish == "length"


def test_a_limit_that_was_reached_later_does_not_touch_a_call_without_arguments():
    chunks = [calls(function("f", "", index=0, id="a")), calls(function("g", A, index=1, id="b"))]
    assert [type(call) for call in reply_of(*chunks, finish="length").message.calls] == [ToolCall, ToolCall]


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_reasoning_has_two_names(name):
    assert reply_of(delta(**{name: "hm"}), finish="stop").message.reasoning == "hm"


def test_reasoning_under_both_names_is_one_reasoning():
    assert reply_of(delta(reasoning="hm", reasoning_content="hm"), finish="stop").message.reasoning == "hm"


def test_content_in_parts_is_text_and_reasoning():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]
    assert reply_of(delta(content=parts), finish="stop").message == Message.assistant("yes", reasoning="hm")


def test_a_refusal_in_words_is_text():
    assert reply_of(delta(refusal="I will not."), finish="stop").message.text == "I will not."


def test_only_the_first_choice_is_read():
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
    assert reply_of(delta(content="first"), other, finish="stop").message.text == "first"


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4}, (3, 4)),
        (None, (0, 0)),
        ({}, (0, 0)),
        ({"prompt_tokens": None, "completion_tokens": "many"}, (0, 0)),
        ([], (0, 0)),
    ],
)
def test_usage_is_read_where_there_is_some(usage, tokens):
    reply = reply_of({"choices": [], "usage": usage}, finish="stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.requests) == (*tokens, 1)


@pytest.mark.parametrize(
    ("finish", "error"),
    [
        (None, ProviderError),
        ("content_filter", ContentFilterError),
        ("error", ProviderError),
        ("abort", ProviderError),
    ],
)
def test_an_answer_that_is_not_whole_is_an_error_and_never_a_short_answer(finish, error):
    with pytest.raises(error):
        reply_of(delta(content="half an ans"), finish=finish)


@pytest.mark.parametrize(
    ("error", "kind", "is_transient"),
    [
        ({"message": "boom"}, ProviderError, True),
        ("boom", ProviderError, True),
        (["boom"], ProviderError, True),
        ({"message": "boom", "code": 429}, RateLimitError, True),
        ({"message": "boom", "type": "rate_limit_exceeded"}, RateLimitError, True),
        ({"message": "boom", "code": 401}, AuthenticationError, False),
        ({"message": "boom", "type": "BadRequestError", "code": 400}, RequestRefusedError, False),
        ({"message": "boom", "type": "invalid_request_error"}, RequestRefusedError, False),
        ({"message": "boom", "code": 503}, ProviderError, True),
    ],
)
def test_an_error_inside_a_stream_is_sorted_and_quoted(error, kind, is_transient):
    with pytest.raises(kind, match="boom") as caught:
        reply_of({"error": error})
    assert caught.value.is_transient is is_transient


@pytest.mark.parametrize(
    "data",
    [
        {"choices": "many"},
        {"choices": [1]},
        {"choices": [{"delta": "text"}]},
        {"choices": [{"delta": {"content": 5}}]},
        {"choices": [{"delta": {"tool_calls": ["f"]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"name": 5}}]}}]},
        {"choices": [{"delta": {"reasoning": {"deep": True}}}]},
    ],
)
def test_what_is_not_the_protocol_is_an_error_of_the_server(data):
    with pytest.raises(ProviderError, match="does not speak the expected protocol"):
        reply_of(data)


@pytest.mark.parametrize("answer", [{}, {"choices": []}, {"choices": None}, {"choices": [{}]}, {"object": "list"}])
def test_a_whole_answer_without_a_message_is_an_error_of_the_server(answer):
    with pytest.raises(ProviderError, match="an answer with 'choices'"):
        list(ChatAssembly(SERVER).feed_whole(answer))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 500) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "choices",
        "delta",
        "message",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "content",
        "error",
        "index",
        "id",
        "usage",
    ]
)
NESTED = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=4), max_leaves=25
)


@given(data=st.dictionaries(FIELDS, NESTED, max_size=4), whole=st.booleans())
def test_whatever_json_a_server_sends_there_is_a_reply_or_an_error_of_ours(data, whole):
    assembly = ChatAssembly(SERVER)
    with suppress(ModelError):
        list(assembly.feed_whole(data) if whole else assembly.feed(data))
        assembly.end()
        assert isinstance(assembly.close(), ModelReply)


@given(
    text=st.text(max_size=20),
    arguments=st.dictionaries(st.text(max_size=5), JSON, max_size=3),
    cuts=st.sets(st.integers(1, 200), max_size=8),
)
def test_the_reply_does_not_depend_on_how_text_and_arguments_are_cut(text, arguments, cuts):
    written = json.dumps(arguments)

    def pieces(whole: str) -> list[str]:
        places = [0, *sorted(cut for cut in cuts if cut < len(whole)), len(whole)]
        return [whole[start:end] for start, end in pairwise(places)]

    whole = reply_of(delta(content=text), calls(function("f", written, index=0, id="a")))
    cut = reply_of(
        *(delta(content=piece) for piece in pieces(text)),
        calls(function("f", "", index=0, id="a")),
        *(calls(function(None, piece, index=0)) for piece in pieces(written)),
    )
    # As text, because a number that is none differs from itself.
    assert repr(cut) == repr(whole)


def test_deltas_are_what_the_reply_is_made_of():
    assembly = ChatAssembly(SERVER)
    deltas = list(assembly.feed(delta(reasoning="a", content="b"))) + list(assembly.feed(delta(content="c")))
    assert deltas == [ReasoningDelta(text="a"), TextDelta(text="b"), TextDelta(text="c")]


@pytest.mark.parametrize("chunks", TWO_CALLS.values(), ids=TWO_CALLS)
def test_the_pieces_of_calls_can_be_watched(chunks):
    assembly = ChatAssembly(SERVER)
    deltas = [piece for data in chunks for piece in assembly.feed(data)]
    assert all(isinstance(piece, CallDelta) for piece in deltas)
    for index, arguments in enumerate((A, B)):
        mine = [piece for piece in deltas if piece.index == index]
        assert [piece.name for piece in mine if piece.name is not None] == ["f"]
        assert json.loads("".join(piece.arguments for piece in mine)) == json.loads(arguments)


def test_a_name_that_comes_in_pieces_is_told_as_far_as_it_is_known():
    assembly = ChatAssembly(SERVER)
    chunks = [
        calls(function("get_", index=0, id="a")),
        calls(function("time", index=0)),
        calls(function("", "{}", index=0)),
    ]
    assert [piece for data in chunks for piece in assembly.feed(data)] == [
        CallDelta(index=0, name="get_"),
        CallDelta(index=0, name="get_time"),
        CallDelta(index=0, arguments="{}"),
    ]
    assert list(assembly.feed(calls(function(None, None, index=0)))) == []


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 6}}, 6),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}, 5),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, 0),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": "many"}}, 0),
        ({"prompt_tokens": 9}, 0),
    ],
)
def test_tokens_that_the_provider_had_cached_are_counted(usage, cached):
    reply = reply_of({"usage": usage, "choices": []}, delta(content="a"), finish="stop")
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens) == (9, cached)
