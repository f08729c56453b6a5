"""A reply without calls whose text must be something: what grammars of chat formats allow then."""

import json
import random

import pytest
from format_cases import TOOLS as ALL_TOOLS
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import NO_TOOLS, ToolCall, ToolChoice
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.formats.format import ChatFormat
from wieldy.grammar import Grammar, Matcher, Tokenizer
from wieldy.grammar.shape import Exact, Json, OneOf
from wieldy.schema import CompiledSchema

BYTES = Tokenizer.of_bytes()
TOOLS = ALL_TOOLS[:3]
SCHEMA = {
    "type": "object",
    "properties": {"size": {"type": "integer", "minimum": 0, "maximum": 99}, "unit": {"enum": ["kg", "g"]}},
    "required": ["size", "unit"],
    "additionalProperties": False,
}
ANSWER = Json(SCHEMA)
GRAMMARS: dict[tuple[str, bool], Grammar] = {}
CALL = ToolCall(id="call_0", name="list_files", arguments={})
every_format = pytest.mark.parametrize("name", names())


def grammar_of(chat: ChatFormat, *, with_tools: bool) -> Grammar:
    key = (chat.name, with_tools)
    if key not in GRAMMARS:
        tools = TOOLS if with_tools else ()
        GRAMMARS[key] = chat.grammar(tools, prompt="", answer=ANSWER, tool_choice=ToolChoice() if tools else NO_TOOLS)
    return GRAMMARS[key]


def allows(grammar: Grammar, text: str) -> bool:
    matcher = Matcher(grammar, BYTES)
    return matcher.accept_text(text) and matcher.is_accepting


def allows_answer(chat: ChatFormat, said: str, *, with_tools: bool) -> bool:
    """Whether the answer may be written, with the line break before it that sets it apart from calls if need be."""
    grammar, tools = grammar_of(chat, with_tools=with_tools), TOOLS if with_tools else ()
    return any(
        allows(grammar, chat.render_reply(Message.assistant(text), tools, prompt="")) for text in (said, f"\n{said}")
    )


def walked(grammar: Grammar, chance: random.Random, *, most: int) -> str | None:
    """A text of the grammar, written at random; None if it did not end."""
    matcher, written = Matcher(grammar, BYTES), bytearray()
    while len(written) < most:
        allowed = matcher.fill_mask().allowed
        if BYTES.end_token in allowed:
            return written.decode("utf-8", "replace")
        # White space is as likely as all the rest, so that layout is met and texts come to their end.
        token = chance.choice([one for one in allowed if one < 128] or allowed)
        assert matcher.accept_token(token)
        written.append(token)
    return None


@every_format
@pytest.mark.parametrize("with_tools", [False, True])
def test_an_answer_that_fits_is_allowed_and_any_other_text_is_not(name: str, with_tools: bool) -> None:
    for said in ('{"size": 7, "unit": "kg"}', '{"size":42,"unit":"g"}'):
        assert allows_answer(get(name), said, with_tools=with_tools)
    for said in ("It is 7 kg.", '{"size": 700, "unit": "kg"}', '{"size": 7, "unit": "kg"} is it.'):
        assert not allows_answer(get(name), said, with_tools=with_tools)


@every_format
def test_calls_are_allowed_beside_an_answer_only_where_tools_are_on_offer(name: str) -> None:
    chat = get(name)
    written = chat.render_reply(Message.assistant(calls=[CALL]), TOOLS, prompt="")

    assert allows(grammar_of(chat, with_tools=True), written)
    assert not allows(grammar_of(chat, with_tools=False), written)


@every_format
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), with_tools=st.booleans())
def test_whatever_is_written_is_read_as_calls_or_as_an_answer_that_fits(name: str, seed: int, with_tools: bool) -> None:
    chat = get(name)
    text = walked(grammar_of(chat, with_tools=with_tools), random.Random(seed), most=400)
    if text is None:
        return

    reply = chat.parse(text, TOOLS if with_tools else (), prompt="")

    assert all(isinstance(call, ToolCall) for call in reply.calls)
    if reply.calls:
        assert with_tools
        assert not reply.content.strip()
    else:
        assert not list(CompiledSchema(SCHEMA).violations(json.loads(reply.content)))


@every_format
def test_an_answer_may_be_one_of_a_few_texts(name: str) -> None:
    chat = get(name)
    grammar = chat.grammar(prompt="", answer=OneOf((Exact("yes"), Exact("no"))), tool_choice=NO_TOOLS)

    assert allows(grammar, chat.render_reply(Message.assistant("no"), prompt=""))
    assert not allows(grammar, chat.render_reply(Message.assistant("maybe"), prompt=""))


@every_format
def test_where_there_may_be_no_text_beside_calls_there_is_none(name: str) -> None:
    chat = get(name)
    required = ToolChoice(mode="required")
    alone = chat.grammar(TOOLS, prompt="", tool_choice=required, beside=("reasoning",))
    beside = chat.grammar(TOOLS, prompt="", tool_choice=required)

    calling = chat.render_reply(Message.assistant(calls=[CALL]), TOOLS, prompt="")
    assert allows(alone, calling)
    said = chat.render_reply(Message.assistant("I look.", calls=[CALL]), TOOLS, prompt="")
    assert not allows(alone, said)
    assert allows(beside, calling)


@pytest.mark.parametrize("name", [name for name in names() if get(name).reasoning_mark])
def test_where_there_may_be_no_reasoning_there_is_only_what_the_prompt_has_opened(name: str) -> None:
    chat = get(name)
    thinking = Message.assistant("No.", reasoning="Hm.")

    silent = chat.grammar(TOOLS, prompt="", beside=("text",))
    assert allows(silent, chat.render_reply(Message.assistant("No."), TOOLS, prompt=""))
    assert not allows(silent, chat.render_reply(thinking, TOOLS, prompt=""))
    assert allows(chat.grammar(TOOLS, prompt=""), chat.render_reply(thinking, TOOLS, prompt=""))

    opened = chat.reasoning_mark
    begun = chat.grammar(TOOLS, prompt=opened, beside=("text",))
    assert allows(begun, chat.render_reply(thinking, TOOLS, prompt=opened))
