"""What a chat format's grammar says that it enforces is what its calls fit, whatever is written under it."""

from typing import Any

import pytest
from format_cases import tool
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall, ToolChoice
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.grammar import Grammar, Matcher, Tokenizer
from wieldy.grammar.check.masked import masked_part
from wieldy.schema import CompiledSchema

BYTES = Tokenizer.of_bytes()
BOOK = tool(
    "book",
    {
        "code": {"type": "string", "pattern": "^[A-Z]{2}$"},
        "day": {"type": "string", "format": "date"},
        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
        "rooms": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        "at": {"$ref": "#/$defs/Place"},
        "kind": {"enum": ["late", "early"]},
    },
    required=["code", "guests"],
    **{"$defs": {"Place": {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 5}},
                           "required": ["n"], "additionalProperties": False}}},
)  # fmt: skip
SCHEMA: dict[str, Any] = BOOK["function"]["parameters"]
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "code": st.sampled_from(["AB", "ab", ""]) | st.integers(0, 1),
        "guests": st.sampled_from([1, 12, 0, 13, 1.5, "two", None]),
        "day": st.sampled_from(["2024-02-29", "2023-02-29"]),
        "rooms": st.lists(st.sampled_from(["a", "b", "c"]), max_size=3),
        "at": st.sampled_from([{"n": 5}, {"n": 6}, {}, {"n": 5, "m": 1}, 5]),
        "kind": st.sampled_from(["late", "early", "never"]),
        "unknown": st.booleans(),
    },
)
"""Arguments that may fit or not, in whatever way."""
GRAMMARS: dict[str, Grammar] = {}


@pytest.mark.parametrize("name", names())
@settings(max_examples=25, deadline=None)
@given(arguments=ARGUMENTS)
def test_the_arguments_of_a_call_fit_what_the_grammar_enforces(name: str, arguments: dict[str, Any]) -> None:
    chat = get(name)
    if name not in GRAMMARS:
        required = ToolChoice(mode="required")
        GRAMMARS[name] = chat.grammar([BOOK], tool_choice=required, at_most=1, prompt="", beside=("reasoning",))
    grammar = GRAMMARS[name]
    assert {entry.schema for entry in grammar.enforcement} == {"book"}
    in_order = {key: arguments[key] for key in (*SCHEMA["properties"], "unknown") if key in arguments}
    try:
        text = chat.render_reply(Message.assistant("", [ToolCall(id="c", name="book", arguments=in_order)]), [BOOK])
    except UsageError:
        return  # some wires cannot carry everything
    matcher = Matcher(grammar, BYTES)
    if not (matcher.accept_text(text) and matcher.is_accepting):
        return
    masked = CompiledSchema(masked_part(SCHEMA, grammar.enforcement))
    for call in chat.parse(text, [BOOK], prompt="").calls:
        assert not isinstance(call, InvalidToolCall), (text, call)
        assert not masked.violations(call.arguments), (text, call)


def test_a_format_that_writes_json_enforces_what_json_can_and_one_that_does_not_says_so() -> None:
    by_name = {name: get(name).grammar([BOOK]).unenforced for name in ("hermes", "qwen3-coder")}
    assert by_name["hermes"] == ()
    left = {(entry.pointer, entry.keyword) for entry in by_name["qwen3-coder"]}
    assert {("#/properties/code", "pattern"), ("#/properties/day", "format")} <= left
    assert ("#/properties/guests", "minimum") not in left
