"""Calls in XML-like tags with raw values: Qwen3-Coder, Qwen 3.5 to 3.8, Nemotron 3, Step 3.5."""

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.tagged import Key, TaggedArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

LINE = Literal("\n", required=False)

QWEN3_CODER = ChatFormat(
    name="qwen3-coder",
    models="Qwen3-Coder, Qwen 3.5 to 3.8, Nemotron 3, Step 3.5 and 3.7, MiMo V2, Zyphra",
    wire=Wire(
        reasoning=THINK,
        calls_in_reasoning="calls",
        calls=Section(
            before=Gap("\n\n"),
            call=Call(
                head=(
                    Literal("<tool_call>", also=("<zyphra_tool_call>",), token=True, required=False),
                    Gap("\n"),
                    Literal("<function="),
                    Name(),
                    Literal(">"),
                    Gap("\n"),
                ),
                arguments=TaggedArguments(
                    open=(Literal("<parameter="), Key(), Literal(">"), LINE),
                    close=(LINE, Literal("</parameter>")),
                    between=Gap("\n"),
                    after=Gap("\n"),
                ),
                close=(
                    Literal("</function>"),
                    Gap("\n"),
                    Literal("</tool_call>", also=("</zyphra_tool_call>",), token=True),
                ),
            ),
            between=(Gap("\n"),),
        ),
    ),
    turns=ready_turns.QWEN3_CODER,
    notes=(
        "A value is written raw: a string that contains its own closing tag followed by another argument or by the end "
        "of the call cannot be carried.",
        "Templates write True, False and None as Python does; they are read as well. Beside a string, None is text.",
    ),
)
