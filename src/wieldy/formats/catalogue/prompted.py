"""Schemes that any model can follow by prompt alone: marks in square brackets."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.python_calls import PythonArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

MARKERS = ChatFormat(
    name="markers",
    models="Any model, by prompt: [[name(key=value)]]",
    wire=Wire(
        calls=Section(
            before=Gap("\n"),
            call=Call(
                head=(Literal("[["), Gap(), Name()),
                arguments=PythonArguments(spelling="json", bare="text"),
                close=(Gap(), Literal("]]")),
            ),
            between=(Gap("\n"),),
            claimed_by="any name",
        ),
        begin=Gap(" "),
        end=Gap(),
    ),
    turns=ready_turns.MARKERS,
    notes=(
        "Text that has two brackets, a name and a parenthesis cannot be written, for it is read as a call.",
        "Space at both ends of a reply is layout and does not come back.",
        "Reasoning cannot be written.",
    ),
)
