"""Tools as typed functions."""

import ast
from typing import Any, Literal, NotRequired

from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from wieldy.core.calls import ToolDefinition
from wieldy.run.actions.code.names import INTERNAL
from wieldy.run.actions.code.stubs import Stub, function_of, stubs_of
from wieldy.tools import tool


class Weather(TypedDict):
    temperature: float
    sky: Literal["clear", "grey"]
    wind: NotRequired[int]


@tool(effect="read")
def get_weather(city: str, unit: Literal["C", "F"] = "C", hours: int | None = None) -> list[Weather]:
    """The weather of a city.

    Args:
        city: Its name.
        unit: Of temperatures.
        hours: How far ahead.
    """
    raise NotImplementedError


def stub_of(schema: dict[str, Any], *, name: str = "go", output: dict[str, Any] | None = None) -> Stub:
    definition = ToolDefinition(name=name, description="Goes.", input_schema=schema, output_schema=output)
    [stub] = stubs_of([definition]).by_identifier.values()
    return stub


def test_a_tool_is_shown_as_a_typed_function_with_the_types_that_it_names() -> None:
    assert stubs_of([get_weather.definition]).text == (
        "class GetWeatherResultItem(TypedDict):\n"
        "    temperature: float\n"
        "    sky: Literal['clear', 'grey']\n"
        "    wind: NotRequired[int]\n"
        "\n"
        "async def get_weather(city: str, unit: Literal['C', 'F'] = 'C', hours: int | None = None)"
        " -> list[GetWeatherResultItem]:\n"
        '    """The weather of a city.\n'
        "    \n"
        "    city: Its name.\n"
        "    unit: Of temperatures.\n"
        '    hours: How far ahead."""'
    )


def test_two_tools_with_one_type_name_it_once() -> None:
    @tool(effect="read")
    def now(city: str) -> Weather:
        """The weather at this moment."""
        raise NotImplementedError

    text = stubs_of([get_weather.definition, now.definition]).text
    assert text.count("class ") == 1
    assert "async def now(city: str) -> GetWeatherResultItem:" in text


def test_what_is_required_stands_before_what_is_not() -> None:
    stub = stub_of(
        {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "class": {"type": "string"}, "b": {"type": ["number", "null"]}},
            "required": ["b"],
        }
    )
    assert stub.signature == "async def go(b: float | None, a: int | None = None, class_: str | None = None) -> Any"


def test_an_open_object_takes_other_arguments() -> None:
    assert stub_of({"type": "object", "additionalProperties": {"type": "string"}}).takes_others
    assert not stub_of({"type": "object", "properties": {}}).takes_others


def test_objects_within_themselves_end() -> None:
    schema: dict[str, Any] = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/Node"}]}},
                "required": ["value"],
            }
        },
    }
    stubs = stubs_of([ToolDefinition(name="go", description="", input_schema={"type": "object"}, output_schema=schema)])
    assert stubs.text == (
        "class Node(TypedDict):\n    value: int\n    next: NotRequired[Node]\n\nasync def go() -> Node: ..."
    )


def test_names_that_python_does_not_take_are_written_as_keys() -> None:
    output = {"type": "object", "properties": {"user-id": {"type": "string"}}, "required": ["user-id"]}
    definition = ToolDefinition(name="go", description="", input_schema={"type": "object"}, output_schema=output)
    assert stubs_of([definition]).classes == ("GoResult = TypedDict('GoResult', {'user-id': str})",)


JSON_KEYS = st.sampled_from(["a", "class", "user-id", "größe", "__x", f"{INTERNAL}_call", "call", '"""', "\n", "self"])
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {},
            {"type": "string", "description": 'three """ quotes \\ and\nlines'},
            {"type": "integer", "default": 3},
            {"type": ["number", "null"]},
            {"enum": ["a", "b\n", None, 1, True]},
            {"enum": [1.5, {}]},
            {"const": "x"},
            {"$ref": "#"},
            {"$ref": "#/nowhere"},
            {"type": "object", "default": {"a": [1]}},
            {"type": "string", "default": "x" * 200},
        ]
    ),
    lambda inner: (
        st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner})
        | st.builds(
            lambda properties, required, title: {
                "type": "object",
                "properties": properties,
                "required": required,
                "title": title,
            },
            st.dictionaries(JSON_KEYS, inner, max_size=4),
            st.lists(JSON_KEYS, max_size=3),
            st.sampled_from(["Any", "", "1", "A thing", "A thing"]),
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(
    inputs=st.dictionaries(JSON_KEYS, SCHEMAS, max_size=5),
    required=st.lists(JSON_KEYS, max_size=3),
    output=st.none() | SCHEMAS,
    name=st.sampled_from(["go", "class", "a-b"]),
    description=st.text(max_size=40),
)
def test_whatever_a_definition_says_its_stub_and_its_function_are_python(
    inputs: dict[str, Any], required: list[str], output: dict[str, Any] | None, name: str, description: str
) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": inputs, "required": required}
    definition = ToolDefinition(
        name=name, description=description, input_schema=schema, output_schema=output, examples=({"a": '"'},)
    )
    stubs = stubs_of([definition])
    [stub] = stubs.by_identifier.values()
    shown = ast.parse(stubs.text).body[-1]
    runs = ast.parse(function_of(stub)).body
    assert isinstance(shown, ast.AsyncFunctionDef)
    assert isinstance(runs[0], ast.AsyncFunctionDef)
    assert [arg.arg for arg in runs[0].args.args] == [arg.arg for arg in shown.args.args]
    assert {parameter.name for parameter in stub.parameters} == set(inputs)


def test_a_function_asks_for_its_tool_with_what_it_was_given() -> None:
    stub = stub_of(
        {
            "type": "object",
            "properties": {
                "call": {"type": "string"},
                "user-id": {"type": "string"},
                "n": {"type": ["null", "string"]},
            },
            "required": ["call"],
        },
        name="a-b",
    )
    asked: list[Any] = []
    left_out = object()
    space: dict[str, Any] = {
        f"{INTERNAL}_left_out": left_out,
        f"{INTERNAL}_given": lambda pairs, others: (pairs, others),
        f"{INTERNAL}_result": lambda value: value,
        f"{INTERNAL}_call_sync": lambda name, given: asked.append((name, given)),
    }
    exec(function_of(stub), space)
    space["a_b"].sync("x", user_id="7")
    assert asked == [("a-b", ([("call", "x", True), ("user-id", "7", False), ("n", left_out, True)], {}))]
