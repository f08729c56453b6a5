"""The chat format of the examples keeps the laws that every format keeps."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy import Message, ToolCall, ToolResult, UsageError
from wieldy.formats import ArgumentsDelta, ChatFormat, ParseEvent
from wieldy.grammar import Matcher, Tokenizer

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "formats" / "own_format.py"
OWN: ChatFormat = runpy.run_path(str(FILE))["OWN"]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "description": "Write a file.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "mode": {"type": "integer"}, "old": {"type": "null"}},
                "required": ["path"],
                "additionalProperties": False,
            },
        },
    }
]

words = st.text("ab ,.é日", max_size=8).map(str.strip)
arguments = st.fixed_dictionaries(
    {"path": st.text("a\"'\\\n<>/{}[] é日😀", max_size=10) | st.just("</use>")},
    optional={"mode": st.integers(), "old": st.none()},
)


@st.composite
def replies(draw: st.DrawFn) -> Message:
    values = draw(st.lists(arguments, max_size=3))
    calls = [ToolCall(id=f"c{index}", name="write_file", arguments=value) for index, value in enumerate(values)]
    return Message.assistant(draw(words), calls, reasoning=draw(words))


def events_of(text: str) -> list[ParseEvent]:
    parser = OWN.parser(TOOLS)
    return [event for character in text for event in parser.feed(character)] + parser.close()


@settings(max_examples=50, deadline=None)
@given(reply=replies())
def test_what_is_written_comes_back_whole_and_in_pieces_of_one_character(reply: Message) -> None:
    text = OWN.render_reply(reply, TOOLS)

    read = OWN.parse(text, TOOLS, prompt="")
    events = events_of(text)

    wanted = [(call.name, call.arguments) for call in reply.calls if isinstance(call, ToolCall)]
    assert (read.content, read.reasoning, read.problems) == (reply.text, reply.reasoning, ())
    assert [(call.name, call.arguments) for call in read.calls if isinstance(call, ToolCall)] == wanted
    assert [(event.name, event.arguments) for event in events if isinstance(event, ToolCall)] == wanted
    for index, (_, values) in enumerate(wanted):
        deltas = [event.text for event in events if isinstance(event, ArgumentsDelta) and event.index == index]
        assert json.loads("".join(deltas)) == values


@settings(max_examples=30, deadline=None)
@given(reply=replies())
def test_the_grammar_accepts_what_is_written(reply: Message) -> None:
    matcher = Matcher(OWN.grammar(TOOLS), Tokenizer.of_bytes())

    assert matcher.accept_text(OWN.render_reply(reply, TOOLS))
    assert matcher.is_accepting


@settings(max_examples=30, deadline=None)
@given(reply=replies(), data=st.data())
def test_a_reply_that_was_cut_off_has_no_call_that_the_whole_has_not(reply: Message, data: st.DataObject) -> None:
    text = OWN.render_reply(reply, TOOLS)
    cut = text[: data.draw(st.integers(0, len(text)))]

    calls = [call.arguments for call in OWN.parse(cut, TOOLS, prompt="").calls if isinstance(call, ToolCall)]

    assert calls == [call.arguments for call in reply.calls if isinstance(call, ToolCall)][: len(calls)]


def test_a_conversation_lists_the_tools_and_names_whose_result_is_shown() -> None:
    call = ToolCall(id="c1", name="write_file", arguments={"path": "a"})
    result = Message.tool(ToolResult(tool_call_id="c1", content="done [end]"))

    text = OWN.render([Message.user("Write a."), Message.assistant(calls=[call]), result], TOOLS)

    listed = "write_file: Write a file. " + json.dumps(TOOLS[0]["function"]["parameters"])  # type: ignore[index]
    assert text.split("\n") == [
        "[system]",
        listed,
        "[user]",
        "Write a.",
        "[model]",
        '<use tool="write_file">{"path": "a"}</use>[end]',
        "[result of write_file]",
        "done [ end]",
        "[model]",
        "",
    ]


def test_single_quotes_are_read_too() -> None:
    (call,) = OWN.parse('<use tool=\'write_file\'>{"path": "a"}</use>', TOOLS).calls

    assert isinstance(call, ToolCall)


def test_text_with_a_mark_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot carry"):
        OWN.render([Message.assistant('<use tool="write_file">')], TOOLS)


def test_the_how_to_shows_the_definition_as_it_is() -> None:
    page = (ROOT / "docs" / "how-to" / "chat-formats.md").read_text("utf-8")
    (shown,) = re.findall(r"^```python\n(WIRE = .*?)^```$", page, flags=re.DOTALL | re.MULTILINE)

    assert FILE.read_text("utf-8").endswith(shown)
