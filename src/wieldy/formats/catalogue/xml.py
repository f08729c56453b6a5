"""Tags of many kinds, each of one family: Seed-OSS, Step 3, Functionary 3.1, MiniCPM 5, and Claude 2."""

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonArguments
from wieldy.formats.nodes.tagged import Key, Quotes, TaggedArguments
from wieldy.formats.nodes.xml_calls import XmlArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_RAW = (
    "A value is written raw: a string that contains its own closing tag followed by another argument or by the end of "
    "the call cannot be carried."
)
_PYTHON = "The official chat template writes True, False, None and nested values as Python does; they are read as well."

SEED_OSS = ChatFormat(
    name="seed-oss",
    models="Seed-OSS",
    wire=Wire(
        reasoning=Region(
            open=Literal("<seed:think>", token=True),
            close=Literal("</seed:think>", token=True),
            before=Gap(),
            behind=Gap("\n"),
        ),
        calls_in_reasoning="calls",
        calls=Section(
            before=Gap("\n\n"),
            call=Call(
                head=(
                    Literal("<seed:tool_call>", token=True, required=False),
                    Gap("\n"),
                    Literal("<function="),
                    Name(),
                    Literal(">"),
                    Gap("\n"),
                ),
                arguments=TaggedArguments(
                    open=(Literal("<parameter="), Key(), Literal(">")),
                    close=(Literal("</parameter>"),),
                    between=Gap("\n"),
                    after=Gap("\n"),
                ),
                close=(Literal("</function>"), Gap("\n"), Literal("</seed:tool_call>", token=True)),
            ),
            between=(Gap("\n"),),
        ),
    ),
    turns=ready_turns.SEED_OSS,
    notes=(_RAW, _PYTHON),
)

STEP_3 = ChatFormat(
    name="step-3",
    models="Step 3",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap("\n"),
            open=(Literal("<｜tool_calls_begin｜>", token=True), Gap("\n")),
            call=Call(
                head=(
                    Literal("<｜tool_call_begin｜>", also=("<｜tool_call_begin>｜>",), token=True),
                    Gap("\n"),
                    Literal("function", required=False),
                    Literal("<｜tool_sep｜>", token=True, required=False),
                    Literal('<steptml:invoke name="'),
                    Name(),
                    Literal('">'),
                ),
                arguments=TaggedArguments(
                    open=(Literal('<steptml:parameter name="'), Key(), Literal('">')),
                    close=(Literal("</steptml:parameter>"),),
                ),
                close=(Literal("</steptml:invoke>"), Gap(), Literal("<｜tool_call_end｜>", token=True)),
            ),
            between=(Gap("\n"),),
            close=(Gap("\n"), Literal("<｜tool_calls_end｜>", token=True)),
        ),
    ),
    turns=ready_turns.STEP_3,
    notes=(
        _RAW,
        _PYTHON,
        "The official chat template misspells the mark of a call in the history; both spellings are read.",
    ),
)

FUNCTIONARY = ChatFormat(
    name="functionary",
    models="Functionary 3.1; Llama 3.1 where its prompt asks for this",
    wire=Wire(
        calls=Section(
            call=Call(
                head=(Literal("<function="), Name(), Literal(">")),
                arguments=JsonArguments(),
                close=(Gap(), Literal("</function>")),
            ),
        ),
    ),
    turns=ready_turns.FUNCTIONARY,
    notes=("There is no reasoning on this wire.",),
)

MINICPM_5 = ChatFormat(
    name="minicpm-5",
    models="MiniCPM 5, MiniCPM-SALA",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap("\n"),
            call=Call(
                head=(Literal('<function name="'), Name(), Literal('">')),
                arguments=TaggedArguments(
                    open=(Literal('<param name="'), Key(), Literal('">')),
                    close=(Literal("</param>"),),
                    quotes=Quotes(open="<![CDATA[", close="]]>", needed_for="<&\n"),
                ),
                close=(Literal("</function>"),),
            ),
            between=(Gap("\n"),),
        ),
    ),
    turns=ready_turns.MINICPM_5,
    notes=("A string that contains `]]></param>` followed by what follows an argument cannot be carried.", _PYTHON),
)

CLAUDE_2 = ChatFormat(
    name="claude-2",
    models="Claude 2, Claude 3 with tools in the prompt, and any model that is shown this",
    wire=Wire(
        calls=Section(
            before=Gap("\n\n"),
            open=(Literal("<function_calls>"), Gap("\n")),
            call=Call(
                head=(
                    Literal("<invoke>"),
                    Gap("\n"),
                    Literal("<tool_name>"),
                    Name(),
                    Literal("</tool_name>"),
                    Gap("\n"),
                    Literal("<parameters>"),
                    Gap("\n"),
                ),
                arguments=XmlArguments(between=Gap("\n"), after=Gap("\n")),
                close=(Literal("</parameters>"), Gap("\n"), Literal("</invoke>")),
            ),
            between=(Gap("\n"),),
            close=(Gap("\n"), Literal("</function_calls>")),
        ),
    ),
    turns=ready_turns.CLAUDE_2,
    notes=(
        "A value is written raw: a string that contains its own closing tag followed by another tag cannot be carried.",
        "An argument's name must be one that a tag can have.",
        "There is no reasoning on this wire.",
    ),
)
