"""Grammars of many tools with many arguments: small enough for an engine with the limits that it has by itself."""

import llguidance
import pytest
from format_cases import tool

from wieldy.core.calls import ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get, names
from wieldy.grammar import Tokenizer

BYTES = Tokenizer.of_bytes()
KINDS = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "boolean"},
    {"enum": ["a", "b"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": ["string", "null"]},
]


def tools(count):
    properties = {f"arg_{number}": KINDS[number % len(KINDS)] for number in range(12)}
    return [tool(f"tool_{number}", properties, required=["arg_0"]) for number in range(count)]


CALLS = [
    ToolCall(id="c", name="tool_19", arguments={"arg_0": "x y", "arg_1": 3, "arg_4": ["q"], "arg_6": "text"}),
    ToolCall(id="d", name="tool_1", arguments={"arg_0": "", "arg_11": None}),
]


@pytest.mark.parametrize("name", names())
def test_calls_of_many_tools_are_accepted_within_the_engines_own_limits(name):
    chat, offered = get(name), tools(20)
    grammar = chat.grammar(offered)
    for call in CALLS:
        tokens = BYTES.tokenize(chat.render_reply(Message.assistant(calls=[call]), offered).encode())
        engine = llguidance.LLMatcher(BYTES.engine, grammar.lark, log_level=0)

        assert engine.try_consume_tokens(tokens) == len(tokens), engine.get_error()[:200]
        assert engine.is_accepting()


@pytest.mark.parametrize("name", ["qwen3-coder", "deepseek-v4", "glm-4.7", "kimi-k3", "claude-2", "minicpm-5"])
def test_grammars_grow_with_the_number_of_tools(name):
    few, many = (len(get(name).grammar(tools(count)).lark) for count in (10, 20))
    assert many < 2.2 * few
