"""What no model should write and some day one does: nothing is raised or lost, and the work grows with the text."""

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from format_cases import TOOLS, changed, literals

import wieldy.formats.parser
from wieldy.core.calls import ToolCall
from wieldy.core.events import ReasoningDelta, TextDelta
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.formats.events import ArgumentsDelta, ParseEvent, Span
from wieldy.formats.parser import Parser
from wieldy.formats.reading.source import Source

GOLDENS = Path(__file__).parent / "goldens"
every_format = pytest.mark.parametrize("name", names())
BITS = [
    *"\n \t\"'\\{}[]()<>,:=|`0xé😀\x00\ufdd0\ufdd1\udcff\u2028",
    *["\r\n", "</", "/>", '{"name": "', '"arguments": {', '"}}', "null", "true", "-1e9", "NaN", "\\u00e9", "\\ud83d"],
    *["write_file", "path", "no_tool"],
]

Piece = tuple[str, bool]
"""A piece of text, and whether it is one special token."""


def goldens(name: str) -> list[dict[str, Any]]:
    return json.loads((GOLDENS / f"{name}.json").read_text("utf-8"))


def made(name: str, chance: random.Random) -> tuple[str, dict[str, Any]]:
    """A text that is nearly, partly or not at all what the format says, and the golden whose tools are on offer."""
    golden = chance.choice(goldens(name))
    text: str = golden["text"]
    match chance.randrange(5):
        case 0 | 1:
            for _ in range(chance.randint(1, 4)):
                text = changed(text, name, chance)
        case 2:
            text = "".join(chance.choices([*literals(name), *BITS], k=chance.randint(1, 40)))
        case 3:
            data = bytearray(text.encode())
            for _ in range(chance.randint(1, 6)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            text = data[chance.randint(0, 9) :].decode(errors=chance.choice(["replace", "surrogateescape"]))
        case _:
            end = chance.randint(0, len(text.encode()))
            text = text.encode()[:end].decode(errors=chance.choice(["replace", "surrogateescape"]))
            text += chance.choice(["", chance.randbytes(chance.randint(0, 40)).decode(errors="surrogateescape")])
    return text, golden


def told(parser: Parser, pieces: Sequence[Piece]) -> tuple[list[ParseEvent], tuple[Span, ...]]:
    """The events with neighbouring deltas joined, and the spans."""
    together: list[ParseEvent] = []
    for event in [
        event for text, is_token in pieces for event in parser.feed(text, is_token=is_token)
    ] + parser.close():
        match together[-1:], event:
            case [TextDelta(text=before)], TextDelta(text=text):
                together[-1] = TextDelta(text=before + text)
            case [ReasoningDelta(text=before)], ReasoningDelta(text=text):
                together[-1] = ReasoningDelta(text=before + text)
            case [ArgumentsDelta(index=same, text=before)], ArgumentsDelta(index=index, text=text) if same == index:
                together[-1] = ArgumentsDelta(index, before + text)
            case _:
                together.append(event)
    return together, parser.spans


def cut(text: str, chance: random.Random) -> list[Piece]:
    ends = sorted(chance.sample(range(len(text) + 1), min(len(text), chance.randint(1, 8))))
    return [(text[start:end], False) for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def characters(text: str) -> list[Piece]:
    return [(character, False) for character in text]


def assert_covers(spans: Sequence[Span], length: int) -> None:
    assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
    assert all(span.start < span.end for span in spans)
    assert (spans[-1].end if spans else 0) == length


@every_format
def test_whatever_is_written_is_read_the_same_in_all_cuts_and_covered_by_spans(name: str) -> None:
    chance = random.Random(name)
    for _ in range(24):
        text, golden = made(name, chance)
        prompt = chance.choice([None, "", golden.get("prompt")])

        def parser(tools: list[Any] = golden["tools"], prompt: str | None = prompt) -> Parser:
            return get(name).parser(tools, prompt=prompt)

        events, spans = told(parser(), [(text, False)])

        assert told(parser(), cut(text, chance)) == (events, spans), text
        assert told(parser(), characters(text)) == (events, spans), text
        assert_covers(spans, len(text))


@every_format
def test_special_tokens_may_come_between_any_pieces(name: str) -> None:
    chance = random.Random(name)
    marks = [mark for literal in literals(name) if len(mark := literal.strip()) > 3 and mark[0] in "<[]"]
    tokens = marks or ["<mark>"]
    for _ in range(8):
        pieces: list[Piece] = []
        for _ in range(chance.randint(1, 12)):
            if chance.random() < 0.5:
                pieces.append((chance.choice(tokens), True))
            else:
                pieces.append((chance.choice([*BITS, *tokens, "path", "a b"]), False))

        def parser() -> Parser:
            return get(name).parser(TOOLS, special_tokens=tokens)

        apart = [piece for text, is_token in pieces for piece in ([(text, True)] if is_token else characters(text))]

        events, spans = told(parser(), pieces)
        assert told(parser(), apart) == (events, spans), pieces
        assert_covers(spans, sum(len(text) for text, _ in pieces))


@every_format
def test_a_golden_that_was_cut_off_has_no_call_that_the_whole_has_not(name: str) -> None:
    chance = random.Random(name)
    for golden in goldens(name):
        text, prompt = golden["text"], golden.get("prompt") or ""
        calls = [arguments for _, arguments in golden["reply"]["calls"]]
        for end in chance.sample(range(len(text)), min(len(text), 15)):
            reply = get(name).parse(text[:end], golden["tools"], prompt=prompt)
            executable = [call.arguments for call in reply.calls if isinstance(call, ToolCall)]
            assert executable == calls[: len(executable)], text[:end]


# The work that reading takes, counted instead of timed: calls of functions, and characters that are looked at again.


class CountingSource(Source):
    """A source that knows how often text was looked at again because more had come."""

    looked_at_again = 0

    def push(self, piece: str) -> None:
        CountingSource.looked_at_again += len(self.text) - self.at
        super().push(piece)


@contextmanager
def counted() -> Iterator[Callable[[], int]]:
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1

    CountingSource.looked_at_again = 0
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield lambda: calls + CountingSource.looked_at_again
    finally:
        sys.setprofile(before)


def work(name: str, text: str, size: int) -> int:
    parser = get(name).parser(TOOLS)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    with counted() as steps:
        for piece in pieces:
            parser.feed(piece)
        parser.close()
        return steps()


def adversarial(name: str, chance: random.Random) -> dict[str, Callable[[int], str]]:
    """Texts of any length that readers may find hard."""
    call = ToolCall(id="c", name="write_file", arguments={"path": "P", "content": "CC"})
    one = get(name).render_reply(Message.assistant("", [call]), TOOLS)
    two = get(name).render_reply(Message.assistant("T", [call, call], reasoning="R"), TOOLS)
    marks = [literal for literal in literals(name) if len(literal) > 1 and literal not in ("write_file", "path")]
    within = one[: one.rindex("CC")]
    at, mark, bracket = chance.randrange(len(two)), chance.choice(marks), chance.choice("{[\"'\\(<`")
    return {
        "white space": lambda n: " \n" * n,
        f"white space at {at}": lambda n: two[:at] + " \n" * n + two[at:],
        f"many {mark!r}": lambda n: mark * n,
        f"many {mark!r} within a value": lambda n: within + (mark + " ") * n,
        f"many {bracket!r}": lambda n: bracket * n,
        f"many {bracket!r} within a value": lambda n: within + bracket * n,
        f"many {bracket!r} for a value": lambda n: one[: one.rindex("P")] + bracket * n,
        "many calls": lambda n: one * (n // 20),
        "many beginnings of calls": lambda n: within * (n // 20),
    }


@every_format
@pytest.mark.parametrize("size", [4, 1_000_000])
def test_twice_the_text_is_at_most_about_twice_the_work(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wieldy.formats.parser, "Source", CountingSource)
    for kind, text in adversarial(name, random.Random(name)).items():
        once, twice = (work(name, text(n), size) for n in (200, 400))

        assert twice < 2.5 * once + 300, kind


@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "deepseek-v3.2", "harmony", "pythonic", "gemma-4"])
def test_a_million_quotes_within_a_value_are_read(name: str) -> None:
    call = ToolCall(id="c", name="write_file", arguments={"path": "P", "content": "CC"})
    one = get(name).render_reply(Message.assistant("", [call]), TOOLS)
    text = one[: one.rindex("CC")] + '"' * 1_000_000

    reply = get(name).parse(text, TOOLS, prompt="")

    assert not [call for call in reply.calls if isinstance(call, ToolCall)]
    assert reply.spans[-1].end == len(text)
