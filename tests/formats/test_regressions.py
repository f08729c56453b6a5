"""What was once read, written or refused wrongly: one test for each kind of mistake."""

from typing import Any

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.formats import get
from wieldy.formats.events import Reply, reply_of

TEXT = {"type": "string"}


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": properties}}


TOOLS = [tool("glob", pattern=TEXT), tool("bash", command=TEXT, timeout={"type": "integer"}), tool("now")]


def read(name: str, text: str, **options: Any) -> Reply:
    """What the text says, after making sure that reading it one character at a time says the same."""
    parser = get(name).parser(TOOLS, **options)
    events = [event for character in text for event in parser.feed(character)] + parser.close()
    whole = get(name).parse(text, TOOLS, prompt=options.pop("prompt", None), **options)
    assert reply_of(events, parser.spans) == whole
    return whole


def calls(reply: Reply) -> list[tuple[str, dict[str, Any]] | None]:
    """Name and arguments of each call, None for one that could not be read."""
    return [(call.name, call.arguments) if isinstance(call, ToolCall) else None for call in reply.calls]


GLOB = "<function=glob>\n<parameter=pattern>\n*.md\n</parameter>\n</function>\n"


@pytest.mark.parametrize(
    ("name", "opening", "closing"),
    [("qwen3-coder", "<tool_call>", "</tool_call>"), ("seed-oss", "<seed:tool_call>", "</seed:tool_call>")],
)
def test_a_call_that_follows_without_the_last_mark_before_it_is_no_value(name: str, opening: str, closing: str) -> None:
    together = read(name, f"{opening}\n{GLOB}{GLOB}{closing}")
    unclosed = read(name, f"{opening}\n{GLOB}{opening}\n{GLOB}{closing}")

    expected = [("glob", {"pattern": "*.md"} if name == "qwen3-coder" else {"pattern": "\n*.md\n"})] * 2
    assert calls(together) == calls(unclosed) == expected
    assert not together.problems


def test_a_call_that_began_without_its_first_mark_may_end_without_the_last_one() -> None:
    assert calls(read("qwen3-coder", f"I look.\n\n{GLOB}")) == [("glob", {"pattern": "*.md"})]
    assert calls(read("qwen3-coder", f"I look.\n\n{GLOB}</tool_call>")) == [("glob", {"pattern": "*.md"})]
    assert calls(read("qwen3-coder", f"I look.\n\n{GLOB}{GLOB}")) == [("glob", {"pattern": "*.md"})] * 2


def test_a_call_that_began_with_its_first_mark_is_cut_off_without_the_last_one() -> None:
    reply = read("qwen3-coder", f"<tool_call>\n{GLOB}")

    assert [type(call) for call in reply.calls] == [InvalidToolCall]
