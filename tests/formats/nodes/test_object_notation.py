"""Gemma's objects as formats read and write them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get
from wieldy.formats.events import Reply, reply_of
from wieldy.grammar import Matcher, Tokenizer

BYTES = Tokenizer.of_bytes()
QUOTE = '<|"|>'


def tool(name: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": properties, **more}}


WEATHER = tool("get_weather", {"days": {"type": "integer"}, "City": {"type": "string"}}, required=["City"])
ANY = tool("take", {"value": {}})


def read(text: str, name: str = "gemma-4") -> Reply:
    """The reply, fed letter by letter after it has been seen to be the same as a whole."""
    whole = get(name).parse(text, [WEATHER, ANY])
    parser = get(name).parser([WEATHER, ANY])
    events = [event for letter in text for event in parser.feed(letter)]
    assert reply_of([*events, *parser.close()], parser.spans) == whole
    return whole


def value(text: str) -> Any:
    """What the value of a call is, or the error."""
    (call,) = read("<|tool_call>call:take{value:" + text.replace("~", QUOTE) + "}<tool_call|>").calls
    return call.arguments["value"] if isinstance(call, ToolCall) else call.error


def written(arguments: dict[str, Any], name: str = "gemma-4") -> str:
    call = ToolCall(id="c", name="take", arguments=arguments)
    return get(name).render_reply(Message.assistant(calls=[call]), [ANY])


texts = st.text().filter(lambda text: QUOTE not in text and "<escape>" not in text)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("name", ["gemma-4", "functiongemma"])
@given(data=st.data())
def test_every_value_without_the_mark_comes_back(name: str, data: st.DataObject) -> None:
    arguments = {"value": data.draw(values)}

    (call,) = read(written(arguments, name), name).calls

    assert isinstance(call, ToolCall)
    assert call.arguments == arguments


def test_members_are_written_sorted_with_both_cases_alike() -> None:
    text = written({"value": {"b": 1, "A": 2, "a_c": "x", "Zeta": True}})

    assert text == '<|tool_call>call:take{value:{A:2,a_c:<|"|>x<|"|>,b:1,Zeta:true}}<tool_call|>'


def test_a_name_that_could_be_mistaken_stands_in_the_marks() -> None:
    assert "{" + QUOTE + "a:b" + QUOTE + ":1}" in written({"value": {"a:b": 1}})


def test_a_text_with_the_mark_is_a_loss_that_is_told() -> None:
    call = ToolCall(id="c", name="take", arguments={"value": f"a{QUOTE}b"})

    assert get("gemma-4").losses(Message.assistant(calls=[call]), [ANY])


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("~Paris~", "Paris"),
        ("~~", ""),
        ("~a,b} <tool_call|>]~", "a,b} <tool_call|>]"),
        ('"Par\\u0069s"', "Paris"),
        ("'it\\'s'", "it's"),
        ("None", None),
        ("True", True),
        ("null", None),
        ("1e+21", 1e21),
        ("[ 1 , ~a~ ]", [1, "a"]),
        ('{key with space: 1, ~q~ : 2, "r": 3}', {"key with space": 1, "q": 2, "r": 3}),
        ("{a:{},b:[],}", {"a": {}, "b": []}),
    ],
)
def test_values_in_every_spelling(text: str, meant: Any) -> None:
    assert value(text) == meant


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Paris", "expected a string in its marks"),
        ("[1 2]", "expected ',' or ']'"),
        ("{a 1}", "expected a member's name and ':'"),
        ("{a:1,a:2}", "'a' stands twice"),
        ("~Paris", "expected the end of a string"),
        ("", "expected a string in its marks"),
    ],
)
def test_what_cannot_be_read_is_told(text: str, error: str) -> None:
    assert error in value(text)


def test_a_call_without_an_object_is_none() -> None:
    (call,) = read("<|tool_call>call:get_weather<tool_call|>").calls

    assert isinstance(call, InvalidToolCall)
    assert "expected '{'" in call.error


def test_reasoning_text_and_calls_stand_side_by_side() -> None:
    reply = read("<|channel>thought\nHm.\n<channel|>Well: <|tool_call>call:take{value:1}<tool_call|> done")

    assert (reply.reasoning, reply.content) == ("Hm.", "Well:  done")
    assert len(reply.calls) == 1


@pytest.mark.parametrize(
    ("inside", "is_allowed"),
    [
        ("City:~Paris~,days:2", True),
        ("City:~Paris~", True),
        ("days:2", False),
        ("days:2,City:~Paris~", False),
        ("City:~Paris~,days:~2~", False),
        ('City:"Paris"', False),
    ],
)
def test_grammars_allow_members_in_the_order_in_which_they_are_written(inside: str, is_allowed: bool) -> None:
    text = "<|tool_call>call:get_weather{" + inside.replace("~", QUOTE) + "}<tool_call|>"
    matcher = Matcher(get("gemma-4").grammar([WEATHER]), BYTES)

    accepted = all(matcher.accept_token(byte) for byte in text.encode()) and matcher.is_accepting

    assert accepted is is_allowed


@given(st.dictionaries(st.text("ab c_", min_size=1, max_size=4).map(str.strip).filter(bool), st.integers(), max_size=3))
def test_grammars_allow_any_object_where_the_schema_does(free: dict[str, int]) -> None:
    matcher = Matcher(get("gemma-4").grammar([ANY]), BYTES)

    assert all(matcher.accept_token(byte) for byte in written({"value": free}).encode())
    assert matcher.is_accepting
