"""Kimi K2: section marks, the name within the id."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import CallId, Gap, Index, Literal, Name
from wieldy.formats.nodes.json_calls import JsonArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

KIMI_K2 = ChatFormat(
    name="kimi-k2",
    models="Kimi K2 and its successors up to K2.6",
    wire=Wire(
        reasoning=Region(open=Literal("<think>", token=True), close=Literal("</think>", token=True)),
        calls=Section(
            # Models also write the mark in the singular, or none.
            open=(
                Literal(
                    "<|tool_calls_section_begin|>", also=("<|tool_call_section_begin|>",), token=True, required=False
                ),
            ),
            call=Call(
                head=(
                    Literal("<|tool_call_begin|>", token=True),
                    Gap(),
                    CallId((Literal("functions.", required=False), Name(), Literal(":"), Index(of_conversation=True))),
                    Gap(),
                    Literal("<|tool_call_argument_begin|>", token=True),
                ),
                arguments=JsonArguments(),
                close=(Gap(), Literal("<|tool_call_end|>", token=True)),
            ),
            close=(Literal("<|tool_calls_section_end|>", also=("<|tool_call_section_end|>",), token=True),),
        ),
    ),
    turns=ready_turns.KIMI_K2,
    notes=(
        "The name of the tool stands only in the id, which counts the calls of the whole conversation; an id that "
        "is not made so is replaced when a call is written.",
    ),
)
