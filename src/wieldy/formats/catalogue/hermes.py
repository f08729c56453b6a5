"""Hermes JSON: Qwen 2.5 and 3, Hermes 2 and 3, Granite 4, Jamba 2, LongCat and many others."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

CHATML = ready_turns.CHATML
THINK = Region(
    open=Literal("<think>", token=True),
    close=Literal("</think>", token=True),
    before=Gap(),
    begin=Gap("\n"),
    end=Gap("\n"),
    behind=Gap("\n\n"),
)

HERMES = ChatFormat(
    name="hermes",
    models="Qwen 2.5 and 3, Hermes 2 and 3, Granite 4, Jamba 2, Trinity, Bielik",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap("\n"),
            call=Call(
                head=(Literal("<tool_call>", also=("<longcat_tool_call>",), token=True), Gap("\n")),
                arguments=JsonCall(),
                close=(Gap("\n"), Literal("</tool_call>", also=("</longcat_tool_call>",), token=True)),
            ),
            between=(Gap("\n"),),
        ),
    ),
    turns=ready_turns.HERMES,
    notes=(
        "Calls have no ids: results are matched by their order.",
        "The marks are those of Qwen; LongCat's are read as well.",
    ),
)
