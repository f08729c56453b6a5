"""Arrays of calls, written nearly as they should be."""

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get

ADD = {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
FIRST, SECOND = '{"name": "add", "arguments": {"a": 1}}', '{"arguments": {"a": 2}, "name": "add"}'
FORMATS = {
    "jamba": ("<tool_calls>", "</tool_calls>"),
    "hunyuan": ("<tool_calls>", "</tool_calls>"),
    "nemotron": ("<TOOLCALL>", "</TOOLCALL>"),
    "mistral-v7": ("[TOOL_CALLS]", ""),
    "granite-3": ("<|tool_call|>", ""),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("array", [f"[{FIRST},{SECOND}]", f"[\n{FIRST}\n,\n{SECOND}\n]", f"[{FIRST} {SECOND}]"])
def test_layout_commas_and_the_order_of_members_do_not_matter(name: str, array: str) -> None:
    opening, closing = FORMATS[name]

    reply = get(name).parse(opening + array + closing, [ADD])

    assert [call.arguments for call in reply.calls if isinstance(call, ToolCall)] == [{"a": 1}, {"a": 2}]
    assert (reply.content, reply.problems) == ("", ())


@pytest.mark.parametrize("name", ["jamba", "hunyuan", "nemotron"])
@pytest.mark.parametrize("calls", [FIRST, f"[{FIRST}", f"{FIRST}]"])
def test_brackets_may_be_missing_between_marks(name: str, calls: str) -> None:
    opening, closing = FORMATS[name]

    reply = get(name).parse(opening + calls + closing, [ADD])

    assert [call.arguments for call in reply.calls if isinstance(call, ToolCall)] == [{"a": 1}]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_no_call_is_passed_over_and_told(name: str) -> None:
    opening, closing = FORMATS[name]

    reply = get(name).parse(f"{opening}[null, {FIRST}]{closing}", [ADD])

    assert [call.arguments for call in reply.calls if isinstance(call, ToolCall)] == [{"a": 1}]
    assert [problem.found[:5] for problem in reply.problems] == ["'null"]


@pytest.mark.parametrize("name", FORMATS)
def test_an_array_of_something_else_is_a_call_that_cannot_be_read(name: str) -> None:
    opening, closing = FORMATS[name]

    assert [type(call) for call in get(name).parse(f"{opening}[1, 2]{closing}", [ADD]).calls] == [InvalidToolCall]


@pytest.mark.parametrize("text", ['[{"name": "Ada", "arguments": {}}]', "[1, 2]", "[add](https://example.org)"])
def test_a_bare_array_without_a_known_name_is_text(text: str) -> None:
    reply = get("xlam").parse(text, [ADD])

    assert (reply.calls, reply.content) == ((), text)


def test_a_space_begins_every_reply_of_jamba_and_is_none_of_its_text() -> None:
    text = get("jamba").render_reply(Message.assistant("Hello"))

    assert text == " Hello"
    assert get("jamba").parse(text).content == "Hello"


def test_granite_says_that_no_function_fits_in_a_text() -> None:
    text = '<function_call> {"name": "no_function", "arguments": {}}'

    assert get("granite-20b-fc").parse(text, [ADD]).content == text
    assert get("granite-20b-fc").parse(text, [{**ADD, "name": "no_function"}]).content == ""
