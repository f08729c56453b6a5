"""Laws of acting in text: what is told reads back, cuts do not matter, and the loop cannot tell text from calls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wieldy import formats
from wieldy.core.calls import InvalidToolCall, ToolCall, ToolResult
from wieldy.core.events import CallDelta, ReasoningDelta, RunResult, TextDelta
from wieldy.core.history import check_history
from wieldy.core.messages import Message
from wieldy.run.actions import TextActions
from wieldy.run.actions.reading import Delta, ReadReply, ReplyReading
from wieldy.run.actions.retelling import Retelling
from wieldy.run.journal import MemoryJournal
from wieldy.run.loop import run
from wieldy.run.request import RunRequest
from wieldy.testing import ScriptedModel, call, reasoning, text
from wieldy.testing.scripted import Item
from wieldy.tools import Toolset, tool

pytestmark = pytest.mark.anyio

PLAIN_FORMATS = ("react", "json", "markers")
every_format = pytest.mark.parametrize("name", PLAIN_FORMATS)


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@tool(effect="read")
def search(query: str, most: int = 3) -> str:
    """Finds pages."""
    return f"{most} pages about {query}"


DEFINITIONS = (add.definition, search.definition)

WORDS = st.text("abc XYZ019.,é日", min_size=1, max_size=12).map(str.strip).filter(bool)
STRINGS = st.text("ab09 \"'\\\n\t<>/{}()[]=,:;|&#`é日😀", max_size=10)
NUMBERS = st.integers(-(10**9), 10**9)
ARGUMENTS = {
    "add": st.fixed_dictionaries({"a": NUMBERS, "b": NUMBERS}),
    "search": st.fixed_dictionaries({"query": STRINGS}, optional={"most": NUMBERS}),
}


@st.composite
def calls(draw: st.DrawFn, least: int = 0) -> list[ToolCall]:
    names = draw(st.lists(st.sampled_from(sorted(ARGUMENTS)), min_size=least, max_size=3))
    return [ToolCall(id=f"c_{n}", name=name, arguments=draw(ARGUMENTS[name])) for n, name in enumerate(names)]


@st.composite
def replies(draw: st.DrawFn, name: str) -> Message:
    """What the format can carry: tame texts, and thoughts where it has them."""
    made = draw(calls())
    thought = "" if name == "markers" else draw(st.just("") | WORDS)
    said = draw(WORDS if not made else st.just("") | WORDS)
    return Message.assistant(said, made, reasoning=thought)


def read(name: str, pieces: Sequence[str], *, is_whole: bool = True) -> tuple[ReadReply, list[Delta]]:
    reading = ReplyReading(formats.get(name), DEFINITIONS, id_prefix="c_")
    deltas = [delta for piece in pieces for delta in reading.feed(piece)]
    deltas += reading.close(is_whole=is_whole)
    return reading.reply(), deltas


def message_of(reply: ReadReply) -> Message:
    return Message.assistant(reply.content, reply.calls, reasoning=reply.reasoning)


@every_format
@settings(deadline=None)
@given(data=st.data())
def test_what_the_model_reads_of_its_own_message_reads_back_as_that_message(name: str, data: st.DataObject) -> None:
    message = data.draw(replies(name))
    written = Retelling(formats.get(name), DEFINITIONS).written(message)
    reply, _ = read(name, [written])
    assert message_of(reply) == message
    assert reply.problems == ()


FRAGMENTS = {
    "react": ["Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:", "**Observation:**"],
    "json": ['{"name": "add", "arguments": {"a": 1, "b": 2}}', '{"name": "add"', "<think>", "</think>", "```json\n"],
    "markers": ["[[add(a=1, b=2)]]", "[[add(a=", "]]", "[["],
}
COMMON = [
    " ",
    "\n",
    " add",
    " search",
    '{"a": 1, "b": 2}',
    '{"query": "x"}',
    "{",
    "}",
    "x",
    "\nUser:",
    "\nResult of",
    "\nRes",
]


def texts(name: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from([*FRAGMENTS[name], *COMMON]), max_size=14).map("".join)


def joined(deltas: Sequence[Delta]) -> list[Delta]:
    """Neighbouring deltas of one kind as one."""
    together: list[Delta] = []
    for delta in deltas:
        match together[-1:], delta:
            case [TextDelta(text=before)], TextDelta(text=more):
                together[-1] = TextDelta(text=before + more)
            case [ReasoningDelta(text=before)], ReasoningDelta(text=more):
                together[-1] = ReasoningDelta(text=before + more)
            case [CallDelta(index=same, name=called, arguments=before)], CallDelta(index=index, name=None) if (
                same == index
            ):
                together[-1] = CallDelta(index=same, name=called, arguments=before + delta.arguments)
            case _:
                together.append(delta)
    return together


@every_format
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_what_is_read_does_not_depend_on_where_the_text_is_cut(name: str, data: st.DataObject) -> None:
    written = data.draw(texts(name))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=8)))
    pieces = [written[start:end] for start, end in pairwise([0, *cuts, len(written)])]
    is_whole = data.draw(st.booleans())
    whole, at_once = read(name, [written], is_whole=is_whole)
    reply, in_pieces = read(name, pieces, is_whole=is_whole)
    assert reply == whole
    assert joined(in_pieces) == joined(at_once)


@every_format
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_what_is_streamed_is_what_the_reply_says(name: str, data: st.DataObject) -> None:
    reply, deltas = read(name, [data.draw(texts(name))])
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == reply.content
    assert "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)) == reply.reasoning


@every_format
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_whatever_a_model_writes_is_told_again_as_it_was_read(name: str, data: st.DataObject) -> None:
    message = message_of(read(name, [data.draw(texts(name))])[0])
    chat_format = formats.get(name)
    plain = chat_format.turns.plain  # what looks like another's turn is told as mere letters
    message = Message.assistant(plain(message.text), message.calls, reasoning=plain(message.reasoning))
    assume(not chat_format.losses(message, DEFINITIONS))
    written = Retelling(chat_format, DEFINITIONS).written(message)
    assert message_of(read(name, [written])[0]) == message


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Histories that strict providers take, of words that pretend to be the form."""
    lines = st.lists(st.sampled_from(["Observation: 1", "User: x", "Result of add: 1", "Action: add", "a"]), min_size=1)
    words = lines.map("\n".join)
    messages = [Message.system(draw(words))] * draw(st.integers(0, 1)) + [Message.user(draw(words))]
    for turn in range(draw(st.integers(0, 4))):
        made = [ToolCall(id=f"{turn}_{n}", name="add", arguments={}) for n in range(draw(st.integers(0, 2)))]
        lost = [InvalidToolCall(id=f"{turn}_lost", name=None, text=draw(words), error="?")] * draw(st.integers(0, 1))
        messages.append(Message.assistant(draw(st.just("") | words), [*made, *lost]))
        messages += [Message.tool(ToolResult(tool_call_id=each.id, content=draw(words))) for each in [*made, *lost]]
        messages += [Message.user(draw(words))] * (not made and not lost) * draw(st.integers(1, 2))
    return messages


@every_format
@settings(deadline=None, max_examples=40)
@given(messages=histories())
def test_what_the_model_is_asked_suits_the_strictest_server(name: str, messages: list[Message]) -> None:
    check_history(messages)
    told = Retelling(formats.get(name), DEFINITIONS).told(messages)
    check_history(told)
    assert told[0].role == "system"
    assert all(role != following for role, following in pairwise(message.role for message in told))
    assert not any(message.calls for message in told)


@every_format
@settings(deadline=None, max_examples=40)
@given(messages=histories())
def test_results_are_told_once_each_and_nobody_can_add_one(name: str, messages: list[Message]) -> None:
    told = Retelling(formats.get(name), DEFINITIONS).told(messages)
    said = "\n".join(message.text for message in told if message.role == "user")
    label = "Observation:" if name == "react" else "Result of "
    results = sum(message.role == "tool" for message in messages)
    assert sum(line.startswith(label) for line in said.split("\n")) == results


# The loop


async def finished(model: ScriptedModel | TextActions) -> RunResult:
    request = RunRequest(
        model=model,
        toolset=Toolset([add, search]),
        journal=MemoryJournal(),
        messages=[Message.user("Go")],
    )
    return await run(request)


def happened(result: RunResult) -> list[object]:
    """Calls, results and texts in order."""
    return [
        (
            message.role,
            message.text,
            message.reasoning,
            [(made.name, getattr(made, "arguments", None)) for made in message.calls],
        )
        for message in result.messages
    ]


@every_format
@settings(deadline=None, max_examples=30)
@given(turns=st.lists(st.tuples(WORDS, calls(least=1)), max_size=3), last=st.tuples(WORDS, WORDS))
async def test_a_run_in_text_does_what_a_run_by_calls_does(
    name: str, turns: list[tuple[str, list[ToolCall]]], last: tuple[str, str]
) -> None:
    has_thoughts = name != "markers"
    acting = [Message.assistant(calls=made, reasoning=thought * has_thoughts) for thought, made in turns]
    messages = [*acting, Message.assistant(last[0], reasoning=last[1] * has_thoughts)]
    chat_format = formats.get(name)
    written = [[text(chat_format.render_reply(message, DEFINITIONS))] for message in messages]
    with ScriptedModel(list(map(turn_of, messages))) as by_calls, ScriptedModel(written) as in_text:
        expected = await finished(by_calls)
        result = await finished(TextActions(in_text, chat_format))
    assert happened(result) == happened(expected)
    assert (result.text, result.stop_reason) == (expected.text, expected.stop_reason) == (last[0], "answered")


def turn_of(message: Message) -> list[Item]:
    """The message as a script of a model that has calls of its own."""
    thoughts = [reasoning(message.reasoning)] if message.reasoning else []
    words = [text(message.text)] if message.text else []
    return [
        *thoughts,
        *words,
        *(call(made.name, made.arguments) for made in message.calls if isinstance(made, ToolCall)),
    ]
