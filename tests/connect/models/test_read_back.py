"""Replies read as what was asked for: the same answer whatever server it came from, and in whatever pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.connect.models.anthropic_answer import MessageAssembly
from wieldy.connect.models.backends import BACKENDS, Asked
from wieldy.connect.models.backends.plan import Plan, plan_of
from wieldy.connect.models.failures import ServerFacts
from wieldy.connect.models.openai_answer import ChatAssembly
from wieldy.connect.models.read_back import ReadBack
from wieldy.core.calls import InvalidToolCall, ToolCall, ToolDefinition
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message, ReasoningPart
from wieldy.core.outputs import ChoiceOutput, Incomplete, JsonOutput, Output, PatternOutput
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.formats import get
from wieldy.run.outputs import reader_of

FACTS = ServerFacts(address="http://here", key_help="")
PERSON: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "nick": {"type": "string"},
        "born": {"type": ["integer", "null"]},
        "pets": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "pets"],
    "additionalProperties": False,
}
JSON = JsonOutput(schema=PERSON)
NAMES = JsonOutput(schema={"type": "array", "items": {"type": "string"}})
CHOICE = ChoiceOutput(options=("red", "green"))
SEARCH = ToolDefinition(
    name="search",
    description="",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "most": {"type": "integer"}},
        "required": ["query"],
    },
)


def chunk(delta: dict[str, Any], finish: str | None = None) -> JsonObject:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def read(
    *chunks: JsonObject,
    backend: str,
    output: Output | None = None,
    tools: tuple[ToolDefinition, ...] = (),
    chat_format: str | None = None,
) -> tuple[list[Any], ModelReply]:
    request = ModelRequest(messages=[Message.user("x")], tools=tools, output=output)
    asked = Asked(output=output, tools=tools, chat_format=None if chat_format is None else get(chat_format))
    plan = plan_of(BACKENDS[backend], asked, options={})
    assembly = ReadBack(ChatAssembly(FACTS), plan=plan, request=request)
    deltas = [delta for data in chunks for delta in assembly.feed(data)]
    reply = assembly.close()
    return [*deltas, *assembly.rest()], reply


def said(text: str, cuts: list[int], finish: str = "stop") -> list[JsonObject]:
    places = [0, *sorted({cut % (len(text) + 1) for cut in cuts}), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    return [*(chunk({"content": piece}) for piece in pieces if piece), chunk({}, finish)]


def text_of(deltas: list[Any]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


PEOPLE = st.fixed_dictionaries(
    {"name": st.text(), "pets": st.lists(st.text(), max_size=2)},
    optional={"nick": st.text(), "born": st.none() | st.integers()},
)


@settings(max_examples=150, deadline=None)
@given(
    person=PEOPLE,
    cuts=st.lists(st.integers(min_value=0), max_size=5),
    backend=st.sampled_from(sorted(BACKENDS.keys() - {"tool_calls"})),
)
def test_an_answer_is_the_same_from_every_server_and_its_deltas_are_its_text(
    person: dict[str, Any], cuts: list[int], backend: str
) -> None:
    written = person
    if backend in ("openai", "azure", "plain"):  # where every property is written
        written = {name: person.get(name) for name in ("name", "nick", "born", "pets")}
    deltas, reply = read(*said(json.dumps(written), cuts), backend=backend, output=JSON)
    back = json.loads(reply.message.text)
    assert {name: value for name, value in back.items() if value is not None} == {
        name: value for name, value in person.items() if value is not None
    }
    assert text_of(deltas) == reply.message.text
    assert reply.held == (BACKENDS[backend].answer(Asked(output=JSON), JSON).holds)


@settings(max_examples=100, deadline=None)
@given(text=st.text(), cuts=st.lists(st.integers(min_value=0), max_size=3), backend=st.sampled_from(sorted(BACKENDS)))
def test_words_instead_of_an_answer_stay_as_they_are_and_are_not_held(text: str, cuts: list[int], backend: str) -> None:
    deltas, reply = read(*said(text + "!", cuts), backend=backend, output=CHOICE)
    assert reply.message.text == text_of(deltas) == text + "!"
    assert not reply.held


@pytest.mark.parametrize("backend", ["openai", "anthropic", "ollama", "plain"])
def test_what_lies_in_an_object_for_the_server_is_taken_out(backend: str) -> None:
    _, chosen = read(*said('{"answer": "green"}', [3, 12]), backend=backend, output=CHOICE)
    assert chosen.message.text == "green"
    _, listed = read(*said('{"answer": ["a", "b"]}', [7]), backend=backend, output=NAMES)
    assert json.loads(listed.message.text) == ["a", "b"]


def test_an_answer_that_needs_no_change_is_told_as_it_comes() -> None:
    deltas, _ = read(*said('{"name": "x", "pets": []}', [5, 9]), backend="vllm", output=JSON)
    assert [delta.text for delta in deltas] == ['{"nam', 'e": ', '"x", "pets": []}']


# Calls


def called(name: str, arguments: str, *, finish: str = "tool_calls", text: str = "") -> list[JsonObject]:
    function = {"name": name, "arguments": ""}
    start = {"tool_calls": [{"index": 0, "id": "a", "function": function}]}
    pieces = [arguments[place : place + 4] for place in range(0, len(arguments), 4)]
    grown = [chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces]
    return [*([chunk({"content": text})] if text else []), chunk(start), *grown, chunk({}, finish)]


def test_arguments_come_back_without_the_nulls_of_the_dialect() -> None:
    _, reply = read(*called("search", '{"query": "x", "most": null}'), backend="openai", tools=(SEARCH,))
    assert reply.message.calls == (ToolCall(id="a", name="search", arguments={"query": "x"}, provider_id="a"),)


def test_text_beside_calls_is_told_and_no_answer() -> None:
    chunks = called("search", '{"query": "x", "most": 2}', text="Let me see.")
    deltas, reply = read(*chunks, backend="openai", tools=(SEARCH,), output=JSON)
    assert reply.message.text == text_of(deltas) == "Let me see."
    assert len(reply.message.calls) == 1
    assert not reply.held


def test_the_arguments_of_the_shell_are_the_answer_and_what_is_said_beside_them_are_thoughts() -> None:
    chunks = called("answer", '{"name": "Ada", "pets": ["x"]}', text="Easy.")
    deltas, reply = read(*chunks, backend="tool_calls", output=JSON)
    assert reply.message.calls == ()
    assert json.loads(reply.message.text) == {"name": "Ada", "pets": ["x"]}
    assert reply.message.reasoning == "Easy."
    assert not any(isinstance(delta, CallDelta) for delta in deltas)
    assert text_of(deltas) == reply.message.text
    assert [delta for delta in deltas if isinstance(delta, ReasoningDelta)] == [ReasoningDelta(text="Easy.")]


def test_a_choice_in_the_shell_is_its_text() -> None:
    _, reply = read(*called("answer", '{"answer": "red"}'), backend="tool_calls", output=CHOICE)
    assert reply.message.text == "red"


def test_a_shell_that_was_cut_off_is_made_whole_and_marked() -> None:
    chunks = called("answer", '{"name": "Ada", "pe', finish="length")
    _, reply = read(*chunks, backend="tool_calls", output=JSON)
    assert json.loads(reply.message.text) == {"name": "Ada", "pets": []}
    assert (reply.finish, reply.forced, reply.held) == ("closed_by_budget", ("/pets",), False)


HERMES = '<tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>'


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(min_value=0), max_size=6))
def test_calls_that_a_server_leaves_in_the_text_are_read_by_their_format(cuts: list[int]) -> None:
    chunks = said("So:\n" + HERMES, cuts)
    deltas, reply = read(*chunks, backend="llama_server", tools=(SEARCH,), chat_format="hermes")
    (call,) = reply.message.calls
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("search", {"query": "x"})
    assert text_of(deltas) == reply.message.text
    assert "".join(delta.arguments for delta in deltas if isinstance(delta, CallDelta)) == '{"query": "x"}'


def test_a_call_in_the_text_that_was_cut_off_is_never_a_call() -> None:
    chunks = said(HERMES[:-22], [], "length")
    _, reply = read(*chunks, backend="llama_server", tools=(SEARCH,), chat_format="hermes")
    (call,) = reply.message.calls
    assert isinstance(call, InvalidToolCall)
    assert reply.finish == "length"


def test_calls_in_the_text_have_ids_that_no_earlier_call_has() -> None:
    history = [Message.assistant(calls=[ToolCall(id="call_0", name="search", arguments={"query": "y"})])]
    request = ModelRequest(messages=history, tools=(SEARCH,))
    asked = Asked(tools=(SEARCH,), chat_format=get("hermes"))
    plan = plan_of(BACKENDS["llama_server"], asked, options={})
    assembly = ReadBack(ChatAssembly(FACTS), plan=plan, request=request)
    for data in said(HERMES, []):
        list(assembly.feed(data))
    assert assembly.close().message.calls[0].id != "call_0"


# Answers that were cut off


@settings(max_examples=60, deadline=None)
@given(person=PEOPLE, cut=st.integers(min_value=1), backend=st.sampled_from(["vllm", "openai", "anthropic"]))
def test_an_answer_that_was_cut_off_is_made_whole_and_says_what_of_it_nobody_wrote(
    person: dict[str, Any], cut: int, backend: str
) -> None:
    names = ("name", "nick", "born", "pets") if backend == "openai" else tuple(person)
    text = json.dumps({name: person.get(name) for name in names})
    cut = cut % (len(text) - 1) + 1
    deltas, reply = read(*said(text[:cut], [], "length"), backend=backend, output=JSON)
    assert text_of(deltas) == reply.message.text
    if reply.finish == "length":  # it was cut where no engine takes the text for a beginning
        assert reply.message.text == text[:cut]
        return
    assert reply.finish == "closed_by_budget"
    assert not reply.held
    value = json.loads(reply.message.text)
    for pointer in reply.forced:
        where = value
        for step in pointer.split("/")[1:]:
            where = where[int(step) if isinstance(where, list) else step]
    for name in person.keys() & value.keys() - {pointer.split("/")[1] for pointer in reply.forced if pointer}:
        assert value[name] == person[name]


def test_a_choice_that_was_cut_off_is_the_one_that_it_began() -> None:
    deltas, reply = read(*said("gre", [], "length"), backend="vllm", output=CHOICE)
    assert reply.message.text == text_of(deltas) == "green"
    assert (reply.finish, reply.forced) == ("closed_by_budget", ("",))


NUMBER = JsonOutput(schema={"type": "integer"})
TOTAL = JsonOutput(schema={"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]})
TRUTH = JsonOutput(schema={"type": "boolean"})
CODE = PatternOutput(pattern=r"[A-Z]-\d+")
LIKE = ChoiceOutput(options=("12", "1250", "yes"))
ANSWERS: list[tuple[Output, str]] = [
    (NUMBER, "1250"),
    (TOTAL, '{"total": 1250}'),
    (TRUTH, "false"),
    (NAMES, '["a", "b"]'),
    (JSON, '{"name": "Ada", "pets": ["x", "y"]}'),
    (LIKE, "1250"),
    (LIKE, "yes"),
    (CODE, "R-17"),
]


def is_whole(output: Output, reply: ModelReply) -> bool:
    read = reader_of(output).read(reply.message.text, is_cut=reply.finish == "length")
    return not isinstance(read, Incomplete)


@pytest.mark.parametrize("backend", sorted(BACKENDS))
@pytest.mark.parametrize(("output", "answer"), ANSWERS)
@pytest.mark.parametrize("is_obeyed", [True, False])
def test_no_beginning_of_an_answer_is_taken_for_the_whole(
    backend: str, output: Output, answer: str, is_obeyed: bool
) -> None:
    plan = plan_of(BACKENDS[backend], Asked(output=output), options={})
    written = answer  # by a server that passes over what it was sent
    if is_obeyed and plan.reading.answer is not None:
        value = json.loads(answer) if isinstance(output, JsonOutput) else answer
        is_wrapped = plan.reading.answer.is_wrapped or plan.reading.is_quoted
        written = json.dumps({"answer": value} if is_wrapped else value)
    for cut in range(1, len(written)):
        _, reply = read(*said(written[:cut], [], "length"), backend=backend, output=output)

        assert not reply.held
        assert not is_whole(output, reply) or (reply.finish, bool(reply.forced)) == ("closed_by_budget", True)
    _, reply = read(*said(written, [], "stop"), backend=backend, output=output)
    values = [reader_of(output).read(text) for text in (reply.message.text, answer)]
    assert (reply.finish, values[0]) == ("stop", values[1])


@pytest.mark.parametrize("backend", ["plain", "openai", "tool_calls", "vllm"])
@pytest.mark.parametrize(
    ("output", "text", "closed", "forced"),
    [
        (NUMBER, "12", "12", ("",)),
        (TOTAL, '{"total": 1', '{"total": 1}', ("/total",)),
        (TOTAL, '{"total": 12', '{"total": 12}', ("/total",)),
        (NAMES, '["a", "b', '["a", "b"]', ("/1",)),
        (NAMES, '["a", "b"', '["a", "b"]', ("",)),
        (LIKE, "ye", "yes", ("",)),
        (LIKE, "12", "12", ("",)),
        (CODE, "R-", "R-0", ("",)),
    ],
)
def test_an_answer_that_was_cut_off_is_closed_and_marked_whatever_it_is_and_wherever_it_came_from(
    backend: str, output: Output, text: str, closed: str, forced: tuple[str, ...]
) -> None:
    _, reply = read(*said(text, [], "length"), backend=backend, output=output)
    assert (reply.finish, reply.message.text, reply.forced) == ("closed_by_budget", closed, forced)


def test_a_number_in_a_shell_that_was_cut_off_may_be_half_of_one() -> None:
    _, reply = read(*called("answer", '{"answer": 12', finish="length"), backend="tool_calls", output=NUMBER)
    assert (reply.message.text, reply.finish, reply.forced) == ("12", "closed_by_budget", ("",))
    _, reply = read(*called("answer", '{"answer": 12}', finish="length"), backend="tool_calls", output=NUMBER)
    assert (reply.message.text, reply.finish, reply.forced) == ("12", "stop", ())


def test_an_answer_that_was_whole_when_the_tokens_ran_out_was_not_cut_off() -> None:
    _, reply = read(*said('{"name": "x", "pets": []}', [], "length"), backend="vllm", output=JSON)
    assert (reply.finish, reply.held) == ("stop", True)


@pytest.mark.parametrize(("output", "text"), [(JSON, ""), (JSON, "Sure, "), (PatternOutput(pattern="(?=a)b"), "x")])
def test_what_is_no_beginning_of_an_answer_stays_cut_off(output: Output, text: str) -> None:
    _, reply = read(*said(text, [], "length"), backend="vllm", output=output)
    assert (reply.finish, reply.message.text, reply.forced) == ("length", text, ())


# The other protocol


def test_thoughts_keep_their_signatures_when_the_answer_is_read_back() -> None:
    request = ModelRequest(messages=[Message.user("x")], output=CHOICE)
    plan: Plan = plan_of(BACKENDS["anthropic"], Asked(output=CHOICE), options={})
    assembly = ReadBack(MessageAssembly(FACTS), plan=plan, request=request)
    events: list[JsonObject] = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": '{"answer": "red"}'}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]
    deltas = [delta for event in events for delta in assembly.feed(event)]
    reply = assembly.close()
    assert reply.message.parts[0] == ReasoningPart(text="hm", signature="s")
    assert reply.message.text == text_of([*deltas, *assembly.rest()]) == "red"
    assert reply.held
