"""Granite 3 and 20B, and Phi-4-mini: a mark and then JSON, with nothing that ends it."""

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_NO_IDS = "Calls have no ids: results are matched by their order."

GRANITE_3 = ChatFormat(
    name="granite-3",
    models="Granite 3.0 to 3.3",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap(),
            open=(
                # Granite 3.1 to 3.3 often spell the mark as text.
                Literal("<|tool_call|>", also=("<tool_call>",), token=True),
                Gap(),
                Literal("[", required=False),
            ),
            call=Call(arguments=JsonCall()),
            between=(Literal(","), Gap(" ")),
            close=(Literal("]"), Literal("", also=("</tool_call>", "\n</tool_call>"), required=False)),
        ),
    ),
    turns=ready_turns.GRANITE_3,
    notes=(_NO_IDS, "The official templates drop calls from earlier replies; they are written here."),
)
GRANITE_20B_FC = ChatFormat(
    name="granite-20b-fc",
    models="Granite 20B for function calling",
    wire=Wire(
        calls=Section(
            before=Gap("\n"),
            call=Call(head=(Literal("<function_call>", token=True), Gap(" ")), arguments=JsonCall()),
            between=(Gap("\n"),),
            pretended=("no_function",),
        ),
    ),
    turns=ready_turns.GRANITE_20B,
    notes=(
        _NO_IDS,
        "There is no reasoning on this wire.",
        "A call of 'no_function' says that no tool fits; it stays text.",
    ),
)
PHI_4_MINI = ChatFormat(
    name="phi-4-mini",
    models="Phi-4-mini-instruct",
    wire=Wire(
        calls=Section(
            before=Gap(),
            open=(Literal("functools[", also=("functools [",)),),
            call=Call(arguments=JsonCall()),
            between=(Literal(","), Gap(" ")),
            close=(Literal("]"),),
        ),
    ),
    turns=ready_turns.PHI_4_MINI,
    notes=(_NO_IDS, "There is no reasoning on this wire.", "The mark of calls is plain text: 'functools['."),
)
