"""What a chat format's grammar says that it enforces is what its calls fit, whatever is written under it."""

from typing import Any

import pytest
from format_cases import tool
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolChoice
from wieldy.formats import get, names
from wieldy.grammar import Grammar, Tokenizer
from wieldy.grammar.check.masked import masked_part
from wieldy.grammar.check.walks import Walker
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
GRAMMARS: dict[str, Grammar] = {}


@pytest.mark.parametrize("name", names())
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_arguments_of_a_call_fit_what_the_grammar_enforces(name: str, seed: int) -> None:
    chat = get(name)
    if name not in GRAMMARS:
        required = ToolChoice(mode="required")
        GRAMMARS[name] = chat.grammar([BOOK], tool_choice=required, at_most=1, prompt="", has_text=False)
    grammar = GRAMMARS[name]
    assert {entry.schema for entry in grammar.enforcement} == {"book"}
    text = Walker(BYTES, seed=seed).walk(grammar)
    if text is None:
        return  # a walk that is given up says nothing
    reply = chat.parse(text.decode(), [BOOK], prompt="")
    masked = CompiledSchema(masked_part(SCHEMA, grammar.enforcement))
    for call in reply.calls:
        assert not isinstance(call, InvalidToolCall), (text, call)
        assert not masked.violations(call.arguments), (text, call)


def test_a_format_that_writes_json_enforces_what_json_can_and_one_that_does_not_says_so() -> None:
    by_name = {name: get(name).grammar([BOOK]).unenforced for name in ("hermes", "qwen3-coder")}
    assert by_name["hermes"] == ()
    left = {(entry.pointer, entry.keyword) for entry in by_name["qwen3-coder"]}
    assert {("#/properties/code", "pattern"), ("#/properties/day", "format")} <= left
    assert ("#/properties/guests", "minimum") not in left
