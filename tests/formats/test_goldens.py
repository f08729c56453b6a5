"""Replies as the models' own templates and public fixtures have them, read by every format that has its name."""

import json
from pathlib import Path
from typing import Any

import pytest

from wieldy.core.calls import ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.formats.events import Reply, reply_of

GOLDENS = Path(__file__).parent / "goldens"
ALL = [(name, golden) for name in names() for golden in json.loads((GOLDENS / f"{name}.json").read_text("utf-8"))]
IDS = [f"{name}-{number}" for number, (name, _) in enumerate(ALL)]


def read_in_pieces(name: str, golden: dict[str, Any], size: int) -> Reply:
    parser = get(name).parser(golden["tools"], prompt=golden.get("prompt"))
    text, events = golden["text"], []
    for start in range(0, len(text), size):
        events += parser.feed(text[start : start + size])
    return reply_of([*events, *parser.close()], parser.spans)


@pytest.mark.parametrize(("name", "golden"), ALL, ids=IDS)
@pytest.mark.parametrize("size", [1_000_000, 7, 1])
def test_a_golden_says_what_it_says_in_pieces_of_any_size(name: str, golden: dict[str, Any], size: int) -> None:
    reply = read_in_pieces(name, golden, size)

    assert [type(call) for call in reply.calls] == [ToolCall] * len(golden["reply"]["calls"]), reply
    assert {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "calls": [[call.name, call.arguments] for call in reply.calls if isinstance(call, ToolCall)],
    } == golden["reply"]


@pytest.mark.parametrize(
    ("name", "golden"),
    [item for item in ALL if item[1].get("canonical")],
    ids=[name for name, item in zip(IDS, ALL, strict=True) if item[1].get("canonical")],
)
def test_the_renderer_writes_a_canonical_golden_letter_for_letter(name: str, golden: dict[str, Any]) -> None:
    reply = get(name).parse(golden["text"], golden["tools"], prompt=golden.get("prompt"))
    message = Message.assistant(reply.content, reply.calls, reasoning=reply.reasoning)

    ends = get(name).turns.reply_end
    written = get(name).render_reply(message, golden["tools"], prompt=golden.get("prompt"))

    assert written in (golden["text"], *(golden["text"].rstrip("\n").removesuffix(end) for end in ends))


@pytest.mark.parametrize("name", names())
def test_every_name_has_goldens_with_a_call_and_a_source(name: str) -> None:
    goldens = [golden for other, golden in ALL if other == name]

    assert any(golden["reply"]["calls"] for golden in goldens)
    assert all(golden["source"] for golden in goldens)
