"""Arguments as elements within elements, in the wires of MiniMax M3 and Claude 2."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.messages import Message
from wieldy.formats import ArgumentsDelta, get
from wieldy.grammar import Matcher, Tokenizer

NODE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
    "required": ["name"],
}
PROPERTIES: dict[str, Any] = {
    "title": {"type": "string"},
    "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "tree": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
    "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    "free": {"type": "object"},
    "note": {"type": ["string", "null"]},
    "item": {"type": "array", "items": {"type": "string"}},
}
TOOL = {"name": "plan", "parameters": {"type": "object", "properties": PROPERTIES, "$defs": {"Node": NODE}}}
MARK = "]<]minimax[>["
both = pytest.mark.parametrize("name", ["minimax-m3", "claude-2"])
texts = st.text("ab< >/\n&;é😀", max_size=6)
trees = st.recursive(
    st.fixed_dictionaries({"name": texts}),
    lambda inner: st.fixed_dictionaries({"name": texts, "children": st.lists(inner, max_size=3)}),
    max_leaves=6,
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "title": texts,
        "count": st.none() | st.integers(),
        "tree": st.none() | trees,
        "matrix": st.lists(st.lists(st.integers(-9, 9), max_size=2), max_size=3),
        "free": st.dictionaries(st.sampled_from("ab"), st.none() | st.integers() | st.lists(texts, max_size=2)),
        "note": st.none() | texts.filter(lambda text: text != "null"),
        "item": st.lists(texts, max_size=3),
    },
)


AROUND = {
    "minimax-m3": '@<tool_call>\n@<invoke name="plan">...@</invoke>\n@</tool_call>',
    "claude-2": (
        "<function_calls>\n<invoke>\n<tool_name>plan</tool_name>\n<parameters>\n...\n</parameters>\n</invoke>\n"
        "</function_calls>"
    ),
}


def call(name: str, inside: str, *, tools: list[Any] | None = None) -> ToolCall | InvalidToolCall:
    """The only call of a text; `@` stands for what is before each tag."""
    text = AROUND[name].replace("...", inside)
    (found,) = get(name).parse(spelled(name, text), [TOOL] if tools is None else tools).calls
    return found


def spelled(name: str, text: str) -> str:
    return text.replace("@", MARK if name == "minimax-m3" else "")


def read(name: str, inside: str, *, tools: list[Any] | None = None) -> Any:
    found = call(name, inside, tools=tools)
    assert isinstance(found, ToolCall), found
    return found.arguments


@both
@settings(max_examples=25)
@given(arguments=arguments)
def test_values_of_every_depth_come_back_and_the_grammar_accepts_them(name: str, arguments: dict[str, Any]) -> None:
    message = Message.assistant("", [ToolCall(id="c", name="plan", arguments=arguments)])
    if get(name).losses(message, [TOOL]):
        return

    text = get(name).render_reply(message, [TOOL])

    (found,) = get(name).parse(text, [TOOL]).calls
    assert isinstance(found, ToolCall)
    assert found.arguments == arguments
    matcher = Matcher(GRAMMARS.setdefault(name, get(name).grammar([TOOL])), Tokenizer.of_bytes())
    assert matcher.accept_text(text), text
    assert matcher.is_accepting


GRAMMARS: dict[str, Any] = {}


@both
def test_a_schema_that_contains_itself_is_read_as_deep_as_it_goes(name: str) -> None:
    inside = "@<tree>@<name>r@</name>@<children>@<item>@<name>2@</name>@</item>@</children>@</tree>"

    assert read(name, inside) == {"tree": {"name": "r", "children": [{"name": "2"}]}}


@both
def test_an_array_is_read_when_its_element_stands_once_per_item(name: str) -> None:
    assert read(name, "@<item>a@</item>@<item>b@</item>") == {"item": ["a", "b"]}


@both
def test_an_object_that_no_schema_knows_is_read_as_elements_and_as_json(name: str) -> None:
    assert read(name, "@<free>@<k>v@</k>@<n>@<item>x@</item>@</n>@</free>") == {"free": {"k": "v", "n": ["x"]}}
    assert read(name, '@<free>{"k": 1}@</free>') == {"free": {"k": 1}}


@both
def test_tags_within_a_string_are_letters(name: str) -> None:
    inside = "@<title>a <b>bold</b> @<x> and @</title> here@</title>@<count>2@</count>"

    assert read(name, inside) == {"title": spelled(name, "a <b>bold</b> @<x> and @</title> here"), "count": 2}


@both
def test_arguments_of_an_unknown_tool_are_read_as_well_as_can_be(name: str) -> None:
    inside = "@<a>1@</a>@<b>@<c>x@</c>@</b>@<item>y@</item>"

    assert read(name, inside, tools=[]) == {"a": "1", "b": {"c": "x"}, "item": "y"}


@both
@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("@<title>a@</title>@<title>b@</title>", "each argument once"),
        ("@<tree>@<name>r@</name>", "</tree>"),
        ("@<title>a", "</title>"),
        ("words", "another argument"),
        ("@<free>" + "@<a>" * 2000, "at most 1000 elements"),
    ],
)
def test_what_cannot_be_read_is_a_call_that_says_why(name: str, inside: str, words: str) -> None:
    found = call(name, inside)

    assert isinstance(found, InvalidToolCall)
    assert words in found.error


@both
def test_a_call_whose_element_stays_open_does_not_take_the_next_call(name: str) -> None:
    good = Message.assistant("", [ToolCall(id=str(n), name="plan", arguments={"title": "a"}) for n in range(2)])
    text = get(name).render_reply(good, [TOOL])

    calls = get(name).parse(text.replace(spelled(name, "@</title>"), "", 1), [TOOL]).calls

    assert [type(found) for found in calls] == [InvalidToolCall, ToolCall]
    assert isinstance(calls[1], ToolCall)
    assert calls[1].arguments == {"title": "a"}


@both
def test_deep_nesting_is_kept_as_text_and_never_fails(name: str) -> None:
    deep = "@<a>" * 900 + "x" + "@</a>" * 900

    found = read(name, f"@<free>{deep}@</free>")

    assert json.dumps(found).count('"a"') > 50


@both
def test_a_string_argument_is_passed_on_while_it_is_written(name: str) -> None:
    parser = get(name).parser([TOOL])
    text = get(name).render_reply(
        Message.assistant("", [ToolCall(id="c", name="plan", arguments={"title": "x" * 100})]), [TOOL]
    )

    events = parser.feed(text[: text.index("x" * 100) + 50])

    streamed = "".join(event.text for event in events if isinstance(event, ArgumentsDelta))
    assert streamed.startswith('{"title": "xxxxx')
    assert len(streamed) > 40


@both
@settings(max_examples=80)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_is_written_is_read_the_same_in_pieces(name: str, seed: int) -> None:
    chance = random.Random(seed)
    tags = ["title", "tree", "children", "item", "free", "x"]
    pieces = (
        [f"@<{tag}>" for tag in tags] + [f"@</{tag}>" for tag in tags] + ["@<", "a", "\n", "2", "null", "@</invoke>"]
    )
    inside = "".join(chance.choice(pieces) for _ in range(chance.randint(0, 14)))
    text = spelled(name, AROUND[name].partition("...")[0] + inside)

    parser = get(name).parser([TOOL])
    events = [event for character in text for event in parser.feed(character)] + parser.close()

    whole = get(name).parse(text, [TOOL])
    assert [event for event in events if isinstance(event, ToolCall | InvalidToolCall)] == list(whole.calls)
    assert parser.spans == whole.spans
