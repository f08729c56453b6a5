"""JSON in prose: calls are found wherever they stand, and all other JSON stays text."""

import json

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.formats import get

JSON = get("json")
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}, "most": {"type": "integer"}}}
TOOLS = [
    {"type": "function", "function": {"name": "search", "parameters": {**SCHEMA, "required": ["query"]}}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]


def arguments(text: str) -> list[object]:
    return [call.arguments if isinstance(call, ToolCall) else None for call in JSON.parse(text, TOOLS).calls]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "search", "arguments": {"query": "x"}}',
        '{"tool": "search", "args": {"query": "x"}}',
        '{"tool_name": "search", "parameters": {"query": "x"}}',
        '{"function": "search", "input": {"query": "x"}}',
        '{"arguments": {"query": "x"}, "name": "search"}',
        '{"type": "function", "function": {"name": "search", "arguments": "{\\"query\\": \\"x\\"}"}}',
        '{"tool_calls": [{"type": "function", "function": {"name": "search", "arguments": {"query": "x"}}}]}',
        '{"tool": "search", "query": "x"}',
        '{"action": "search", "action_input": "x"}',
        "{name: 'search', 'arguments': {'query': 'x',}}",
        '```json\n{"name": "search", "arguments": {"query": "x"}\n```',
    ],
)
def test_the_many_ways_of_writing_a_call(text: str) -> None:
    reply = JSON.parse(text, TOOLS)

    assert arguments(text) == [{"query": "x"}]
    assert reply.content == ""


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        '{"name": "Ada", "age": 36}',
        '{"tool": "search", "found": 3}',
        "[1, 2] and {x} and {",
        '```json\n{"name": "Ada"}\n```',
        '{"name": "unfinished"',
        '[{"name": "Ada"}]',
    ],
)
def test_json_that_is_no_call_stays_text_to_the_letter(text: str) -> None:
    reply = JSON.parse(text, TOOLS)

    assert (reply.content, reply.calls) == (text, ())


def test_text_around_a_call_is_kept() -> None:
    assert JSON.parse('Look:\n```json\n{"name": "now"}\n```\nThen more.', TOOLS).content == "Look:\nThen more."


def test_an_unknown_name_with_an_object_of_arguments_is_a_call_so_that_the_model_is_told() -> None:
    (call,) = JSON.parse('{"name": "serch", "arguments": {"query": "x"}}', TOOLS).calls

    assert isinstance(call, ToolCall)
    assert call.name == "serch"


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "search", "arguments": 5}',
        '{"name": "search", "arguments": {"query": "x"}, "name": "now"}',
        '{"name": "search", "arguments": {"query": "x", "most": True}}',
        '{"name": "search", "arguments": {"query": "x"}',
    ],
)
def test_a_call_of_a_known_tool_that_cannot_be_read_is_told(text: str) -> None:
    (call,) = JSON.parse(text, TOOLS).calls

    assert isinstance(call, InvalidToolCall)
    assert (call.name, call.text) == ("search", text)


def test_in_a_list_each_item_is_answered() -> None:
    assert arguments('[{"name": "now"}, {"name": "search", "arguments": {"query": "x"}}, 7]') == [
        {},
        {"query": "x"},
        None,
    ]


def test_brackets_quotes_and_fences_within_strings_end_nothing() -> None:
    query = '}] ```\n{"name": "now"} \\" \''
    text = json.dumps({"name": "search", "arguments": {"query": query}})

    assert arguments(f"```json\n{text}\n```") == [{"query": query}]


def test_what_was_changed_is_told_once_with_positions_in_the_input() -> None:
    text = 'So: [{"name": "now",}, {"name": "now"}]'
    reply = JSON.parse(text, TOOLS)

    changes = [change for repair in reply.repairs for change in repair.changes]
    assert [(text[change.position], change.kind) for change in changes] == [(",", "trailing comma")]
    assert len(reply.calls) == 2


def test_strict_reading_can_be_asked_for() -> None:
    reply = JSON.parse('{"name": "now",}', TOOLS, repair=1)

    assert [type(call) for call in reply.calls] == [InvalidToolCall]


def test_calls_within_reasoning_are_reasoning() -> None:
    reply = JSON.parse('<think>\nMaybe {"name": "now"}.\n</think>\n\nNo.', TOOLS)

    assert (reply.reasoning, reply.content, reply.calls) == ('Maybe {"name": "now"}.', "No.", ())
