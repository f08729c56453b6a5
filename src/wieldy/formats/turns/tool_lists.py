"""Ways of showing a model which tools there are: each turns definitions into text.

A `ToolList` is any function from definitions to text; `Each` and `Around` put one together from a function that writes
one tool. What can be said about a schema differs by notation: JSON says all of it, the others say names, types, choices
and descriptions. Deliberately not here: how calls are asked for (`tool_prompts`) and where the list stands (`turns`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.formats.turns.tool_notations import (
    TYPING,
    GemmaNotation,
    Parts,
    comment,
    json_text,
    properties,
    python_type,
    required_names,
    typescript_members,
    words,
)
from wieldy.schema.describe import describe

ToolList: TypeAlias = Callable[[Sequence[ToolDefinition]], str]
"""Writes the tools, in their order, as one text."""

ToolWriter: TypeAlias = Callable[[ToolDefinition], str]
"""Writes one tool."""

GEMMA_4_QUOTE = '<|"|>'
"""The one special token that stands at both ends of a string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """A list that writes each tool by itself.

    Attributes:
        write: Writes one tool.
        open: Stands before the first one.
        between: Stands between two.
        close: Stands after the last one.
    """

    write: ToolWriter
    open: str = ""
    between: str = "\n"
    close: str = ""

    def __call__(self, tools: Sequence[ToolDefinition]) -> str:
        """The list as text."""
        return f"{self.open}{self.between.join(map(self.write, tools))}{self.close}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """A list with words before and after it."""

    tools: ToolList
    open: str = ""
    close: str = ""

    def __call__(self, tools: Sequence[ToolDefinition]) -> str:
        """The list as text."""
        return f"{self.open}{self.tools(tools)}{self.close}"


def function_object(tool: ToolDefinition) -> JsonObject:
    """Name, description and parameters: what models know as a function."""
    return {"name": tool.name, "description": tool.prompt_description, "parameters": tool.input_schema}


def openai_object(tool: ToolDefinition) -> JsonObject:
    """The function in the envelope of OpenAI's interface."""
    return {"type": "function", "function": function_object(tool)}


def openai_json(tool: ToolDefinition) -> str:
    """The tool in OpenAI's form, on one line."""
    return json_text(openai_object(tool))


def openai_json_compact(tool: ToolDefinition) -> str:
    """The tool in OpenAI's form, without spaces."""
    return json.dumps(openai_object(tool), ensure_ascii=False, separators=(",", ":"))


def openai_json_sorted(tool: ToolDefinition) -> str:
    """The tool in OpenAI's form, without spaces and with sorted keys."""
    return canonical_json(openai_object(tool))


def openai_json_pretty(tool: ToolDefinition) -> str:
    """The tool in OpenAI's form, indented by four."""
    return json_text(openai_object(tool), indent=4)


def function_json(tool: ToolDefinition) -> str:
    """The function alone, on one line."""
    return json_text(function_object(tool))


def function_json_pretty(tool: ToolDefinition) -> str:
    """The function alone, indented by two."""
    return json_text(function_object(tool), indent=2)


def function_json_tagged(tool: ToolDefinition) -> str:
    """The function alone in a tag of its own."""
    return f"<tool>{function_json(tool)}</tool>"


def cohere_json(tool: ToolDefinition) -> str:
    """The function as Cohere lists it: with a place for a schema of its answers."""
    return f"    {json_text({**function_object(tool), 'responses': tool.output_schema})}"


def functionary_text(tool: ToolDefinition) -> str:
    """One sentence that says what the function is for, and its JSON."""
    summary = tool.prompt_description.partition("\n")[0]
    return f"Use the function '{tool.name}' to '{summary}'\n{function_json(tool)}"


def longcat_markdown(tool: ToolDefinition) -> str:
    """A section of Markdown with the input schema as JSON."""
    schema = json_text(tool.input_schema)
    return f"### Tool name: {tool.name}\nDescription: {tool.prompt_description}\n\nInputSchema: {schema}"


def deepseek_markdown(tool: ToolDefinition) -> str:
    """A section of Markdown with the description first and the parameters as JSON."""
    parameters = json_text(tool.input_schema)
    return f"### {tool.name}\nDescription: {tool.prompt_description}\n\nParameters: {parameters}"


def qwen3_coder_xml(tool: ToolDefinition) -> str:
    """The function as elements; keywords beyond name, type and description are elements with JSON inside."""
    lines = ["<function>", f"<name>{tool.name}</name>", f"<description>{tool.prompt_description.strip()}</description>"]
    lines.append("<parameters>")
    for name, _, schema in properties(tool.input_schema):
        lines += ["<parameter>", f"<name>{name}</name>"]
        lines += [_element(key, schema[key]) for key in ("type", "description") if key in schema]
        lines += [_element(key, value) for key, value in schema.items() if key not in _SAID_BEFORE]
        lines.append("</parameter>")
    lines += [_element(key, value) for key, value in tool.input_schema.items() if key not in ("type", "properties")]
    return "\n".join([*lines, "</parameters>", "</function>"])


def claude_2_xml(tool: ToolDefinition) -> str:
    """The tool as elements, in the order and with the line breaks that Claude 2 was taught."""
    lines = ["<tool_description>", f"<tool_name>{tool.name}</tool_name>"]
    lines += ["<description>", tool.prompt_description, "</description>", "<parameters>"]
    required = required_names(tool.input_schema)
    for name, place, schema in properties(tool.input_schema):
        kind = describe(tool.input_schema, place) if "type" not in schema else schema["type"]
        lines += ["<parameter>", f"<name>{name}</name>", _element("type", kind)]
        lines += [_element("description", schema["description"])] if "description" in schema else []
        lines += [_element("required", name in required), "</parameter>"]
    return "\n".join([*lines, "</parameters>", "</tool_description>"])


def seed_python_def(tool: ToolDefinition) -> str:
    """The tool as the head of a Python function with its arguments in the docstring, as Seed-OSS knows it.

    Differs: its template calls every number `int`; here one that need not be whole is `float`.
    """
    required = required_names(tool.input_schema)
    parts = Parts()
    kinds = {name: python_type(tool.input_schema, place, parts) for name, place, _ in properties(tool.input_schema)}
    lines = ["Function:", f"def {tool.name}({','.join(f'{name}: {kind}' for name, kind in kinds.items())}):"]
    lines += ['    """', f"    {tool.prompt_description.strip()}", ""]
    lines += ["    Args:"] if kinds else []
    for name, _, schema in properties(tool.input_schema):
        need = "必填" if name in required else "选填"
        lines.append(f"    - {name} ({kinds[name]}) [{need}]: {words(schema.get('description'))}")
    return "\n".join([*lines, "", '    """'])


def cohere_python_def(tool: ToolDefinition) -> str:
    """The tool as a Python function in a fence, as Command R knows it."""
    required = required_names(tool.input_schema)
    parts = Parts()
    head: list[str] = []
    lines: list[str] = []
    for name, place, schema in properties(tool.input_schema):
        kind = python_type(tool.input_schema, place, parts, word=TYPING)
        kind = kind if name in required else f"Optional[{kind}]"
        head.append(f"{name}: {kind}" if name in required else f"{name}: {kind} = None")
        lines.append(f"        {name} ({kind}): {words(schema.get('description'))}")
    arguments = "\n\n    Args:\n" + "\n".join(lines) if lines else ""
    body = f'    """{tool.prompt_description}{arguments}\n    """\n    pass'
    return f"```python\ndef {tool.name}({', '.join(head)}) -> List[Dict]:\n{body}\n```"


def typescript_type(tool: ToolDefinition) -> str:
    """The tool as a TypeScript function type with comments, as in a namespace of harmony."""
    members = typescript_members(tool.input_schema, (), Parts())
    signature = f"(_: {{\n{members}}})" if members else "()"
    return f"{comment(tool.prompt_description)}type {tool.name} = {signature} => any;"


def apertus_type(tool: ToolDefinition) -> str:
    """The same as Apertus writes it: without a comma after the last parameter."""
    return typescript_type(tool).replace(",\n}) => any;", "\n}) => any;")


def gemma_4_declaration(tool: ToolDefinition) -> str:
    """The tool in Gemma 4's notation: bare keys in alphabetical order, strings in tokens, types in capitals."""
    return f"<|tool>{_declaration(tool, quote=GEMMA_4_QUOTE)}<tool|>"


def functiongemma_declaration(tool: ToolDefinition) -> str:
    """The tool in FunctionGemma's notation, in which every parameter has a description, if need be an empty one."""
    declaration = _declaration(tool, quote="<escape>", always_described=True)
    return f"<start_function_declaration>{declaration}<end_function_declaration>"


def numbered_text(tools: Sequence[ToolDefinition]) -> str:
    """The tools as a numbered list in plain words, for models that know no notation for tools."""
    return "\n".join(f"{number}. {plain_text(tool)}" for number, tool in enumerate(tools, start=1))


def plain_text(tool: ToolDefinition) -> str:
    """The tool in plain words, one line for each argument."""
    required = required_names(tool.input_schema)
    lines = [f"{tool.name}: {tool.prompt_description}" if tool.prompt_description else tool.name]
    for name, place, schema in properties(tool.input_schema):
        need = "required" if name in required else "optional"
        kind = describe(tool.input_schema, place)
        meaning = words(schema.get("description"))
        lines.append(f"   - {name} ({need}): {kind}" + (f". {meaning}" if meaning else ""))
    return "\n".join(lines)


def openai_json_array_pretty(tools: Sequence[ToolDefinition]) -> str:
    """One JSON array of tools in OpenAI's form, indented by four."""
    return json_text([openai_object(tool) for tool in tools], indent=4)


JSON_LINES = Each(write=openai_json)
JSON_ARRAY = Each(write=openai_json, open="[", between=", ", close="]")
JSON_ARRAY_COMPACT = Each(write=openai_json_compact, open="[", between=",", close="]")
JSON_ARRAY_SORTED = Each(write=openai_json_sorted, open="[", between=",", close="]")
FUNCTION_JSON_LINES = Each(write=function_json)
TYPESCRIPT_NAMESPACE = Each(
    write=typescript_type, open="namespace functions {\n\n", between="\n\n", close="\n\n} // namespace functions"
)


_SAID_BEFORE = ("name", "type", "description", "$ref")


def _element(name: str, value: JsonValue) -> str:
    return f"<{name}>{value if isinstance(value, str) else json_text(value)}</{name}>"


def _declaration(tool: ToolDefinition, *, quote: str, always_described: bool = False) -> str:
    writer = GemmaNotation(document=tool.input_schema, quote=quote, always_described=always_described, parts=Parts())
    fields = [f"description:{quote}{tool.prompt_description}{quote}", f"parameters:{{{writer.parameters()}}}"]
    return f"declaration:{tool.name}{{{','.join(fields)}}}"
