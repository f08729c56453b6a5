"""Lists of tools with the words that say how to call them, in the notation that each family was taught.

Markers, layout and examples are the families'; the words around them are short and ours. Deliberately not here: where
such a text stands in a conversation (`turns`, `families_turns`).
"""

from __future__ import annotations

from wieldy.formats.turns import tool_lists
from wieldy.formats.turns.tool_lists import Around, Each, ToolList

_KNOWN = (
    "# Tools\n\nYou can call functions to help the user. These are their signatures, within <tools></tools>:\n<tools>\n"
)


def _signatures(write: tool_lists.ToolWriter, how: str) -> ToolList:
    """One tool a line in `<tools>` tags, and then how they are called."""
    return Each(write=write, open=_KNOWN, close=f"\n</tools>\n\n{how}")


_XML_EXAMPLE = """\
<function=name_of_the_function>
<parameter=name_of_the_first>
its value
</parameter>
<parameter=name_of_the_second>
its value, which may have
several lines
</parameter>
</function>"""

HERMES = _signatures(
    tool_lists.openai_json,
    "For each call write one JSON object with the function's name and arguments, within <tool_call></tool_call>:\n"
    '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
)
QWEN3_5 = _signatures(
    tool_lists.openai_json,
    "Write each call as follows, with all required parameters. You may explain yourself before the calls, never after "
    f"them:\n\n<tool_call>\n{_XML_EXAMPLE}\n</tool_call>",
)
QWEN3_CODER = _signatures(
    tool_lists.qwen3_coder_xml,
    "Write each call as follows, with all required parameters. You may explain yourself before the calls, never after "
    f"them:\n\n<tool_call>\n{_XML_EXAMPLE}\n</tool_call>",
)
SEED_OSS = Each(
    write=tool_lists.seed_python_def,
    between="\n\n",
    close="\n工具调用请遵循如下格式:\n<seed:tool_call>\n<function=name_of_the_function>\n"
    "<parameter=name_of_the_first>its value</parameter>\n<parameter=name_of_the_second>its value, which may have\n"
    "several lines</parameter>\n</function>\n</seed:tool_call>\n",
)
MISTRAL = tool_lists.JSON_ARRAY

DEEPSEEK_V3 = Each(
    write=tool_lists.function_json,
    open="## Tools\n\nThese functions can be called:\n\n",
    close="\n\nWrite calls as follows, as many as are needed between the first and the last marker:\n\n"
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>name_of_the_function\n```json\n"
    '{"name_of_the_parameter": its value}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
)
DEEPSEEK_V3_1 = Each(
    write=tool_lists.deepseek_markdown,
    open="## Tools\nThese tools can be called:\n\n",
    between="\n\n",
    close="\n\nWrite calls as follows, as many as are needed between the first and the last marker; the arguments are "
    "JSON that fits the parameters:\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>name_of_the_tool<｜tool▁sep｜>"
    '{"name_of_the_parameter": its value}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
)


def _dsml(section: str, *, space: str = "") -> ToolList:
    """DeepSeek's markup since V3.2; only the name of the section and a space changed."""
    tag = f"｜DSML｜{space}"
    example = (
        f'<{tag}{section}>\n<{tag}invoke name="$TOOL_NAME">\n<{tag}parameter name="$PARAMETER_NAME" '
        f'string="true|false">$PARAMETER_VALUE</{tag}parameter>\n...\n</{tag}invoke>\n'
        f'<{tag}invoke name="$TOOL_NAME2">\n...\n</{tag}invoke>\n</{tag}{section}>'
    )
    return Each(
        write=tool_lists.function_json,
        open=f"## Tools\n\nYou can call tools. Write calls as follows, all of them in one block:\n\n{example}\n\n"
        'A string stands as it is, with string="true"; every other value is JSON, with string="false".\n\n'
        "### Available Tool Schemas\n\n",
        close="\n",
    )


DEEPSEEK_V3_2 = _dsml("function_calls")
DEEPSEEK_V4 = _dsml("tool_calls")
DEEPSEEK_V4_1 = _dsml("calls", space=" ")

KIMI_K2 = tool_lists.JSON_ARRAY_COMPACT
KIMI_K3 = tool_lists.JSON_ARRAY_SORTED

GLM_4_5 = _signatures(
    tool_lists.openai_json,
    "For each call write the function's name and arguments as follows:\n<tool_call>{function-name}\n"
    "<arg_key>{arg-key-1}</arg_key>\n<arg_value>{arg-value-1}</arg_value>\n<arg_key>{arg-key-2}</arg_key>\n"
    "<arg_value>{arg-value-2}</arg_value>\n...\n</tool_call>",
)
GLM_4_7 = _signatures(
    tool_lists.openai_json,
    "For each call write the function's name and arguments as follows:\n<tool_call>{function-name}"
    "<arg_key>{arg-key-1}</arg_key><arg_value>{arg-value-1}</arg_value><arg_key>{arg-key-2}</arg_key>"
    "<arg_value>{arg-value-2}</arg_value>...</tool_call>",
)
HUNYUAN_3 = _signatures(
    tool_lists.openai_json,
    "Write calls as follows, as many as are needed between the outer tags:\n<tool_calls:opensource>\n"
    "<tool_call:opensource>{function-name}<tool_sep:opensource>\n"
    "<arg_key:opensource>{arg-key-1}</arg_key:opensource>\n<arg_value:opensource>{arg-value-1}</arg_value:opensource>\n"
    "...\n</tool_call:opensource>\n</tool_calls:opensource>",
)
LONGCAT = Each(
    write=tool_lists.longcat_markdown,
    open="# Tools\nThese tools can be called:\n\n## Tool namespace: function\n\n",
    between="\n\n",
    close="\n\nFor each call write the function's name and arguments as follows:\n<longcat_tool_call>{function-name}\n"
    "<longcat_arg_key>{arg-key-1}</longcat_arg_key>\n<longcat_arg_value>{arg-value-1}</longcat_arg_value>\n"
    "...\n</longcat_tool_call>\n",
)

MINIMAX_M1 = Each(
    write=tool_lists.openai_json,
    open="These tools can be called:\n<tools>\n",
    close="\n</tools>\n\nWrite calls as follows, a JSON object for each, one a line:\n<tool_calls>\n"
    '{"name": <tool-name>, "arguments": <args-json-object>}\n...\n</tool_calls>',
)
_MINIMAX_OPEN = "# Tools\nYou can call tools to help the user. These are their JSON Schemas:\n\n<tools>\n"
MINIMAX_M2 = Each(
    write=tool_lists.function_json_tagged,
    open=_MINIMAX_OPEN,
    close="\n</tools>\n\nWrite calls as follows, all of them in one block:\n\n<minimax:tool_call>\n"
    '<invoke name="tool-name-1">\n<parameter name="param-key-1">param-value-1</parameter>\n'
    '<parameter name="param-key-2">param-value-2</parameter>\n...\n</invoke>\n</minimax:tool_call>',
)
_M3 = "]<]minimax[>["
MINIMAX_M3 = Each(
    write=tool_lists.function_json_tagged,
    open=_MINIMAX_OPEN,
    close="\n</tools>\n\nWrite calls as follows, all of them in one block. Objects become elements inside elements, "
    f'and the items of an array <item> elements:\n\n{_M3}<tool_call>\n{_M3}<invoke name="tool-name-1">'
    f"{_M3}<param-1>value-1{_M3}</param-1>{_M3}<param-2>{_M3}<item>{_M3}<key-a>val-a{_M3}</key-a>{_M3}</item>"
    f"{_M3}</param-2>{_M3}</invoke>\n{_M3}</tool_call>",
)

LLAMA_JSON = Each(
    write=tool_lists.openai_json_pretty,
    open="These functions can be called. If one of them helps to answer, reply with nothing but one JSON object of the "
    'form {"name": function name, "parameters": dictionary of argument name and its value}, with values, not '
    "variables.\n\n",
    between="\n\n",
)
PYTHONIC = Each(
    write=tool_lists.openai_json_pretty,
    open="These functions can be called. If they help to answer, reply with nothing but a Python list of calls with "
    "literal values: [function_name1(argument1=value1, argument2=value2), function_name2()]\n\n",
    between="\n\n",
)
OLMO_3 = Each(write=tool_lists.openai_json, open="<functions>[", between=", ", close="]</functions>")
LFM2 = Each(write=tool_lists.openai_json, open="List of tools: [", between=", ", close="]")
HARMONY = Around(tools=tool_lists.TYPESCRIPT_NAMESPACE, open="# Tools\n\n## functions\n\n")
GEMMA_4 = Each(write=tool_lists.gemma_4_declaration, between="")
FUNCTIONGEMMA = Each(write=tool_lists.functiongemma_declaration, between="")
GRANITE_3 = tool_lists.openai_json_array_pretty
GRANITE_20B = Each(
    write=tool_lists.function_json,
    open="These functions can be called:\n<|function_call_library|>\n",
    close="\n\nWrite each call as follows: <function_call> "
    '{"name": name of the function, "arguments": object of arguments}\n'
    'If none of them fits, write: <function_call> {"name": "no_function", "arguments": {}}',
)
PHI_4_MINI = Each(write=tool_lists.function_json, open="<|tool|>[", between=", ", close="]<|/tool|>")
COMMAND_R = Each(
    write=tool_lists.cohere_python_def,
    open="## Available Tools\nThese tools can be called:\n\n",
    between="\n\n",
    close="\n\nWrite 'Action:' and a JSON list of the calls that are needed, and no more than are needed. Call "
    "`directly-answer` if no tool helps. For example:\n```json\n[\n    {\n"
    '        "tool_name": name of the tool,\n        "parameters": object of parameters, {} if there are none\n'
    "    }\n]```",
)
COMMAND_A = Each(
    write=tool_lists.cohere_json,
    open="## Available Tools\n```json\n[\n",
    between=",\n",
    close="\n]\n```\n\nWrite calls as a JSON list between <|START_ACTION|> and <|END_ACTION|>, each of them as "
    '{"tool_call_id": "0", "tool_name": name of the tool, "parameters": object of parameters}, and '
    "count the ids through the conversation.",
)
INTERNLM = Each(
    write=tool_lists.function_json,
    open="These functions can be called:\n[",
    between=",\n",
    close="]\n\nWrite a call as follows:\n<|action_start|><|plugin|>\n"
    '{"name": name of the function, "parameters": object of parameters}<|action_end|>',
)
JAMBA = Each(
    write=tool_lists.function_json_pretty,
    open="<tool_definitions>\n# Tools\n\n## Functions\n\n",
    between="\n\n",
    close="\n</tool_definitions>",
)
NEMOTRON = Each(
    write=tool_lists.function_json,
    open="These tools can be called:\n<AVAILABLE_TOOLS>[",
    between=", ",
    close="]</AVAILABLE_TOOLS>\n\nWrite calls as one JSON list:\n"
    '<TOOLCALL>[{"name": "tool_name1", "arguments": {...}}, {"name": "tool_name2", "arguments": {...}}]</TOOLCALL>\n\n'
    "Their results come as one list in the same order:\n<TOOL_RESPONSE>[result1, result2]</TOOL_RESPONSE>",
)
XLAM = Each(
    write=tool_lists.openai_json_pretty,
    open="These tools can be called. If they help, reply with nothing but a JSON list of calls: "
    '[{"name": "tool_name1", "arguments": {...}}]\n\n',
    between="\n\n",
)
APERTUS = Each(
    write=tool_lists.apertus_type,
    open="<|developer_start|>Deliberation: disabled\nTool Capabilities:\n",
    close="<|developer_end|>",
)
STEP_3 = Each(
    write=tool_lists.openai_json,
    open="# Tools\nYou can call tools to help the user. These are their schemas, within <tools></tools>:\n<tools>",
    close="</tools>\nWrite calls as follows, each of them whole:\n<｜tool_calls_begin｜>\n<｜tool_call_begin｜>\n"
    'function<｜tool_sep｜><steptml:invoke name="tool_name"><steptml:parameter name="parameter_name">value'
    "</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>",
)
FUNCTIONARY = Each(
    write=tool_lists.functionary_text,
    open="These functions can be called:\n\n",
    between="\n\n",
    close="\n\nWrite each call on one line, with the arguments as a JSON object:\n"
    '<function=name_of_the_function>{"name_of_the_parameter": its value}</function>',
)
MINICPM_5 = _signatures(
    tool_lists.openai_json,
    "Write each call as follows:\n"
    '<function name="function-name"><param name="param-name">param-value</param></function>'
    "\nA value with <, & or line breaks stands in a CDATA block: "
    '<param name="param-name"><![CDATA[value]]></param>',
)
HUNYUAN = Each(
    write=tool_lists.openai_json,
    open="These tools can be called:\n[",
    between=", ",
    close="]\n\nWrite calls as one JSON list: "
    '<tool_calls>[{"name": "name of the tool", "arguments": {...}}]</tool_calls>',
)
CLAUDE_2 = Each(
    write=tool_lists.claude_2_xml,
    open="In this environment you can call tools. Write calls as follows:\n<function_calls>\n<invoke>\n"
    "<tool_name>$TOOL_NAME</tool_name>\n<parameters>\n<$PARAMETER_NAME>$PARAMETER_VALUE</$PARAMETER_NAME>\n...\n"
    "</parameters>\n</invoke>\n</function_calls>\n\nThese are the tools:\n<tools>\n",
    close="\n</tools>",
)
REACT = Around(
    tools=tool_lists.numbered_text,
    open="You can use these tools:\n\n",
    close="\n\nWrite in this form, one action at a time, and stop after the action's input; you then read what it "
    "gave as Observation:\n\nThought: what to do next, and why\nAction: the name of one tool\n"
    'Action Input: its arguments as one JSON object, such as {"name": "value"}\n\n'
    "When you know the answer, write:\n\nThought: what you know\nFinal Answer: the answer to the user",
)
MARKERS = Around(
    tools=tool_lists.numbered_text,
    open="You can use these tools:\n\n",
    close="\n\nTo call one, write its name and arguments in double square brackets, on a line of its own, with text in "
    'double quotes:\n[[name_of_the_tool(first="text", second=2)]]\n'
    "Then stop; you will be told what it gave. To answer, write plain text without such brackets.",
)
JSON = Around(
    tools=tool_lists.numbered_text,
    open="You can use these tools:\n\n",
    close='\n\nTo call one, reply with nothing but one JSON object:\n{"name": "name_of_the_tool", "arguments": '
    '{"first": "text", "second": 2}}\nYou will be told what it gave. To answer, write plain text.',
)
