"""Calls as JSON objects: OpenAI-style ones, which hold name and arguments in a member of their own."""

from __future__ import annotations

import json

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.formats import get
from wieldy.formats.events import reply_of

CALL = {"id": "call_7", "type": "function", "function": {"name": "look", "arguments": {"at": "{}", "n": [1]}}}


def written(call: object) -> str:
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        dict(reversed(CALL.items())),
        {"function": {"arguments": CALL["function"]["arguments"], "name": "look"}, "id": "call_7"},
        {**CALL, "function": {**CALL["function"], "arguments": json.dumps(CALL["function"]["arguments"])}},
    ],
)
@pytest.mark.parametrize("size", [1000, 3, 1])
def test_an_openai_style_object_is_a_call_in_any_order_and_in_any_pieces(call: object, size: int) -> None:
    parser, text = get("hermes").parser(), written(call)
    events = [event for start in range(0, len(text), size) for event in parser.feed(text[start : start + size])]

    (found,) = reply_of([*events, *parser.close()], parser.spans).calls

    assert isinstance(found, ToolCall)
    assert (found.name, found.arguments) == ("look", CALL["function"]["arguments"])
    assert found.provider_id == "call_7"


def test_a_cut_one_is_no_call_but_one_that_cannot_be_read() -> None:
    text = written(CALL)
    for end in range(len("<tool_call>"), text.index("</tool_call>") + len("</tool_call>") - 1):
        assert not [call for call in get("hermes").parse(text[:end]).calls if isinstance(call, ToolCall)]


@pytest.mark.parametrize(
    "call",
    [
        {"type": "function", "function": "look"},
        {"type": "function", "function": {"arguments": {}}},
        {"function": {"function": {"name": "look", "arguments": {}}}},
        {"function": {}},
    ],
)
def test_without_a_name_where_it_belongs_there_is_no_call(call: object) -> None:
    (found,) = get("hermes").parse(written(call)).calls

    assert isinstance(found, InvalidToolCall)


def test_a_name_beside_the_member_is_the_call_s_own() -> None:
    call = {"name": "look", "function": "what it is", "arguments": {"function": {"name": "x"}}}
    (found,) = get("hermes").parse(written(call)).calls

    assert isinstance(found, ToolCall)
    assert (found.name, found.arguments) == ("look", {"function": {"name": "x"}})


def test_one_that_is_nearly_json_is_mended() -> None:
    text = "<tool_call>\n{'type': 'function', 'function': {'name': 'look', 'arguments': {'n': 1,}}}\n</tool_call>"
    (found,) = get("hermes").parse(text, repair=3).calls

    assert isinstance(found, ToolCall)
    assert (found.name, found.arguments) == ("look", {"n": 1})


def test_deep_nesting_of_the_member_is_refused_and_nothing_worse() -> None:
    (found,) = get("hermes").parse("<tool_call>" + '{"function": ' * 100_000).calls

    assert isinstance(found, InvalidToolCall)


@pytest.mark.parametrize(
    "call",
    [
        '{"name": "look", "name": "leap", "arguments": {"at": "x"}}',
        '{"name": "look", "arguments": {"at": "x"}, "arguments": {"at": "y"}}',
        '{"name": "look", "arguments": {"at": "x"}, "parameters": {"at": "y"}}',
        '{"name": "look", "arguments": null, "parameters": {"at": "y"}}',
        '{"type": "function", "function": {"name": "look", "name": "leap", "arguments": {}}}',
        '{"type": "function", "function": {"name": "look", "arguments": {}}, "arguments": {"at": "x"}}',
        '{"name": "look", "arguments": {"at": "x", "at": "y"}}',
        '{"name": "look", "arguments": "{\\"at\\": 1, \\"at\\": 2}"}',
        '{"name": "look", "arguments": {"at": "\\ud800"}}',
    ],
)
@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_call_that_has_two_readings_or_loses_something_is_no_call(call: str, level: int) -> None:
    parser = get("hermes").parser(repair=level)  # type: ignore[arg-type]
    events = [*parser.feed(f"<tool_call>\n{call}\n</tool_call>"), *parser.close()]

    (found,) = reply_of(events, parser.spans).calls

    assert isinstance(found, InvalidToolCall)
    assert call in found.text
