"""DeepSeek before its markup of parameters: names and JSON between special tokens, in a fence up to V3."""

from dataclasses import replace

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire


def _token(words: str) -> Literal:
    return Literal(f"<｜{words.replace(' ', '▁')}｜>", token=True)


# Models also leave it out.
_SECTION = replace(_token("tool calls begin"), required=False)

DEEPSEEK_V3 = ChatFormat(
    name="deepseek-v3",
    models="DeepSeek V2.5, V3, V3-0324, R1 and R1-0528, and distillations of R1",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            open=(_SECTION,),
            call=Call(
                head=(
                    _token("tool call begin"),
                    Literal("function", required=False),
                    _token("tool sep"),
                    Name(),
                    Gap("\n"),
                    Literal("```json", also=("```",), required=False),
                    Gap("\n"),
                ),
                arguments=JsonArguments(),
                close=(Gap("\n"), Literal("```", required=False), Gap(), _token("tool call end")),
            ),
            between=(Gap("\n"),),
            close=(_token("tool calls end"),),
        ),
    ),
    turns=ready_turns.DEEPSEEK_V3,
    notes=(
        "Calls have no ids: results are matched by their order.",
        "The official templates leave out the end of the section behind a single call; it is written here.",
    ),
)
DEEPSEEK_V3_1 = ChatFormat(
    name="deepseek-v3.1",
    models="DeepSeek V3.1 and V3.1-Terminus",
    wire=Wire(
        reasoning=Region(open=Literal("<think>", token=True), close=Literal("</think>", token=True)),
        calls=Section(
            open=(_SECTION,),
            call=Call(
                head=(_token("tool call begin"), Name(), _token("tool sep")),
                arguments=JsonArguments(),
                close=(Gap(), _token("tool call end")),
            ),
            between=(Gap(),),
            close=(_token("tool calls end"),),
        ),
    ),
    turns=ready_turns.DEEPSEEK_V3_1,
    notes=("Calls have no ids: results are matched by their order.",),
)
