"""Calls whose JSON is nearly right: mended up to a level, told, and never when they were cut."""

import json

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.formats import get
from wieldy.formats.events import ArgumentsDelta, CallOpened, Repaired
from wieldy.schema.repair import RepairLevel

HERMES = get("hermes")
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": "write", "parameters": SCHEMA}}]


def call(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


@pytest.mark.parametrize(
    ("level", "body"),
    [
        (2, '{"name": "write", "arguments": {"text": "a", "count": 2,}}'),
        (2, 'The call: {"name": "write", "arguments": {"text": "a", "count": 2}}'),
        (3, "{'name': 'write', 'arguments': {'text': 'a', count: 2}}"),
        (3, '{"name": "write", "arguments": {"text": "a", "count": 2}'),
    ],
)
def test_a_call_is_mended_from_its_level_on_and_refused_below(level: RepairLevel, body: str) -> None:
    below = HERMES.parse(call(body), TOOLS, repair=2 if level == 3 else 1)
    mended = HERMES.parse(call(body), TOOLS, repair=level)

    assert [type(call) for call in below.calls] == [InvalidToolCall]
    assert [call.arguments for call in mended.calls if isinstance(call, ToolCall)] == [{"text": "a", "count": 2}]
    assert [repair.level for repair in mended.repairs] == [level]


def test_changes_have_their_positions_in_the_input() -> None:
    text = "Look. " + call('{"name": "write", "arguments": {"text": "a",}}')
    (repair,) = HERMES.parse(text, TOOLS, repair=2).repairs

    assert [text[change.position] for change in repair.changes] == [","]
    assert text[repair.position] == "{"


def test_a_native_format_mends_nothing_unless_it_is_told_to() -> None:
    assert HERMES.parse(call('{"name": "write", "arguments": {"text": "a",}}'), TOOLS).repairs == ()


@pytest.mark.parametrize("name", ["hermes", "llama-json", "react", "json", "harmony"])
def test_what_the_text_ended_in_is_never_completed_into_a_call(name: str) -> None:
    written = get(name).render_reply(
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "write", "arguments": '{"text": "a", "count": 2}'}}
            ],
        },
        TOOLS,
    )
    nearly = written.replace('"count": 2}', "'count': 2,}")

    for end in range(len(nearly)):
        for made in get(name).parse(nearly[:end], TOOLS, repair=3).calls:
            assert isinstance(made, InvalidToolCall) or made.arguments == {"text": "a", "count": 2}


def test_a_repaired_value_of_another_type_than_the_schema_says_is_refused() -> None:
    reply = HERMES.parse(call('{"name": "write", "arguments": {"count": True}}'), TOOLS, repair=3)

    assert [type(call) for call in reply.calls] == [InvalidToolCall]


def test_what_is_told_of_a_mended_call_is_what_it_says() -> None:
    parser = HERMES.parser(TOOLS, repair=3)
    text = call('{"name": "write", "arguments": {"text": \'it is\'}}')
    events = [event for character in text for event in parser.feed(character)] + parser.close()

    assert [type(event) for event in events] == [CallOpened, Repaired, ArgumentsDelta, ToolCall]
    delta, made = events[2:]
    assert isinstance(delta, ArgumentsDelta)
    assert isinstance(made, ToolCall)
    assert json.loads(delta.text) == made.arguments == {"text": "it is"}


def test_a_repair_that_would_change_the_name_is_none() -> None:
    text = call('{"name": "write", "arguments": {}} {"name": "delete", "arguments": {}}')

    assert [type(call) for call in HERMES.parse(text, TOOLS, repair=3).calls] == [InvalidToolCall]
