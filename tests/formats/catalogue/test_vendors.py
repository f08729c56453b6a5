"""What the formats of Falcon, GigaChat, MiniCPM 3, Solar and Llama 4 have beyond the laws."""

import pytest

from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.messages import Message
from wieldy.formats import get
from wieldy.formats.events import Reply, reply_of

TOOLS = [
    {"type": "function", "function": {"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}},
]
CALL = ToolCall(id="call_0", name="add", arguments={"a": 1})


def read(name: str, text: str, *, size: int = 1) -> Reply:
    parser = get(name).parser(TOOLS)
    events = [event for start in range(0, len(text), size) for event in parser.feed(text[start : start + size])]
    return reply_of([*events, *parser.close()], parser.spans)


def said(reply: Reply) -> tuple[str, str, list[tuple[str | None, object]]]:
    calls = [(call.name, call.arguments if isinstance(call, ToolCall) else call.error) for call in reply.calls]
    return reply.reasoning, reply.content, calls


@pytest.mark.parametrize("name", ["falcon-3", "gigachat-3", "minicpm-3", "solar-open", "solar-open-2", "step-audio"])
@pytest.mark.parametrize("last", [Message.assistant("Done."), Message.assistant("", [CALL])])
def test_a_conversation_with_results_is_read_as_its_last_reply(name: str, last: Message) -> None:
    before = [
        Message.user("Add."),
        Message.assistant("", [CALL]),
        Message.tool(ToolResult(tool_call_id="call_0", content="2")),
    ]
    reply = get(name).parse(get(name).render([*before, last], TOOLS), TOOLS)

    assert said(reply) == ("", last.text, [(call.name, {"a": 1}) for call in last.calls])


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_gigachat_s_end_of_a_message_is_a_call_only_where_a_call_follows(size: int) -> None:
    call = 'function call<|role_sep|>\n{"name": "add", "arguments": {"a": 1}}'

    assert said(read("gigachat-3", "Hello.<|message_sep|>\n\n", size=size)) == ("", "Hello.", [])
    assert said(read("gigachat-3", f"Hello.<|message_sep|>\n\n{call}", size=size)) == (
        "",
        "Hello.",
        [("add", {"a": 1})],
    )
    assert said(read("gigachat-3", call, size=size)) == ("", "", [("add", {"a": 1})])


def test_solar_s_messages_of_several_kinds_are_one_reply() -> None:
    text = (
        "<|think|>Sum.<|end|><|begin|>assistant<|content|>Let me add.<|end|><|begin|>assistant<|tool_calls|>"
        '<|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>add<|tool_call:args|>{"a": 1}<|tool_call:end|><|calls|>'
    )
    reply = read("solar-open", text)

    assert said(reply) == ("Sum.", "Let me add.", [("add", {"a": 1})])
    assert reply.calls[0].provider_id == "a1b2c3d4e5"


def test_minicpm_s_text_may_stand_before_and_behind_the_calls() -> None:
    calls = "<|tool_call_start|>\n```python\nadd(a=1)\nadd(a=2)\n```\n<|tool_call_end|>\n"

    assert said(read("minicpm-3", f"Before.\n{calls}Behind.<|im_end|>")) == (
        "",
        "Before.Behind.",
        [("add", {"a": 1}), ("add", {"a": 2})],
    )


def test_llama_4_s_marks_around_text_are_not_in_it() -> None:
    text = '<|python_start|>Let me add.<|python_end|>{"name": "add", "parameters": {"a": 1}}<|eot|>'

    assert said(read("llama-json", text)) == ("", "Let me add.", [("add", {"a": 1})])
