"""Families that write all calls of a reply as one JSON array between marks, or as a bare one."""

from dataclasses import replace

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Arguments, Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall, KeyedJsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_NO_IDS = "Calls have no ids: results are matched by their order."


def _between(
    opening: Literal,
    closing: Literal,
    *,
    arguments: Arguments,
    before: Gap = Gap(),  # noqa: B008 -- frozen
    line: Gap = Gap(),  # noqa: B008 -- frozen
    between: Gap = Gap(" "),  # noqa: B008 -- frozen
    end: Gap = Gap(),  # noqa: B008 -- frozen
) -> Section:
    return Section(
        before=before,
        open=(opening, Gap(), Literal("[", required=False), line),
        call=Call(arguments=arguments),
        between=(Literal(","), between),
        close=(end, Literal("]", required=False), Gap(), closing),
    )


_TOOL_CALLS = (Literal("<tool_calls>"), Literal("</tool_calls>"))

JAMBA = ChatFormat(
    name="jamba",
    models="Jamba 1.5, 1.6 and 1.7",
    wire=Wire(
        begin=Gap(" "),
        calls=_between(*_TOOL_CALLS, arguments=JsonCall(), line=Gap("\n    "), between=Gap("\n    "), end=Gap("\n")),
    ),
    turns=ready_turns.JAMBA,
    notes=(
        _NO_IDS,
        "There is no reasoning on this wire.",
        "A space begins every reply; whitespace at the beginning of a text cannot be carried.",
    ),
)
HUNYUAN_THINK = Region(
    open=Literal("<think>"),
    close=Literal("</think>"),
    before=Gap(),
    begin=Gap("\n"),
    end=Gap("\n"),
    behind=Gap("\n"),
)
HUNYUAN_ANSWER = Region(
    open=Literal("<answer>"),
    close=Literal("</answer>"),
    before=Gap(),
    begin=Gap("\n"),
    end=Gap("\n"),
    behind=Gap(),
    is_optional=True,
)
HUNYUAN = ChatFormat(
    name="hunyuan",
    models="Hunyuan A13B",
    wire=Wire(
        reasoning=HUNYUAN_THINK,
        content=HUNYUAN_ANSWER,
        calls=_between(*_TOOL_CALLS, arguments=JsonCall()),
    ),
    turns=ready_turns.HUNYUAN,
    notes=(_NO_IDS, "The official template drops calls from earlier replies; they are written here."),
)
NEMOTRON = ChatFormat(
    name="nemotron",
    models="Nemotron Nano 2, Llama Nemotron Nano and Super",
    wire=Wire(
        reasoning=THINK,
        end=Gap(),
        calls=_between(Literal("<TOOLCALL>"), Literal("</TOOLCALL>"), arguments=JsonCall(), before=Gap("\n")),
    ),
    turns=replace(ready_turns.NEMOTRON, stops=("<|eot_id|>",)),
    notes=(_NO_IDS,),
)
APERTUS = ChatFormat(
    name="apertus",
    models="Apertus 8B and 70B",
    wire=Wire(
        reasoning=Region(open=Literal("<|inner_prefix|>", token=True), close=Literal("<|inner_suffix|>", token=True)),
        calls=_between(
            Literal("<|tools_prefix|>", token=True), Literal("<|tools_suffix|>", token=True), arguments=KeyedJsonCall()
        ),
    ),
    turns=ready_turns.APERTUS,
    notes=(_NO_IDS,),
)
XLAM = ChatFormat(
    name="xlam",
    models="xLAM 2, DeepHat",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap(),
            open=(
                Literal("", also=("```json", "```", "[TOOL_CALLS]", "<tool_call>"), required=False),
                Gap(),
                Literal("["),
            ),
            call=Call(arguments=JsonCall()),
            between=(Literal(","), Gap(" ")),
            close=(Literal("]"), Literal("", also=("```", "\n```", "</tool_call>", "\n</tool_call>"), required=False)),
            claimed_by="name",
        ),
    ),
    turns=replace(ready_turns.XLAM, stops=("<|im_end|>",)),
    notes=(
        _NO_IDS,
        "No mark tells calls from text: an array is taken for calls if it begins with one of a tool on offer.",
    ),
)
