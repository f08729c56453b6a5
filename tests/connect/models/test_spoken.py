"""Replies of a model that continues text, whatever it is: what it may write, and what is read of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # the tests have no packages
from random_writer import RandomWriter, vocabulary

from wieldy.connect.models.answers import Delta
from wieldy.connect.models.spoken import Speech
from wieldy.connect.models.template_process import TemplateProcess, TemplateSource
from wieldy.connect.models.writing import Ending, OnToken, Token
from wieldy.core.calls import AUTO, NO_TOOLS, ToolCall, ToolChoice, ToolDefinition, ToolResult
from wieldy.core.errors import BudgetError, GrammarError, RequestRefusedError, UsageError
from wieldy.core.events import CallDelta, ReasoningDelta, TextDelta
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput, in_words
from wieldy.core.ports import ModelReply, ModelRequest
from wieldy.formats import ChatFormat, get, names
from wieldy.grammar import Grammar, Matcher, Tokenizer, json_schema, minimum_tokens
from wieldy.schema import CompiledSchema

NOON = datetime(2026, 11, 30, 12)
HELLO = (Message.user("Hello"),)
PLAIN = "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}[assistant]"
BOOK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "nights": {"type": "integer", "minimum": 1, "maximum": 30},
        "rooms": {"type": "array", "items": {"enum": ["single", "double"]}, "minItems": 1, "maxItems": 3},
        "note": {"type": "string", "maxLength": 40},
    },
    "required": ["city", "nights", "rooms"],
    "additionalProperties": False,
}
TOOLS = (
    ToolDefinition(name="book", description="Books a hotel.", input_schema=BOOK),
    ToolDefinition(
        name="cancel",
        description="Cancels a booking.",
        input_schema={
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
            "additionalProperties": False,
        },
    ),
)
SCHEMAS = {tool.name: CompiledSchema(tool.input_schema) for tool in TOOLS}
REQUIRED = ToolChoice(mode="required")
BOOKED = ToolChoice(mode="tool", name="book")
FORMATS = (
    "hermes",
    "json",
    "qwen3-coder",
    "llama-json",
    "pythonic",
    "mistral-v11",
    "deepseek-v3.1",
    "glm-4.5",
    "harmony",
)
"""One of each kind of wire: JSON in marks, JSON in prose, tags, bare JSON, Python, marks that are tokens, headers."""
VOCABULARIES: dict[str, Tokenizer] = {}


@pytest.fixture(scope="module")
def plain() -> TemplateProcess:
    """A template that knows no calls, so that the format is the one that is named."""
    return TemplateProcess(TemplateSource(text=PLAIN, tokens={}))


def tokenizer_of(chat: ChatFormat) -> Tokenizer:
    """Bytes, and the format's marks as special tokens."""
    if chat.name not in VOCABULARIES:
        VOCABULARIES[chat.name] = vocabulary(tuple(mark for mark in chat.marks if len(mark) > 1))
    return VOCABULARIES[chat.name]


def spoken(
    template: TemplateProcess, name: str, request: ModelRequest, *, seed: int
) -> tuple[list[Delta], ModelReply, RandomWriter]:
    writer = RandomWriter(seed, tokenizer_of(get(name)))
    deltas: list[Delta] = []

    def take(delta: Delta) -> bool:
        deltas.append(delta)
        return False

    reply = Speech(writer, template, chat_format=name).reply(request, now=NOON, on_delta=take)
    return deltas, reply, writer


def least(template: TemplateProcess, name: str, request: ModelRequest) -> int:
    """The smallest budget with which the request can be answered."""
    try:
        spoken(template, name, with_budget(request, 1), seed=0)
    except BudgetError as error:
        return error.minimum
    return 1


def with_budget(request: ModelRequest, budget: int) -> ModelRequest:
    return ModelRequest(
        messages=request.messages,
        tools=request.tools,
        tool_choice=request.tool_choice,
        max_output_tokens=budget,
        output=request.output,
    )


def check_deltas(deltas: list[Delta], reply: ModelReply) -> None:
    """What was streamed is what the reply says."""
    said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    thought = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    assert (said.strip(), thought) == (reply.message.text.strip(), reply.message.reasoning)
    arguments: dict[int, str] = {}
    called: dict[int, str] = {}
    for delta in deltas:
        if isinstance(delta, CallDelta):
            arguments[delta.index] = arguments.get(delta.index, "") + delta.arguments
            called[delta.index] = delta.name or called[delta.index]
    assert [(called[index], json.loads(arguments[index])) for index in sorted(called)] == [
        (call.name, call.arguments) for call in reply.message.calls if isinstance(call, ToolCall)
    ]


def check_calls(reply: ModelReply) -> None:
    """Every call is whole, fits its schema, and points only at what is there."""
    for call in reply.message.calls:
        assert isinstance(call, ToolCall), call
        assert not list(SCHEMAS[call.name].violations(call.arguments))
        for pointer in call.forced:
            value: Any = call.arguments
            for step in pointer.split("/")[1:]:
                value = value[int(step)] if isinstance(value, list) else value[step]


every_format = pytest.mark.parametrize("name", FORMATS)


@every_format
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    choice=st.sampled_from([AUTO, REQUIRED, BOOKED, NO_TOOLS]),
    more=st.integers(0, 150),
)
def test_at_every_budget_all_calls_are_whole_and_fit(
    plain: TemplateProcess, name: str, seed: int, choice: ToolChoice, more: int
) -> None:
    request = ModelRequest(messages=HELLO, tools=TOOLS, tool_choice=choice)
    budget = least(plain, name, request) + more
    deltas, reply, _ = spoken(plain, name, with_budget(request, budget), seed=seed)

    check_calls(reply)
    check_deltas(deltas, reply)
    assert reply.usage.output_tokens <= budget
    called = [call.name for call in reply.message.calls]
    if choice.mode == "none":
        assert not called
    elif choice.mode == "tool":
        assert called == ["book"]
    elif choice.mode == "required":
        assert called
    if called and reply.finish == "stop":
        assert not any(call.forced for call in reply.message.calls if isinstance(call, ToolCall))
    assert reply.finish != "length" or not called


@every_format
def test_a_budget_that_is_too_small_for_a_call_is_refused_with_what_it_takes(plain: TemplateProcess, name: str) -> None:
    request = ModelRequest(messages=HELLO, tools=TOOLS, tool_choice=BOOKED)
    enough = least(plain, name, request)
    assert enough > 1
    with pytest.raises(BudgetError) as caught:
        spoken(plain, name, with_budget(request, enough - 1), seed=1)
    assert (caught.value.minimum, caught.value.budget) == (enough, enough - 1)
    check_calls(spoken(plain, name, with_budget(request, enough), seed=1)[1])


ANSWERS: list[tuple[Output, Callable[[str], bool]]] = [
    (JsonOutput(schema=BOOK), lambda text: not list(CompiledSchema(BOOK).violations(json.loads(text)))),
    (JsonOutput(schema={"type": "integer"}), lambda text: isinstance(json.loads(text), int)),
    (ChoiceOutput(options=("yes", "no", "perhaps")), lambda text: text in ("yes", "no", "perhaps")),
    (PatternOutput(pattern=r"[A-Z]{2}-\d{4}"), lambda text: len(text) == 7),
]


@pytest.mark.parametrize("with_tools", [False, True])
@pytest.mark.parametrize("number", range(len(ANSWERS)))
def test_a_model_is_told_what_its_answer_must_be(plain: TemplateProcess, number: int, with_tools: bool) -> None:
    output, _ = ANSWERS[number]
    request = ModelRequest(messages=HELLO, tools=TOOLS if with_tools else (), output=output)
    _, _, writer = spoken(plain, "hermes", request, seed=1)
    assert writer.prompts[0].count(in_words(output)) == 1


@every_format
@pytest.mark.parametrize("number", range(len(ANSWERS)))
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), more=st.integers(0, 60), with_tools=st.booleans())
def test_an_answer_is_what_it_must_be_or_there_are_calls(
    plain: TemplateProcess, name: str, number: int, seed: int, more: int, with_tools: bool
) -> None:
    output, fits = ANSWERS[number]
    request = ModelRequest(messages=HELLO, tools=TOOLS if with_tools else (), output=output)
    budget = least(plain, name, request) + more
    deltas, reply, _ = spoken(plain, name, with_budget(request, budget), seed=seed)

    check_calls(reply)
    check_deltas(deltas, reply)
    if reply.message.calls:
        assert with_tools
        assert reply.forced == ()
    else:
        assert fits(reply.message.text)
        assert reply.held
        assert reply.finish in ("stop", "closed_by_budget")
        assert bool(reply.forced) == (reply.finish == "closed_by_budget")


def test_a_call_may_be_demanded_only_of_a_tool_that_is_there(plain: TemplateProcess) -> None:
    request = ModelRequest(messages=HELLO, tools=TOOLS, tool_choice=ToolChoice(mode="tool", name="other"))
    with pytest.raises(UsageError, match="'other' must be called but is not among"):
        spoken(plain, "hermes", request, seed=0)


def test_an_answer_that_no_constraint_can_hold_says_so() -> None:
    request = ModelRequest(messages=HELLO, output=PatternOutput(pattern=r"(a)\1"))
    model, reply = asked(PLAIN, request, said="aa")
    assert model.grammars == [None]
    assert (reply.message.text, reply.held) == ("aa", False)


def test_a_tool_whose_schema_no_constraint_can_hold_spoils_no_other(plain: TemplateProcess) -> None:
    elsewhere = ToolDefinition(
        name="odd", description="Odd.", input_schema={"type": "object", "properties": {"a": {"$ref": "https://a.b/c"}}}
    )
    request = ModelRequest(messages=HELLO, tools=(*TOOLS, elsewhere), tool_choice=REQUIRED, max_output_tokens=300)
    for seed in range(6):
        _, reply, _ = spoken(plain, "json", request, seed=seed)
        check_calls(
            replace(
                reply, message=Message.assistant(calls=[call for call in reply.message.calls if call.name != "odd"])
            )
        )
        assert all(isinstance(call, ToolCall) for call in reply.message.calls)


@pytest.mark.parametrize(
    ("template", "thinks"),
    [
        (PLAIN, False),
        (PLAIN.replace("[assistant]", "[assistant]{% if thinking %}<think>{% endif %}"), True),
    ],
)
def test_only_a_model_that_was_taught_to_think_may_think_before_it_calls(template: str, thinks: bool) -> None:
    request = ModelRequest(messages=HELLO, tools=TOOLS, tool_choice=REQUIRED)
    for name in ("hermes", "json"):
        model, _ = asked(template, request, chat_format=name)
        (grammar,) = model.grammars
        assert grammar is not None
        matcher = Matcher(grammar, vocabulary())
        assert matcher.accept_text("<think>") == thinks


def test_ids_of_calls_are_those_of_no_other(plain: TemplateProcess) -> None:
    call = ToolCall(id="call_1_0", name="cancel", arguments={"number": 1})
    history = (*HELLO, Message.assistant(calls=[call]), Message.tool(ToolResult(tool_call_id=call.id, content="Done.")))
    request = ModelRequest(messages=history, tools=TOOLS, tool_choice=BOOKED, max_output_tokens=300)
    reply = spoken(plain, "json", request, seed=3)[1]
    assert call.id not in [made.id for made in reply.message.calls]


# How a model is spoken to


class Silent:
    """A model that says nothing, and keeps what it was asked."""

    begins_texts = False

    def __init__(self, *, said: str = "") -> None:
        self.prompts: list[str] = []
        self.grammars: list[Grammar | None] = []
        self._said = said

    @property
    def tokenizer(self) -> Tokenizer:
        raise GrammarError("A vocabulary of a kind that is not known.")

    def write(self, prompt: str, *, max_tokens: int, on_token: OnToken, grammar: Grammar | None = None) -> Ending:
        self.prompts.append(prompt)
        self.grammars.append(grammar)
        for letter in self._said[:max_tokens]:
            if on_token(Token(id=0, data=letter.encode())):
                break
        return Ending(usage=Usage(requests=1), finish="stop" if len(self._said) <= max_tokens else "length")


HERMES = (
    "{% if tools %}[tools]{% for tool in tools %}{{ tool | tojson }}{% endfor %}\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}"
    '{% for c in m.tool_calls or [] %}{{ \'\\n<tool_call>\\n{"name": "\' + c.function.name + \'", "arguments": \' }}'
    "{{ c.function.arguments | tojson }}{{ '}\\n</tool_call>' }}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def asked(
    template: str, request: ModelRequest, *, chat_format: str | None = None, said: str = ""
) -> tuple[Silent, ModelReply]:
    model = Silent(said=said)
    speech = Speech(model, TemplateProcess(TemplateSource(text=template, tokens={})), chat_format=chat_format)
    return model, speech.reply(request, now=NOON, on_delta=lambda _: False)


FENCED = '```json\n{"name": "cancel", "arguments": {"number": 7}}\n```'


@pytest.mark.parametrize(
    ("request_", "is_call"),
    [
        (ModelRequest(messages=HELLO, tools=TOOLS), True),
        (ModelRequest(messages=HELLO, tools=TOOLS, tool_choice=NO_TOOLS), False),
        (ModelRequest(messages=HELLO, tools=TOOLS[:1]), False),
        (ModelRequest(messages=HELLO), False),
    ],
)
def test_a_call_without_the_marks_of_its_format_is_read_where_there_may_be_calls(
    request_: ModelRequest, is_call: bool
) -> None:
    deltas: list[Delta] = []
    speech = Speech(Silent(said=FENCED), TemplateProcess(TemplateSource(text=HERMES, tokens={})))
    reply = speech.reply(request_, now=NOON, on_delta=lambda delta: bool(deltas.append(delta)))

    check_deltas(deltas, reply)
    called = [(call.name, call.arguments) for call in reply.message.calls if isinstance(call, ToolCall)]
    assert called == ([("cancel", {"number": 7})] if is_call else [])
    assert reply.message.text == ("" if is_call else FENCED)


def test_a_model_is_spoken_to_by_its_own_template_and_told_of_tools_there() -> None:
    model, _ = asked(HERMES, ModelRequest(messages=HELLO, tools=TOOLS))
    assert model.prompts[0].startswith("[tools]")
    assert '"name": "book"' in model.prompts[0]
    assert model.prompts[0].endswith("<|im_start|>assistant\n")
    (grammar,) = model.grammars
    assert grammar is not None
    assert "<tool_call>" in grammar.lark


def test_a_model_whose_template_knows_no_calls_is_told_of_tools_in_words() -> None:
    model, _ = asked(PLAIN, ModelRequest(messages=HELLO, tools=TOOLS))
    assert model.prompts[0].startswith("[system]")
    assert "book" in model.prompts[0]
    assert '"arguments"' in model.prompts[0]
    assert model.prompts[0].endswith("[user]Hello\n[assistant]")


def test_without_tools_it_hears_the_messages_and_nothing_else() -> None:
    model, _ = asked(PLAIN, ModelRequest(messages=HELLO))
    assert model.prompts == ["[user]Hello\n[assistant]"]
    assert model.grammars == [None]


def test_what_a_template_loses_is_told_in_the_formats_own_turns() -> None:
    losing = HERMES.replace("m.tool_calls or []", "(m.tool_calls or [])[:1]")
    calls = [ToolCall(id=f"c{n}", name="cancel", arguments={"number": n}) for n in (41, 42)]
    results = [Message.tool(ToolResult(tool_call_id=call.id, content="Done.")) for call in calls]
    request = ModelRequest(messages=(*HELLO, Message.assistant(calls=calls), *results), tools=TOOLS)
    model, _ = asked(losing, request)
    assert '{"number": 41}' in model.prompts[0]
    assert '{"number": 42}' in model.prompts[0]


def test_a_conversation_that_nothing_can_write_is_refused() -> None:
    picky = "{% if messages | length > 1 %}{{ raise_exception('One message only.') }}{% endif %}x"
    with pytest.raises(RequestRefusedError, match=r"does not take this conversation.*One message only"):
        asked(picky, ModelRequest(messages=(*HELLO, *HELLO)))


@pytest.mark.parametrize(("text", "said"), [("One. Two.", "One."), ("Nothing.", "Nothing.")])
def test_a_reply_ends_before_a_text_that_stops_it(text: str, said: str) -> None:
    _, reply = asked(PLAIN, ModelRequest(messages=HELLO, stop=("Two",)), said=text)
    assert reply.message.text == said
    assert reply.finish == "stop"


def test_reasoning_is_told_apart_from_the_answer() -> None:
    _, reply = asked(HERMES, ModelRequest(messages=HELLO), said="<think>\nHm.\n</think>\n\nHello!")
    assert (reply.message.reasoning, reply.message.text) == ("Hm.", "Hello!")


def test_an_answer_that_is_cut_says_so() -> None:
    _, reply = asked(PLAIN, ModelRequest(messages=HELLO, max_output_tokens=4), said="Hello there")
    assert (reply.message.text, reply.finish, reply.held) == ("Hell", "length", False)


@pytest.mark.parametrize("name", [name for name in names() if not get(name).turns.prefill][::6])
def test_any_format_can_be_named(name: str) -> None:
    model, _ = asked(PLAIN, ModelRequest(messages=HELLO, tools=TOOLS), chat_format=name)
    assert "book" in model.prompts[0]


def test_the_shortest_text_of_a_schema_needs_the_budget_that_is_said() -> None:
    bytes_only = vocabulary()
    shortest = minimum_tokens(json_schema(BOOK), bytes_only)
    assert shortest == len('{"city": "", "nights": 1, "rooms": ["single"]}')
