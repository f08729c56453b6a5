"""Lists of tools. The expected texts are those of the families' official templates for the same two tools."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject
from wieldy.formats.turns import tool_lists, tool_prompts
from wieldy.formats.turns.tool_lists import Around, Each, ToolList, ToolWriter

WEATHER = ToolDefinition(
    name="get_weather",
    description="Current weather",
    input_schema={
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name"},
            "days": {"type": "integer", "description": "Days ahead"},
        },
        "required": ["city"],
    },
)
ADD = ToolDefinition(
    name="add",
    description="Add two numbers",
    input_schema={
        "type": "object",
        "properties": {
            "a": {"type": "number"},
            "unit": {"type": "string", "enum": ["x", "y"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "o": {"type": "object", "properties": {"k": {"type": "integer"}}, "required": ["k"]},
        },
        "required": ["a"],
    },
)
TREE: JsonObject = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "string"}}}},
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
}

WRITTEN: list[tuple[ToolWriter, ToolDefinition, str]] = [
    (
        tool_lists.openai_json,
        WEATHER,
        '{"type": "function", "function": {"name": "get_weather", "description": "Current weather", "parameters": '
        '{"type": "object", "properties": {"city": {"type": "string", "description": "City name"}, "days": {"type": '
        '"integer", "description": "Days ahead"}}, "required": ["city"]}}}',
    ),
    (
        tool_lists.openai_json_compact,
        WEATHER,
        '{"type":"function","function":{"name":"get_weather","description":"Current weather","parameters":{"type":'
        '"object","properties":{"city":{"type":"string","description":"City name"},"days":{"type":"integer",'
        '"description":"Days ahead"}},"required":["city"]}}}',
    ),
    (
        tool_lists.openai_json_sorted,
        WEATHER,
        '{"function":{"description":"Current weather","name":"get_weather","parameters":{"properties":{"city":'
        '{"description":"City name","type":"string"},"days":{"description":"Days ahead","type":"integer"}},'
        '"required":["city"],"type":"object"}},"type":"function"}',
    ),
    (
        tool_lists.function_json_tagged,
        WEATHER,
        '<tool>{"name": "get_weather", "description": "Current weather", "parameters": {"type": "object", '
        '"properties": {"city": {"type": "string", "description": "City name"}, "days": {"type": "integer", '
        '"description": "Days ahead"}}, "required": ["city"]}}</tool>',
    ),
    (
        tool_lists.cohere_json,
        WEATHER,
        '    {"name": "get_weather", "description": "Current weather", "parameters": {"type": "object", "properties": '
        '{"city": {"type": "string", "description": "City name"}, "days": {"type": "integer", "description": '
        '"Days ahead"}}, "required": ["city"]}, "responses": null}',
    ),
    (
        tool_lists.qwen3_coder_xml,
        ADD,
        "<function>\n<name>add</name>\n<description>Add two numbers</description>\n<parameters>\n<parameter>\n"
        "<name>a</name>\n<type>number</type>\n</parameter>\n<parameter>\n<name>unit</name>\n<type>string</type>\n"
        '<enum>["x", "y"]</enum>\n</parameter>\n<parameter>\n<name>tags</name>\n<type>array</type>\n'
        '<items>{"type": "string"}</items>\n</parameter>\n<parameter>\n<name>o</name>\n<type>object</type>\n'
        '<properties>{"k": {"type": "integer"}}</properties>\n<required>["k"]</required>\n</parameter>\n'
        '<required>["a"]</required>\n</parameters>\n</function>',
    ),
    (
        tool_lists.seed_python_def,
        WEATHER,
        'Function:\ndef get_weather(city: str,days: int):\n    """\n    Current weather\n\n    Args:\n'
        '    - city (str) [必填]: City name\n    - days (int) [选填]: Days ahead\n\n    """',
    ),
    (
        tool_lists.cohere_python_def,
        WEATHER,
        '```python\ndef get_weather(city: str, days: Optional[int] = None) -> List[Dict]:\n    """Current weather\n\n'
        '    Args:\n        city (str): City name\n        days (Optional[int]): Days ahead\n    """\n    pass\n```',
    ),
    (
        tool_lists.typescript_type,
        WEATHER,
        "// Current weather\ntype get_weather = (_: {\n// City name\ncity: string,\n// Days ahead\ndays?: number,\n"
        "}) => any;",
    ),
    (
        tool_lists.apertus_type,
        ADD,
        '// Add two numbers\ntype add = (_: {\na: number,\nunit?: "x" | "y",\ntags?: string[],\no?: {\nk: number,\n}\n'
        "}) => any;",
    ),
    (
        tool_lists.gemma_4_declaration,
        ADD,
        '<|tool>declaration:add{description:<|"|>Add two numbers<|"|>,parameters:{properties:{'
        'a:{type:<|"|>NUMBER<|"|>},'
        'o:{properties:{k:{type:<|"|>INTEGER<|"|>}},required:[<|"|>k<|"|>],type:<|"|>OBJECT<|"|>},'
        'tags:{items:{type:<|"|>STRING<|"|>},type:<|"|>ARRAY<|"|>},unit:{enum:[<|"|>x<|"|>,<|"|>y<|"|>],'
        'type:<|"|>STRING<|"|>}},required:[<|"|>a<|"|>],type:<|"|>OBJECT<|"|>}}<tool|>',
    ),
    (
        tool_lists.functiongemma_declaration,
        ADD,
        "<start_function_declaration>declaration:add{description:<escape>Add two numbers<escape>,parameters:{"
        "properties:{a:{description:<escape><escape>,type:<escape>NUMBER<escape>},"
        "o:{description:<escape><escape>,properties:{k:{description:<escape><escape>,type:<escape>INTEGER<escape>}},"
        "required:[<escape>k<escape>],type:<escape>OBJECT<escape>},"
        "tags:{description:<escape><escape>,items:{type:<escape>STRING<escape>},type:<escape>ARRAY<escape>},"
        "unit:{description:<escape><escape>,enum:[<escape>x<escape>,<escape>y<escape>],type:<escape>STRING<escape>}},"
        "required:[<escape>a<escape>],type:<escape>OBJECT<escape>}}<end_function_declaration>",
    ),
    (
        tool_lists.plain_text,
        WEATHER,
        "get_weather: Current weather\n   - city (required): a string. City name\n"
        "   - days (optional): an integer. Days ahead",
    ),
]
WRITERS: list[ToolWriter] = [
    *dict.fromkeys(write for write, _, _ in WRITTEN),
    tool_lists.openai_json_pretty,
    tool_lists.function_json,
    tool_lists.function_json_pretty,
    tool_lists.functionary_text,
    tool_lists.longcat_markdown,
    tool_lists.deepseek_markdown,
    tool_lists.claude_2_xml,
]
PROMPTS: dict[str, ToolList] = {
    name: prompt for name, prompt in vars(tool_prompts).items() if name.isupper() and not name.startswith("_")
}


@pytest.mark.parametrize(("write", "tool", "expected"), WRITTEN)
def test_a_tool_is_written_as_the_official_template_writes_it(
    write: ToolWriter, tool: ToolDefinition, expected: str
) -> None:
    assert write(tool) == expected


def test_pretty_json_is_indented_by_four_and_says_the_same() -> None:
    text = tool_lists.openai_json_pretty(WEATHER)
    assert text.startswith('{\n    "type": "function",\n    "function": {\n        "name": "get_weather",')
    assert json.loads(text) == tool_lists.openai_object(WEATHER)


@pytest.mark.parametrize("tools", [[], [WEATHER], [WEATHER, ADD]])
def test_arrays_are_json_for_any_number_of_tools(tools: list[ToolDefinition]) -> None:
    expected = [tool_lists.openai_object(tool) for tool in tools]
    arrays = (tool_lists.JSON_ARRAY, tool_lists.JSON_ARRAY_COMPACT, tool_lists.JSON_ARRAY_SORTED)
    for present in (*arrays, tool_lists.openai_json_array_pretty):
        assert json.loads(present(tools)) == expected
    assert [json.loads(line) for line in tool_lists.JSON_LINES(tools).splitlines()] == expected


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_names_every_tool_and_argument_in_order(name: str) -> None:
    text = PROMPTS[name]([WEATHER, ADD])
    assert 0 <= text.index("get_weather") < text.index("add")
    for word in ("Current weather", "City name", "city", "unit", "tags"):
        assert word in text


def test_when_to_use_a_tool_is_said_in_every_notation() -> None:
    tool = ToolDefinition(name="f", description="Does it.", input_schema={"type": "object"}, use_when="it rains")
    for write in WRITERS:
        if write is not tool_lists.functionary_text:
            assert "it rains" in write(tool)
    assert "it rains" in tool_prompts.FUNCTIONARY([tool])


def test_typescript_says_unions_literals_defaults_and_odd_names() -> None:
    tool = ToolDefinition(
        name="f",
        description="One\ntwo",
        input_schema={
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "b": {"const": 3},
                "c": {"type": "array", "items": {"type": ["string", "integer"]}},
                "d": {"type": "integer", "default": 5},
                "e-f": True,
            },
        },
    )
    assert tool_lists.typescript_type(tool) == (
        "// One\n// two\ntype f = (_: {\na?: string | null,\nb?: 3,\nc?: (string | number)[],\n"
        'd?: number, // default: 5\n"e-f"?: any,\n}) => any;'
    )


def test_a_tool_without_arguments_is_a_function_of_nothing() -> None:
    tool = ToolDefinition(name="f", description="", input_schema={"type": "object"})
    assert tool_lists.typescript_type(tool) == "type f = () => any;"
    assert tool_lists.plain_text(tool) == "f"
    assert tool_lists.cohere_python_def(tool) == '```python\ndef f() -> List[Dict]:\n    """\n    """\n    pass\n```'


def test_gemma_says_that_null_is_allowed_and_what_the_choices_are() -> None:
    tool = ToolDefinition(
        name="f",
        description="d",
        input_schema={
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A"},
                "b": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "c": {"enum": [1, True, None]},
            },
        },
    )
    text = tool_lists.gemma_4_declaration(tool)
    assert 'a:{description:<|"|>A<|"|>,nullable:true,type:<|"|>STRING<|"|>}' in text
    assert 'b:{anyOf:[{type:<|"|>STRING<|"|>},{type:<|"|>INTEGER<|"|>}]}' in text
    assert "c:{enum:[1,true,null]}" in text


def test_python_types_say_what_arrays_hold_and_which_types_are_meant() -> None:
    tool = ToolDefinition(
        name="f",
        description="d",
        input_schema={
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"type": "number"}},
                "b": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
                "c": {},
                "d": {"type": "object"},
            },
            "required": ["a", "b", "c", "d"],
        },
    )
    head = tool_lists.cohere_python_def(tool).splitlines()[1]
    assert head == "def f(a: List[float], b: Union[str, bool], c: Any, d: Dict[str, Any]) -> List[Dict]:"
    assert "def f(a: list,b: Union[str, bool],c: Any,d: dict):" in tool_lists.seed_python_def(tool)


@pytest.mark.parametrize("write", WRITERS)
def test_a_schema_that_contains_itself_ends(write: ToolWriter) -> None:
    text = write(ToolDefinition(name="f", description="d", input_schema=TREE))
    assert "root" in text
    assert len(text) < 2000


@pytest.mark.parametrize("write", WRITERS)
def test_a_schema_whose_every_part_contains_the_whole_ends_too(write: ToolWriter) -> None:
    again: JsonObject = {"$ref": "#"}
    properties: JsonObject = {f"p{number}": again for number in range(60)}
    schema: JsonObject = {"type": "object", "properties": properties, "anyOf": [again] * 20}
    assert len(write(ToolDefinition(name="f", description="d", input_schema=schema))) < 400_000


def test_around_and_each_put_their_words_in_place() -> None:
    each = Each(write=lambda tool: tool.name, open="[", between="|", close="]")
    assert Around(tools=each, open="<", close=">")([WEATHER, ADD]) == "<[get_weather|add]>"
    assert each([]) == "[]"


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "required", "$ref", "x"]
            )
            | st.text(max_size=3),
            inner
            | st.sampled_from(["string", "object", "array", "null", "#", "#/properties/x", "#/$defs/none"])
            | st.just([{"type": "object"}, {"$ref": "#"}]),
            max_size=4,
        )
    ),
    max_leaves=12,
)
documents = st.dictionaries(
    st.sampled_from(["type", "properties", "required", "$ref", "anyOf", "allOf", "$defs"]), anything, max_size=5
)


@given(st.sampled_from(WRITERS), documents)
def test_no_schema_however_odd_raises(write: ToolWriter, schema: JsonObject) -> None:
    assert "f" in write(ToolDefinition(name="f", description="d", input_schema=schema))


@given(st.sampled_from(sorted(PROMPTS)), documents)
def test_a_prompt_can_be_written_for_any_schema(name: str, schema: JsonObject) -> None:
    assert "oddly_named" in PROMPTS[name]([ToolDefinition(name="oddly_named", description="d", input_schema=schema)])
