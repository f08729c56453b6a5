"""Harmony: what is not in order is passed over and told, and nothing is lost."""

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolChoice
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats import get
from wieldy.grammar import Matcher, Tokenizer

HARMONY = get("harmony")
TOOLS = [
    {
        "type": "function",
        "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    }
]
NEXT = "<|end|><|start|>assistant"
FINAL = "<|channel|>final<|message|>"
CALL = "<|channel|>commentary to=functions.add <|constrain|>json<|message|>"
BYTES = Tokenizer.of_bytes()


def test_text_without_any_header_is_the_answer_and_a_problem() -> None:
    reply = HARMONY.parse("Hello.", TOOLS)

    assert reply.content == "Hello."
    assert [problem.position for problem in reply.problems] == [0]


@pytest.mark.parametrize(
    "garbled",
    ["<|channel|>??", "<|channel|>commentary?commentary?We need it.", "<|channel|>final", "<|constrain|>json"],
)
def test_a_garbled_header_is_markup_and_reading_goes_on(garbled: str) -> None:
    reply = HARMONY.parse(f"{garbled}{NEXT}{FINAL}Done", TOOLS)

    assert (reply.content, reply.calls) == ("Done", ())
    assert reply.problems
    assert reply.spans[0].kind == "markup"


def test_a_header_of_a_call_that_the_text_ends_in_is_a_call_that_cannot_run() -> None:
    reply = HARMONY.parse(" to=functions.add<|channel|>comm", TOOLS)

    assert [type(call) for call in reply.calls] == [InvalidToolCall]
    assert reply.calls[0].name == "add"


@pytest.mark.parametrize("recipient", ["python", "browser.search"])
def test_a_message_to_a_built_in_tool_is_no_call_and_stays_in_the_spans(recipient: str) -> None:
    text = f'<|channel|>commentary to={recipient} code<|message|>print("x")<|call|><|start|>assistant{FINAL}Done'
    reply = HARMONY.parse(text, TOOLS)

    assert (reply.content, reply.calls) == ("Done", ())
    assert [problem.found for problem in reply.problems] == [repr(recipient)]


def test_a_result_that_the_model_invents_is_not_said_to_the_reader() -> None:
    text = f'{CALL}{{"a": 1}}<|call|><|start|>functions.add to=assistant<|channel|>commentary<|message|>2{NEXT}{FINAL}3'
    reply = HARMONY.parse(text, TOOLS)

    assert (reply.content, len(reply.calls)) == ("3", 1)
    assert "by 'assistant'" in str(reply.problems[0])


def test_text_on_an_unknown_channel_or_on_none_is_content_and_a_problem() -> None:
    reply = HARMONY.parse(f"<|channel|>comment<|message|>One{NEXT}<|message|>Two", TOOLS)

    assert reply.content == "OneTwo"
    assert len(reply.problems) == 2


def test_marks_within_text_and_strings_end_nothing() -> None:
    said = "Write <|end|> or <|call|> and <|start|>user<|message|>."
    text = f'<|channel|>analysis<|message|>{said}{NEXT}{CALL}{{"a": "{said}{NEXT}{FINAL}"}}'
    reply = HARMONY.parse(text, TOOLS)

    assert reply.reasoning == said
    assert [call.arguments for call in reply.calls if isinstance(call, ToolCall)] == [{"a": said + NEXT + FINAL}]


def test_an_end_that_was_left_out_is_seen_at_the_next_header() -> None:
    reply = HARMONY.parse(f"<|channel|>analysis<|message|>Hm.<|start|>assistant{FINAL}Done", TOOLS)

    assert (reply.reasoning, reply.content) == ("Hm.", "Done")


def test_more_behind_the_arguments_makes_the_call_unreadable_unless_repair_may_cut_it_off() -> None:
    text = f'{CALL}{{"a": 1}} and so on<|call|>'

    assert isinstance(HARMONY.parse(text, TOOLS).calls[0], InvalidToolCall)
    mended = HARMONY.parse(text, TOOLS, repair=2)
    assert [call.arguments for call in mended.calls if isinstance(call, ToolCall)] == [{"a": 1}]
    assert [change.kind for change in mended.repairs[0].changes] == ["cut off"]


@pytest.mark.parametrize(
    ("opened", "rest", "said"),
    [
        ("<|channel|>analysis<|message|>", f"Hm.{NEXT}{FINAL}Done", ("Hm.", "Done", 0)),
        (FINAL, "Done", ("", "Done", 0)),
        (CALL, '{"a": 1}', ("", "", 1)),
    ],
)
def test_a_body_that_the_prompt_opened_is_read_and_allowed(opened: str, rest: str, said: tuple[str, str, int]) -> None:
    prompt = f"<|start|>user<|message|>Hi<|end|><|start|>assistant{opened}"
    reply = HARMONY.parse(rest, TOOLS, prompt=prompt)
    matcher = Matcher(HARMONY.grammar(TOOLS, prompt=prompt), BYTES)

    assert (reply.reasoning, reply.content, len(reply.calls)) == said
    assert matcher.accept_text(rest)
    assert matcher.is_accepting


def test_a_grammar_cannot_begin_in_the_middle_of_a_header() -> None:
    with pytest.raises(UsageError, match="whole header"):
        HARMONY.grammar(TOOLS, prompt="<|start|>assistant<|channel|>")


def test_a_required_call_leaves_no_answer() -> None:
    grammar = HARMONY.grammar(TOOLS, tool_choice=ToolChoice(mode="required"))

    assert not Matcher(grammar, BYTES).accept_text(FINAL)
    assert Matcher(grammar, BYTES).accept_text(f'{CALL}{{"a": 1}}')


def test_only_real_tokens_are_marks_where_tokens_are_known() -> None:
    marks = ["<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>"]
    parser = HARMONY.parser(TOOLS, special_tokens=marks)
    pieces = ["<|channel|>", "analysis", "<|message|>", f"{NEXT}{FINAL}", "<|end|>"]
    pieces += ["<|start|>", "assistant", "<|channel|>", "final", "<|message|>", "Done", "<|return|>"]
    events = [event for piece in pieces for event in parser.feed(piece, is_token=piece in marks)] + parser.close()

    assert [getattr(event, "text", "") for event in events] == [f"{NEXT}{FINAL}", "Done"]


def test_a_conversation_is_split_before_all_messages_of_its_last_reply() -> None:
    messages = [Message.user("Hi"), Message.assistant("Done", reasoning="Hm.")]
    reply = HARMONY.parse(HARMONY.render(messages, TOOLS), TOOLS)

    assert (reply.reasoning, reply.content) == ("Hm.", "Done")
