"""Gemma's own object notation: Gemma 4 and FunctionGemma."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.object_notation import ObjectNotation
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_NOTES = (
    "A string cannot contain the mark that stands around strings; where special tokens are known by their ids, it can.",
    "Members are written sorted by name, as the templates do; so grammars have them in that order.",
    "Grammars leave a string's length, `pattern` and `format` to the validator.",
)


def _call(opening: str, quote: str, closing: str) -> Call:
    return Call(
        head=(Literal(opening, token=True), Gap(), Literal("call:", also=(":",), required=False), Gap(), Name()),
        arguments=ObjectNotation(quote=Literal(quote, token=True)),
        close=(Gap(), Literal(closing, token=True)),
    )


GEMMA_4 = ChatFormat(
    name="gemma-4",
    models="Gemma 4",
    wire=Wire(
        reasoning=Region(
            open=Literal("<|channel>thought", token=True),
            close=Literal("<channel|>", token=True),
            begin=Gap("\n"),
            end=Gap("\n"),
        ),
        calls=Section(call=_call("<|tool_call>", '<|"|>', "<tool_call|>")),
    ),
    turns=ready_turns.GEMMA_4,
    notes=_NOTES,
)
FUNCTIONGEMMA = ChatFormat(
    name="functiongemma",
    models="FunctionGemma",
    wire=Wire(calls=Section(call=_call("<start_function_call>", "<escape>", "<end_function_call>"))),
    turns=ready_turns.FUNCTIONGEMMA,
    notes=(*_NOTES, "Reasoning cannot be written."),
)
