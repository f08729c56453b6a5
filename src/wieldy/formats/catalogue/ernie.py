"""ERNIE 4.5 with thinking: Hermes' calls behind blank lines, and marks around the text."""

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

ERNIE_4_5 = ChatFormat(
    name="ernie-4.5",
    models="ERNIE 4.5 21B A3B Thinking",
    wire=Wire(
        reasoning=THINK,
        content=Region(
            open=Literal("<response>"),
            close=Literal("</response>"),
            before=Gap(),
            begin=Gap("\n"),
            end=Gap("\n"),
            behind=Gap("\n"),
            is_optional=True,
        ),
        calls=Section(
            before=Gap("\n"),
            call=Call(
                head=(Literal("<tool_call>"), Gap("\n")),
                arguments=JsonCall(),
                close=(Gap("\n"), Literal("</tool_call>"), Gap("\n")),
            ),
        ),
    ),
    turns=ready_turns.ERNIE_4_5,
    notes=("Calls have no ids: results are matched by their order.",),
)
