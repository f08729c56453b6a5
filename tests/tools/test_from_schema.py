"""Tools made from schemas: every keyword holds, the code gets the arguments as they are, wrong schemas are refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Agent, ArgumentsError, Context, Tool, ToolDefinition, UsageError
from wieldy.core.json import JsonObject
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools.from_schema import tool_from_schema

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["box", "bag"]},
        "size": {"type": "integer", "minimum": 1},
        "$ref": {"type": "string"},
        "größe": {"$ref": "#/$defs/length"},
    },
    "required": ["kind"],
    "dependentRequired": {"size": ["kind"]},
    "if": {"properties": {"kind": {"const": "box"}}, "required": ["kind"]},
    "then": {"required": ["size"]},
    "unevaluatedProperties": False,
    "$defs": {"length": {"type": "number", "exclusiveMinimum": 0}},
}


async def echo(arguments: JsonObject, context: Context) -> dict[str, Any]:
    return {"arguments": arguments, "tool": context.tool_name}


def echo_tool(schema: JsonObject, *, name: str = "pack") -> Tool:
    definition = ToolDefinition(name=name, description="Packs something.", input_schema=schema)
    return tool_from_schema(definition, echo, origin=f"tests:echo#{name}", effect="read", effect_declared=True)


def test_the_code_gets_the_arguments_in_the_words_of_the_schema() -> None:
    arguments = {"kind": "box", "size": 2, "$ref": "x", "größe": 1.5}
    agent = Agent(ScriptedModel([[call("pack", arguments)], [text("done")]]), tools=[echo_tool(SCHEMA)])
    result = agent.run_sync("pack")
    content = next(message for message in result.messages if message.role == "tool").result
    assert content is not None
    assert content.structured_content == {"arguments": arguments, "tool": "pack"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "box"}, "size"),
        ({"kind": "sack"}, "kind"),
        ({"kind": "bag", "größe": 0}, "größe"),
        ({"kind": "bag", "colour": "red"}, "colour"),
    ],
)
def test_every_keyword_holds_and_what_is_wrong_is_said(arguments: JsonObject, said: str) -> None:
    with pytest.raises(ArgumentsError, match=said):
        echo_tool(SCHEMA).validate(arguments)


def test_what_has_only_one_reading_is_repaired_and_told() -> None:
    arguments = echo_tool(SCHEMA).validate({"kind": "bag", "size": "3"})
    assert arguments.json == {"kind": "bag", "size": 3}
    assert arguments.repairs


@pytest.mark.parametrize("schema", [{"type": "objet"}, {"properties": {"a": {"$ref": "https://example.org/a"}}}])
def test_a_schema_that_cannot_be_used_is_refused_at_once(schema: JsonObject) -> None:
    with pytest.raises(UsageError, match="JSON Schema"):
        echo_tool(schema)


def test_a_name_that_not_every_provider_takes_is_refused() -> None:
    with pytest.raises(UsageError, match="64"):
        echo_tool(SCHEMA, name="pack.box")


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=4))
def test_arguments_that_fit_are_not_changed_and_mean_the_same_as_themselves(arguments: dict[str, Any]) -> None:
    made = echo_tool({"type": "object"})
    valid = made.validate(arguments)
    assert valid.json == arguments
    assert valid.values == {"arguments": arguments}
    assert made.means_same(valid, made.validate(dict(reversed(arguments.items()))))
