"""ReAct: labels count where lines begin, and what a model invents is not read."""

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.formats import get
from wieldy.formats.nodes.bare_text import only_text

REACT = get("react")


def tool(name: str, *names: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in names}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("search", "query"), tool("copy", "source", "target"), tool("now")]


def arguments(text: str) -> list[object]:
    return [call.arguments if isinstance(call, ToolCall) else None for call in REACT.parse(text, TOOLS).calls]


@pytest.mark.parametrize(
    "written",
    ['{"query": "a b"}', '"a b"', "{'query': 'a b',}", '```json\n{"query": "a b"}\n```', '"{\\"query\\": \\"a b\\"}"'],
)
def test_input_is_an_object_nearly_right_perhaps_or_a_text_in_quotes(written: str) -> None:
    assert arguments(f"Action: search\nAction Input: {written}") == [{"query": "a b"}]
    assert arguments(f"Action: search\nAction Input: {written}\nObservation:") == [{"query": "a b"}]


def test_a_bare_text_is_the_only_argument_where_a_label_follows_and_may_be_cut_at_the_end() -> None:
    text = "Action: search\nAction Input: a b"

    assert arguments(f"{text}\nObservation: x") == [{"query": "a b"}]
    (call,) = REACT.parse(text, TOOLS).calls
    assert isinstance(call, InvalidToolCall)
    assert "may have been cut" in call.error


def test_a_bare_text_for_a_tool_with_two_arguments_is_refused() -> None:
    assert arguments("Action: copy\nAction Input: a b\nObservation:") == [None]


@pytest.mark.parametrize("written", ["", "Action Input:\n", "Action Input: None\n", "Action Input: {}\n"])
def test_a_tool_without_arguments_is_called_with_none(written: str) -> None:
    assert arguments(f"Action: now\n{written}Observation:") == [{}]


def test_an_invented_result_and_all_that_follows_is_markup_with_a_problem() -> None:
    text = 'Thought: t\nAction: search\nAction Input: {"query": "x"}\nObservation: 1\nFinal Answer: 1'
    reply = REACT.parse(text, TOOLS)

    assert (reply.content, reply.reasoning, len(reply.calls)) == ("", "t", 1)
    assert text[reply.problems[0].position :] == "1\nFinal Answer: 1"
    assert reply.spans[-1].kind == "markup"


def test_labels_count_only_where_a_line_begins_and_never_within_json() -> None:
    reply = REACT.parse(
        'Thought: an Action: or Final Answer: is\nAction: search\nAction Input: {"query": "\\nAction: x"}', TOOLS
    )

    assert reply.reasoning == "an Action: or Final Answer: is"
    assert [call.arguments for call in reply.calls if isinstance(call, ToolCall)] == [{"query": "\nAction: x"}]


def test_text_without_labels_is_the_answer() -> None:
    assert REACT.parse("Just this.", TOOLS).content == "Just this."


@pytest.mark.parametrize(
    "text", ["Action:", "Action: ", "Action: search", "Action: search\n", "Action:\nFinal Answer: x"]
)
def test_an_action_without_name_or_input_cannot_run(text: str) -> None:
    assert arguments(text) == [None]


def test_names_in_markup_are_the_known_names() -> None:
    (call,) = REACT.parse('**Action:** `search`\n**Action Input:** {"query": "x"}', TOOLS).calls

    assert isinstance(call, ToolCall)
    assert call.name == "search"


def test_a_reply_may_begin_in_the_thought_that_the_prompt_opened() -> None:
    reply = REACT.parse(" Simple.\nFinal Answer: 4", TOOLS, prompt="User: 2+2\n\nAssistant:\nThought:")

    assert (reply.reasoning, reply.content) == ("Simple.", "4")


def test_the_only_text_is_the_only_argument_or_the_only_required_one() -> None:
    text, number = {"type": "string"}, {"type": "integer"}

    assert only_text({"properties": {"a": text}}) == "a"
    assert only_text({"properties": {"a": text, "b": text}, "required": ["b"]}) == "b"
    assert only_text({"properties": {"a": number}}) is None
    assert only_text({"properties": {"a": text, "b": text}}) is None
    assert only_text(None) is None
