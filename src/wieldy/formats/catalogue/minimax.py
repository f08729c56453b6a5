"""MiniMax: JSON lines (M1), tags with attributes (M2 and all that look like it), elements within elements (M3)."""

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.nodes.tagged import Key, TaggedArguments
from wieldy.formats.nodes.xml_calls import XmlArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

MINIMAX_M1 = ChatFormat(
    name="minimax-m1",
    models="MiniMax M1",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap("\n"),
            open=(Literal("<tool_calls>"), Gap("\n")),
            call=Call(arguments=JsonCall()),
            between=(Gap("\n"),),
            close=(Gap("\n"), Literal("</tool_calls>")),
        ),
    ),
    turns=ready_turns.MINIMAX_M1,
    notes=("The official chat template leaves the calls out of the history.",),
)

MINIMAX_M2 = ChatFormat(
    name="minimax-m2",
    models="MiniMax M2 to M2.7; also tags of the same shape with other prefixes or none",
    wire=Wire(
        reasoning=THINK,
        calls_in_reasoning="calls",
        calls=Section(
            before=Gap(),
            open=(
                Gap("\n"),
                Literal(
                    "<minimax:tool_call>",
                    also=("<function_calls>", "<atem:function_calls>"),
                    token=True,
                    required=False,
                ),
                Gap("\n"),
            ),
            call=Call(
                head=(Literal('<invoke name="', also=('<atem:invoke name="',)), Name(), Literal('">'), Gap("\n")),
                arguments=TaggedArguments(
                    open=(Literal('<parameter name="', also=('<atem:parameter name="',)), Key(), Literal('">')),
                    close=(Literal("</parameter>", also=("</atem:parameter>",)),),
                    between=Gap("\n"),
                    after=Gap("\n"),
                ),
                close=(Literal("</invoke>", also=("</atem:invoke>",)),),
                without_arguments=(Literal('"'), Gap(), Literal("/>")),
            ),
            between=(Gap("\n"),),
            close=(
                Gap("\n"),
                Literal("</minimax:tool_call>", also=("</function_calls>", "</atem:function_calls>"), token=True),
            ),
        ),
    ),
    turns=ready_turns.MINIMAX_M2,
    notes=(
        "A value is written raw: a string that contains its own closing tag followed by another argument or by the end "
        "of the call cannot be carried.",
    ),
)

_MARK = "]<]minimax[>["

MINIMAX_M3 = ChatFormat(
    name="minimax-m3",
    models="MiniMax M3",
    wire=Wire(
        reasoning=Region(open=Literal("<mm:think>", token=True), close=Literal("</mm:think>", token=True)),
        calls=Section(
            open=(Literal(f"{_MARK}<tool_call>", token=True), Gap("\n")),
            call=Call(
                head=(Literal(f'{_MARK}<invoke name="', token=True), Name(), Literal('">')),
                arguments=XmlArguments(mark=_MARK),
                close=(Literal(f"{_MARK}</invoke>", token=True), Gap("\n")),
            ),
            close=(Literal(f"{_MARK}</tool_call>", token=True),),
        ),
    ),
    turns=ready_turns.MINIMAX_M3,
    notes=(
        "An argument's name must be one that a tag can have.",
        "The official chat template leaves out arguments that are null.",
        "A string that contains the mark of a tag and its own closing tag cannot be carried.",
    ),
)
