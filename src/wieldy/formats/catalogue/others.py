"""Families of one model each: Python calls in a fence (MiniCPM 3), an array in a tag (Falcon 3), and FrogBoss' tags."""

from dataclasses import replace

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.nodes.python_calls import PythonArguments
from wieldy.formats.nodes.tagged import Key, TaggedArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.turns import tool_lists
from wieldy.formats.turns.ready.wrapping import RESPONSE_LINES, each, together, words
from wieldy.formats.turns.turns import ToolSection, Turns, Wrap
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_NO_IDS = "Calls have no ids: results are matched by their order."
_PYTHON_LIST = tool_lists.Each(
    write=tool_lists.openai_json,
    open="# Functions\nThese functions can be called:\n",
    close="\n\n# Output\nWrite what you think, then the calls that are needed, one a line, then what you have to say:\n"
    "<|thought_start|>\n{thoughts}\n<|thought_end|>\n<|tool_call_start|>\n```python\n"
    "func1(name1=value1, name2=value2)\nfunc2(name=value)\n```\n<|tool_call_end|>\n{text}",
)
_ARRAY = tool_lists.Each(
    write=tool_lists.openai_json,
    open="# Tools\n\nThese functions can be called:\n<tools>[",
    between=", ",
    close="]</tools>\n\nWrite calls as follows:\n<tool_call>\n[\n"
    '  {"name": "function_name", "arguments": {"arg1": "value1"}},\n'
    '  {"name": "another_function", "arguments": {"arg": "value"}}\n]\n</tool_call>',
)
_INDENTED = tool_lists.Each(
    write=tool_lists.openai_json,
    open="# Tools\n\nThese are the signatures of functions that can be called:\n<tools>\n",
    close="\n</tools>\n\nWrite each call as follows:\n<function=function_name>\n"
    "  <parameter=param1>value1</parameter>\n  <parameter=param2>value2</parameter>\n</function>",
)

MINICPM_3 = ChatFormat(
    name="minicpm-3",
    models="MiniCPM 3 4B",
    wire=Wire(
        reasoning=Region(
            open=Literal("<|thought_start|>", token=True),
            close=Literal("<|thought_end|>", token=True),
            before=Gap(),
            begin=Gap("\n"),
            end=Gap("\n"),
            behind=Gap("\n"),
        ),
        calls=Section(
            before=Gap("\n"),
            open=(
                Literal("<|tool_call_start|>", token=True),
                Gap("\n"),
                Literal("```python", also=("```",), required=False),
                Gap("\n"),
            ),
            call=Call(head=(Name(),), arguments=PythonArguments(spelling="json")),
            between=(Literal("\n", also=(",", ";"), required=False),),
            close=(
                Gap("\n"),
                Literal("```", required=False),
                Gap("\n"),
                Literal("<|tool_call_end|>", token=True),
                Gap("\n"),
            ),
        ),
    ),
    turns=replace(
        ready_turns.CHATML,
        begin="<s>",
        results=each(Wrap(open="<|im_start|>tool\n", close="<|im_end|>\n")),
        tools=ToolSection(tools=_PYTHON_LIST),
        markers=(
            *ready_turns.CHATML.markers,
            *words("<|tool_call_start|> <|tool_call_end|> <|thought_start|> <|thought_end|>"),
        ),
    ),
    notes=(
        _NO_IDS,
        "Models are asked to write text behind the calls; it is read there, and written before them.",
        "Space around reasoning, and between text and calls, is layout and does not come back.",
    ),
)
FALCON_3 = ChatFormat(
    name="falcon-3",
    models="Falcon 3, Falcon H1 Tiny",
    wire=Wire(
        calls=Section(
            before=Gap("\n"),
            open=(Literal("<tool_call>"), Gap("\n"), Literal("["), Gap("\n  ")),
            call=Call(arguments=JsonCall()),
            between=(Literal(","), Gap("\n  ")),
            close=(Gap("\n"), Literal("]"), Gap("\n"), Literal("</tool_call>")),
        ),
    ),
    turns=Turns(
        system=Wrap(open="<|system|>\n", close="\n"),
        user=Wrap(open="<|user|>\n", close="\n"),
        assistant=Wrap(open="<|assistant|>\n", close="</s>\n"),
        results=each(Wrap(open="<|assistant|>\n<tool_response>\n", close="\n</tool_response>\n")),
        tools=ToolSection(tools=_ARRAY),
        stops=("<|user|>", "<|endoftext|>"),
        markers=words("<|system|> <|user|> <|assistant|> <|endoftext|> </s> <tool_response> </tool_response>"),
    ),
    notes=(
        _NO_IDS,
        "There is no reasoning on this wire.",
        "The official template prints calls of the history as it was told of them, with ids; the prompt asks for "
        "objects with name and arguments, which are written here. Both are read.",
    ),
)
FROGBOSS = ChatFormat(
    name="frogboss",
    models="FrogBoss 32B and FrogMini 14B; other agents for code that were taught tags without a section",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap("\n"),
            call=Call(
                head=(Literal("<function="), Name(), Literal(">"), Gap("\n")),
                arguments=TaggedArguments(
                    open=(Gap("  "), Literal("<parameter="), Key(), Literal(">")),
                    close=(Literal("</parameter>"),),
                    between=Gap("\n"),
                    after=Gap("\n"),
                ),
                close=(Literal("</function>"),),
            ),
            between=(Gap("\n"),),
        ),
    ),
    turns=replace(
        ready_turns.CHATML,
        tools=ToolSection(tools=_INDENTED),
        results=together(Wrap(open="<|im_start|>user\n", close="<|im_end|>\n"), RESPONSE_LINES),
    ),
    notes=(
        "A value is written raw: a string that contains its own closing tag followed by another argument or by the end "
        "of the call cannot be carried.",
        "The official chat template writes True, False, None and nested values as Python does; they are read as well. "
        "Beside a string, None is text.",
        _NO_IDS,
    ),
)
