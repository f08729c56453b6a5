"""Response templates: formats written as templates, templates read as formats, and both against the real parser."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from format_cases import TOOLS, messages
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import ToolCall
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats import ChatFormat, get, names
from wieldy.formats.events import reply_of
from wieldy.formats.response_templates import from_response_template, to_response_template
from wieldy.grammar import Matcher, Tokenizer

HERE = Path(__file__).parent
WILD: list[dict[str, Any]] = json.loads((HERE / "response_templates.json").read_text("utf-8"))
READABLE = [item for item in WILD if "reply" in item]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
NOT_CARRIED = {
    "minimax-m1": "without marks or brackets",
    "minimax-m3": "XmlArguments",
    "llama-json": "claimed_by",
    "pythonic": "claimed_by",
    "olmo-3": "without marks or brackets",
    "granite-20b-fc": "Section.pretended",
    "command-r": "Section.pretended",
    "xlam": "claimed_by",
    "apertus": "Section.between",
    "minicpm-5": "TaggedArguments.quotes",
    "claude-2": "XmlArguments",
    "react": "LabelledWire",
    "markers": "PythonArguments",
    "json": "ProseJsonWire",
}
DIFFERENT = {
    "deepseek-v4": 1,  # a call whose tag closes itself
    "kimi-k3": 2,  # an escaped name; reasoning that only the mark of the text ends
    "granite-3": 1,  # a line break between a list of calls and text behind it
    "hunyuan": 3,  # line breaks around the marks of the text
}
"""How many of a format's goldens come back otherwise, for a template says no more."""


def goldens(name: str) -> list[dict[str, Any]]:
    return json.loads((HERE / "goldens" / f"{name}.json").read_text("utf-8"))


def carried() -> list[str]:
    found: list[str] = []
    for name in names():
        try:
            to_response_template(get(name))
        except UsageError:
            continue
        found.append(name)
    return found


CARRIED = carried()


def again(name: str) -> ChatFormat:
    template = json.loads(json.dumps(to_response_template(get(name))))
    return from_response_template(template, name=name)


def read(chat: ChatFormat, golden: dict[str, Any], tools: list[Any], size: int) -> dict[str, Any]:
    parser, events = chat.parser(tools, prompt=golden.get("prompt")), []
    for start in range(0, len(golden["text"]), size):
        events += parser.feed(golden["text"][start : start + size])
    reply = reply_of([*events, *parser.close()], parser.spans)
    return {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "calls": [[call.name, call.arguments] for call in reply.calls if isinstance(call, ToolCall)],
    }


@pytest.mark.parametrize("name", CARRIED)
def test_a_format_that_was_written_and_read_reads_the_same_goldens(name: str) -> None:
    chat = again(name)

    for size in (1_000_000, 3):
        other = [golden for golden in goldens(name) if read(chat, golden, golden["tools"], size) != golden["reply"]]
        assert len(other) <= DIFFERENT.get(name, 0), other


@pytest.mark.parametrize("name", NOT_CARRIED)
def test_a_format_that_no_template_can_express_is_refused_with_the_node(name: str) -> None:
    with pytest.raises(UsageError, match=NOT_CARRIED[name]):
        to_response_template(get(name))


def test_most_formats_can_be_written() -> None:
    assert len(CARRIED) > 2 * len(set(names()) - set(CARRIED))


def test_a_template_is_what_its_readers_expect_of_one() -> None:
    template: Any = to_response_template(get("hermes"))

    assert template["defaults"] == {"role": "assistant"}
    assert template["start_anchor"] == ["<|im_start|>assistant\n"]
    assert list(template["fields"]) == ["reasoning_content", "tool_calls", "content"]
    assert template["fields"]["tool_calls"] == {
        "open_pattern": r"\s*(?:<tool_call>|<longcat_tool_call>)",
        "close_pattern": r"\s*(?:</tool_call>|</longcat_tool_call>)",
        "repeats": True,
        "content": "json",
        "transform": {"type": "function", "function": "{content}"},
    }


@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "kimi-k2", "gemma-4", "command-a", "lfm2", "mistral-v13"])
def test_what_a_format_read_from_a_template_writes_it_reads_and_its_grammar_accepts(name: str) -> None:
    chat, tokenizer = again(name), Tokenizer.of_bytes()
    matched = chat.grammar(TOOLS, prompt="")

    @settings(max_examples=15)
    @given(messages(name))
    def check(message: Message) -> None:
        text = chat.render_reply(message, TOOLS)
        assert chat.losses(message, TOOLS) == ()
        matcher = Matcher(matched, tokenizer)
        assert matcher.accept_text(text)
        assert matcher.is_accepting

    check()


@pytest.mark.parametrize("item", READABLE, ids=[item["name"] for item in READABLE])
def test_a_template_of_others_is_read_as_a_format(item: dict[str, Any]) -> None:
    chat = from_response_template(item["template"], name=item["name"], models="some")

    assert (chat.name, chat.models) == (item["name"], "some")
    for size in (1_000_000, 1):
        assert read(chat, item, [WEATHER], size) == item["reply"]


@pytest.mark.parametrize("item", READABLE, ids=[item["name"] for item in READABLE])
def test_a_reply_that_was_cut_off_is_no_other_call(item: dict[str, Any]) -> None:
    chat = from_response_template(item["template"], name=item["name"])

    for end in range(len(item["text"])):
        cut = read(chat, {**item, "text": item["text"][:end]}, [WEATHER], 1_000_000)
        assert cut["calls"] in ([], item["reply"]["calls"])


@pytest.mark.parametrize("item", [item for item in WILD if "refused" in item], ids=lambda item: item["name"])
def test_a_template_that_no_nodes_express_is_refused_with_the_part(item: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=item["refused"]):
        from_response_template(item["template"], name=item["name"])


def test_a_conversation_wants_more_than_a_template_says() -> None:
    template: Any = to_response_template(get("hermes"))
    chat = from_response_template(template, name="mine")

    with pytest.raises(UsageError, match="turns="):
        chat.render("Paris?", [WEATHER])

    whole = from_response_template(template, name="mine", turns=get("hermes").turns)
    assert whole.render("Paris?", [WEATHER]).endswith("<|im_start|>assistant\n")


def test_what_ends_a_reply_is_told() -> None:
    template: Any = to_response_template(get("gemma-4"))

    assert set(from_response_template(template, name="mine").turns.reply_end) == {"<turn|>", "<|tool_response>"}


@pytest.mark.parametrize(
    "template",
    [
        None,
        [],
        {},
        {"fields": {}},
        {"fields": {"tool_calls": 3}, "start_anchor": "a"},
        {"fields": {"tool_calls": {}, "image": {}}, "start_anchor": "a"},
        {"version": 2, "fields": {"tool_calls": {}}},
    ],
    ids=str,
)
def test_what_is_no_template_is_refused(template: Any) -> None:
    with pytest.raises(UsageError, match="expected"):
        from_response_template(template, name="mine")


def with_calls(**changes: Any) -> dict[str, Any]:
    (item,) = [item for item in WILD if item["name"] == "trl/qwen3_5"]
    template = json.loads(json.dumps(item["template"]))
    template["fields"]["tool_calls"].update(changes)
    return template


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"open_pattern": ""}, "a mark before the name"),
        ({"open_pattern": r"(?P<name>\w+)"}, "a mark before the name"),
        ({"open_pattern": r"<(?P<name>\w+)=(?P<name>\w+)>"}, "at most once"),
        ({"open_pattern": r"<(?P<name>[z-a]+)>"}, "at character 10"),
        ({"open_pattern": "(" * 100}, "at character 0"),
        ({"content_args": {"tag_pattern": r"(?P<key>\w+)(?P<value>.*?)"}}, "a mark before and a mark behind"),
        ({"content_args": {"tag_pattern": r"<(?P<value>.*?)=(?P<key>\w+)>"}}, "the key before a value"),
        ({"content": "kv-lines"}, "as chat formats have them"),
        ({"transform": {"function": "{name}"}}, "a function with name and arguments"),
    ],
    ids=str,
)
def test_calls_that_no_nodes_express_are_refused_with_the_part(changes: dict[str, Any], part: str) -> None:
    with pytest.raises(UsageError, match=part):
        from_response_template(with_calls(**changes), name="mine")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.text(r"a\<>|()[]{}?*+.^$s", max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(
    st.sampled_from(WILD), st.randoms(use_true_random=False), json_values, st.text(r"\s*(?:P<name>)|a^$", max_size=8)
)
def test_a_template_with_a_changed_part_is_read_or_refused(
    item: dict[str, Any], chance: random.Random, value: Any, text: str
) -> None:
    template = json.loads(json.dumps(item["template"]))
    part = chance.choice([template, *template["fields"].values()])
    key = chance.choice(list(part))
    old = part[key]
    cut = chance.randint(0, len(old)) if isinstance(old, str) else 0
    part[key] = old[:cut] + text + old[cut:] if isinstance(old, str) and chance.random() < 0.5 else value
    try:
        chat = from_response_template(template, name="changed")
    except UsageError:
        return
    chat.parse(item.get("text", "<think>a</think>b"), [WEATHER])


@pytest.mark.parametrize(
    "item", [item for item in READABLE if "transformers differs" not in item], ids=lambda item: item["name"]
)
def test_the_parser_of_transformers_agrees_on_templates_of_others(item: dict[str, Any]) -> None:
    parse_response = transformers_parser()

    assert parse_response(item["template"], item, [WEATHER]) == item["reply"]


@pytest.mark.parametrize("name", CARRIED)
def test_the_parser_of_transformers_reads_what_a_format_writes(name: str) -> None:
    parse_response, template = transformers_parser(), to_response_template(get(name))
    call = ToolCall(id="c1", name="get_weather", arguments={"city": 'a "quoted" name', "days": 2})
    for calls in ([call], [call, call]):
        section = getattr(get(name).wire, "calls", None)
        if len(calls) > 1 and getattr(section, "most", None) == 1:
            continue
        thought = "Hm." if getattr(get(name).wire, "reasoning", True) else ""
        message = Message.assistant("Let me look.", calls, reasoning=thought)
        text = get(name).render_reply(message, [WEATHER]) + (*get(name).turns.reply_end, "")[0]

        read = parse_response(template, {"text": text}, [WEATHER])

        assert read == {
            "content": "Let me look.",
            "reasoning": thought,
            "calls": [["get_weather", call.arguments]] * len(calls),
        }


def transformers_parser() -> Any:
    """Reads with transformers, whole and letter by letter."""
    chat_parsing = pytest.importorskip(
        "transformers.utils.chat_parsing", reason="transformers (5.13 or later) is not installed"
    )

    def parse(template: Any, golden: dict[str, Any], tools: list[Any]) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        for size in (1_000_000, 1):
            parser = chat_parsing.ResponseParser(template, prefix=golden.get("prompt") or "", tools=tools)
            for start in range(0, len(golden["text"]), size):
                parser.feed(golden["text"][start : start + size])
            message, _ = parser.finalize()
            functions = [call["function"] for call in message.get("tool_calls") or []]
            found.append(
                {
                    "content": message.get("content") or "",
                    "reasoning": message.get("reasoning_content") or message.get("thinking") or "",
                    "calls": [[function["name"], function["arguments"]] for function in functions],
                }
            )
        assert found[0] == found[1]
        return found[0]

    return parse
