"""What was once read, written or refused wrongly: one test for each kind of mistake."""

from typing import Any

import pytest

from wieldy.core.calls import NO_TOOLS, InvalidToolCall, ToolCall, ToolChoice
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.formats.events import Reply, reply_of
from wieldy.grammar import Matcher, Tokenizer

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


KIMI = '<|tool_call_begin|>functions.glob:0<|tool_call_argument_begin|>{"pattern": "a"}<|tool_call_end|>'
DEEPSEEK = '<｜tool▁call▁begin｜>glob<｜tool▁sep｜>{"pattern": "a"}<｜tool▁call▁end｜>'
DSML = (
    '<｜DSML｜invoke name="glob">\n<｜DSML｜parameter name="pattern" string="true">a</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n"
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kimi-k2", KIMI),
        ("kimi-k2", f"<|tool_call_section_begin|>{KIMI}<|tool_call_section_end|>"),
        ("deepseek-v3.1", DEEPSEEK),
        ("deepseek-v3", f"{DEEPSEEK.replace('glob<｜tool▁sep｜>', 'function<｜tool▁sep｜>glob')}<｜tool▁calls▁end｜>"),
        ("deepseek-v3.2", f"<｜DSML｜tool_calls>\n{DSML}</｜DSML｜tool_calls>"),
        ("deepseek-v4", f"<｜DSML｜function_calls>\n{DSML}</｜DSML｜function_calls>"),
        ("deepseek-v4.1", f"<｜DSML｜tool_calls>\n{DSML}</｜DSML｜tool_calls>".replace("DSML｜", "DSML｜ ")),
        ("gemma-4", '<|tool_call>:glob{pattern:<|"|>a<|"|>}<tool_call|>'),
        ("functionary", '<function=glob> {"pattern": "a"} </function>'),
        ("phi-4-mini", 'functools [{"name": "glob", "arguments": {"pattern": "a"}}]'),
        ("mistral-v13", '[TOOL_CALLS]glob{"pattern": "a"}'),
        ("mistral-v11", '[TOOL_CALLS]glob[CALL_ID]abcdefghi{"pattern": "a"}'),
    ],
)
def test_marks_that_models_spell_otherwise_or_leave_out_begin_a_call(name: str, text: str) -> None:
    reply = read(name, text)

    assert calls(reply) == [("glob", {"pattern": "a"})]
    assert (reply.content, reply.problems) == ("", ())
    assert not [call for call in read(name, text[: text.index("glob") + 2]).calls if isinstance(call, ToolCall)]


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "gemma-4", "pythonic", "minimax-m3", "harmony", "markers"])
@pytest.mark.parametrize(
    "arguments",
    [{"a": object()}, {"a": {1, 2}}, {1: 2}, {"a": [{None: 1}]}, {"a": float("nan")}, {"a": b"x"}, ["a"], nested(9999)],
    ids=["object", "set", "number as key", "null as key", "nan", "bytes", "list", "deep"],
)
def test_arguments_that_json_does_not_have_are_refused_in_words(name: str, arguments: Any) -> None:
    message = Message.assistant(calls=[ToolCall(id="c", name="bash", arguments=arguments)])

    with pytest.raises(UsageError, match="arguments"):
        get(name).render([message], TOOLS)


@pytest.mark.parametrize("wrong", [None, 5, "glob", TOOLS[0]])
def test_what_is_no_list_of_tools_is_refused_in_words(wrong: Any) -> None:
    with pytest.raises(UsageError, match="Expected tools as a list"):
        get("hermes").parser(wrong)


@pytest.mark.parametrize("wrong", [b"text", 5, None])
def test_a_piece_that_is_no_text_is_refused_and_harms_nothing(wrong: Any) -> None:
    parser = get("hermes").parser(TOOLS)

    with pytest.raises(UsageError, match="Expected a piece of text"):
        parser.feed(wrong)

    assert reply_of([*parser.feed("still"), *parser.close()]).content == "still"


@pytest.mark.parametrize("choice", ["required", None, ToolChoice(mode="any")])  # pyright: ignore[reportArgumentType]
def test_a_choice_that_is_none_is_refused_in_words(choice: Any) -> None:
    with pytest.raises(UsageError, match="Expected a ToolChoice"):
        get("hermes").rules(TOOLS, tool_choice=choice)


@pytest.mark.parametrize("most", [0, -1])
def test_fewer_calls_than_one_are_no_limit_on_calls(most: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        get("hermes").rules(TOOLS, at_most=most)


def test_where_no_call_is_wanted_json_that_would_be_one_cannot_be_written() -> None:
    grammar = get("json").grammar(TOOLS, tool_choice=NO_TOOLS)

    def allows(text: str) -> bool:
        matcher = Matcher(grammar, Tokenizer.of_bytes())
        return matcher.accept_text(text) and matcher.is_accepting

    assert not allows('{"name": "glob", "arguments": {"pattern": "a"}}')
    assert not allows("I see:\n[{'name': 'now'}]")
    assert allows('The glob is {"name": "Alice", "age": 3}.')


@pytest.mark.parametrize(
    ("name", "opening", "closing"),
    [
        ("qwen3-coder", "<think>\n", "\n</think>\n\n"),
        ("seed-oss", "<seed:think>", "</seed:think>\n"),
        ("minimax-m2", "<think>\n", "\n</think>\n\n"),
    ],
)
def test_a_mark_that_reasoning_only_speaks_of_begins_no_call(name: str, opening: str, closing: str) -> None:
    call = get(name).render_reply(Message.assistant(calls=[ToolCall(id="c", name="now", arguments={})]), TOOLS)
    mark = call.strip().splitlines()[0]
    thought = f"I could write {mark} or <function= here."

    spoken = read(name, f"{opening}{thought}{closing}Good day.")
    assert (spoken.content, spoken.reasoning, spoken.calls) == ("Good day.", thought, ())

    called = read(name, f"{opening}I call.{call}")
    assert (called.reasoning.strip(), calls(called)) == ("I call.", [("now", {})])

    cut = read(name, f"{opening}I call.{call[: call.index('now') + 2]}")
    assert {type(call) for call in cut.calls} == {InvalidToolCall}


@pytest.mark.parametrize("name", names())
def test_what_begins_or_ends_anything_is_only_letters_where_users_write_it(name: str) -> None:
    turns = get(name).turns
    for control in [text for text in (turns.begin, *turns.stops) if text[:1] == "<" and text[-1:] == ">"]:
        plain = get(name).render([Message.user("ab"), Message.assistant("c")])
        written = get(name).render([Message.user(f"a{control}b"), Message.assistant("c")])
        assert written.count(control) == plain.count(control), control


@pytest.mark.parametrize(("name", "opening"), [("qwen3-coder", "<tool_call>"), ("seed-oss", "<seed:tool_call>")])
@pytest.mark.parametrize("rest", ["<function=", "<function=gl", "now: <function=glob>\n</function>\n", " \n", "<func"])
def test_a_call_of_two_opening_marks_that_cannot_be_read_is_one_call(name: str, opening: str, rest: str) -> None:
    reply = read(name, f"I look.\n\n{opening}\n{rest}")

    assert [(type(call), getattr(call, "text", "")) for call in reply.calls] == [
        (InvalidToolCall, f"{opening}\n{rest}")
    ]


def test_behind_a_call_that_cannot_be_read_the_next_one_is_found() -> None:
    broken, whole = "<tool_call>\nnow: <function=", f"<tool_call>\n{GLOB}</tool_call>"

    assert calls(read("qwen3-coder", f"{broken}</tool_call>\n{whole}")) == [None, ("glob", {"pattern": "*.md"})]
    assert calls(read("qwen3-coder", f"{broken}{whole}")) == [None, ("glob", {"pattern": "*.md"})]
    assert calls(read("qwen3-coder", f"<tool_call>\n{whole}")) == [None, ("glob", {"pattern": "*.md"})]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kimi-k2", "<|tool_calls_section_begin|><|tool_call_be"),
        ("kimi-k2", "<|tool_calls_section_begin|>glob<|tool_calls_section_end|>"),
        ("mistral-v3", "[TOOL_CALLS] ["),
        ("claude-2", "<function_calls>\nglob"),
    ],
)
def test_a_section_without_a_call_is_one_call_with_its_whole_text(name: str, text: str) -> None:
    reply = read(name, f"I look.\n\n{text}")

    assert [(type(call), getattr(call, "text", "")) for call in reply.calls] == [(InvalidToolCall, text)]


LISTED = tool("tag", labels={"type": "array", "items": TEXT}, note=TEXT)


@pytest.mark.parametrize("name", ["glm-4.7", "kimi-k3", "minicpm-5", "deepseek-v3.2", "hunyuan-3"])
@pytest.mark.parametrize("is_open", [False, True])
def test_a_mark_within_a_string_of_json_ends_no_argument(name: str, is_open: bool) -> None:
    chat = get(name)
    written = chat.render_reply(Message.assistant(calls=[call_of("tag", labels=["qz"], note="n")]), [LISTED])
    between = written.partition('qz"]')[2]  # the closing mark of the argument and all that follows
    arguments = {"labels": ["a", between + ("[" if is_open else "")], "note": "n"}

    text = chat.render_reply(Message.assistant(calls=[call_of("tag", **arguments)]), [LISTED])

    (call,) = chat.parse(text, [LISTED], prompt="").calls
    assert isinstance(call, ToolCall)
    assert call.arguments == arguments


def call_of(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id="call_0", name=name, arguments=arguments)


def test_what_is_no_json_still_ends_at_its_mark() -> None:
    text = (
        '<tool_call>tag<arg_key>labels</arg_key><arg_value>["a</arg_value></tool_call>'
        "<tool_call>now</tool_call>"
        "<tool_call>tag<arg_key>labels</arg_key><arg_value>['it's \"</arg_value></tool_call><tool_call>now</tool_call>"
    )
    reply = get("glm-4.7").parse(text, [LISTED, tool("now")], prompt="")
    assert [call.name for call in reply.calls][-2:] == ["tag", "now"]


@pytest.mark.parametrize("text", ["see [", "a [ \n", "\n["])
def test_the_grammar_of_json_in_prose_lets_no_text_make_a_list_of_a_call(text: str) -> None:
    call = '{"name": "now", "arguments": {}}'
    matcher = Matcher(get("json").grammar(TOOLS, prompt=""), Tokenizer.of_bytes())
    assert not (matcher.accept_text(text + call) and matcher.is_accepting)
    assert Matcher(get("json").grammar(TOOLS, prompt=""), Tokenizer.of_bytes()).accept_text(f"{text}[{call}]")


def test_without_calls_no_text_begins_what_would_be_read_as_one() -> None:
    grammar = get("json").grammar(TOOLS, prompt="", tool_choice=NO_TOOLS)
    for text in ('{"name": "other", "arguments": {', "{ 'tool' : 'now", "```json\n{name: now", "[{x: 1, input: {"):
        assert not Matcher(grammar, Tokenizer.of_bytes()).accept_text(text)
    for text in ('{"city": "Rome"}', '{"name": "Rome"}', "f{name}, now", "{}", '[1, {"a": {"b": 2}}]'):
        assert Matcher(grammar, Tokenizer.of_bytes()).accept_text(text)


@pytest.mark.parametrize("name", ["pythonic", "olmo-3", "llama-json", "granite-20b-fc"])
def test_where_one_tool_must_be_called_no_text_looks_like_a_call_of_another(name: str) -> None:
    chat = get(name)
    other = chat.render_reply(Message.assistant(calls=[call_of("glob", pattern="*")]), TOOLS)
    wanted = chat.render_reply(Message.assistant(calls=[call_of("bash", command="ls")]), TOOLS)
    grammar = chat.grammar(TOOLS, prompt="", tool_choice=ToolChoice(mode="tool", name="bash"))

    assert not Matcher(grammar, Tokenizer.of_bytes()).accept_text(f"{other}\n{wanted}")
    assert Matcher(grammar, Tokenizer.of_bytes()).accept_text(wanted)


@pytest.mark.parametrize("name", ["pythonic", "gemma-4"])
def test_numbers_that_are_too_large_for_any_reader_are_not_written(name: str) -> None:
    number = tool("number", n={"type": "number"})
    text = get(name).render_reply(Message.assistant(calls=[call_of("number", n=5)]), [number])
    grammar = get(name).grammar([number], prompt="")
    assert Matcher(grammar, Tokenizer.of_bytes()).accept_text(text.replace("5", "5e30"))
    for large in ("5e300", "5" * 102):
        assert not Matcher(grammar, Tokenizer.of_bytes()).accept_text(text.replace("5", large))
