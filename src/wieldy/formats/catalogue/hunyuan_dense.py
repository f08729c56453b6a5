"""Hunyuan's dense models: the name as bare text, then JSON in a fence, as DeepSeek V3 has it but between tags."""

from wieldy.formats.catalogue.arrays import HUNYUAN_ANSWER, HUNYUAN_THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonArguments
from wieldy.formats.turns import tool_lists
from wieldy.formats.turns.ready.wrapping import RESPONSE, together, words
from wieldy.formats.turns.turns import Slot, ToolSection, Turns, Wrap
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_TOOLS = tool_lists.Each(
    write=tool_lists.openai_json,
    open="# Tools\n\nThese are the signatures of functions that can be called:\n<tools>\n",
    close="\n</tools>\n\nWrite calls as follows, as many as are needed between the outer tags:\n"
    "<tool_calls><tool_call>function_name\n```json\n{function arguments}\n```</tool_call></tool_calls>",
)
_TURNS = Turns(
    begin="<｜hy_begin▁of▁sentence｜>",
    system=Wrap(close="<｜hy_place▁holder▁no▁3｜>"),
    user=Wrap(open="<｜hy_User｜>"),
    assistant=Wrap(open="<｜hy_Assistant｜>", close="<｜hy_place▁holder▁no▁2｜>"),
    results=together(
        Wrap(open="<｜hy_User｜><tool_responses>", close="</tool_responses>"),
        ("<tool_response>", Slot.CONTENT, "</tool_response>"),
        markers=(*RESPONSE, "<tool_responses>", "</tool_responses>"),
    ),
    tools=ToolSection(tools=_TOOLS),
    markers=words(
        "<｜hy_begin▁of▁sentence｜> <｜hy_User｜> <｜hy_Assistant｜> "
        "<｜hy_place▁holder▁no▁2｜> <｜hy_place▁holder▁no▁3｜>"
    ),
)

HUNYUAN_DENSE = ChatFormat(
    name="hunyuan-dense",
    models="Hunyuan 0.5B to 7B, Hy-Embodied",
    wire=Wire(
        reasoning=HUNYUAN_THINK,
        content=HUNYUAN_ANSWER,
        calls=Section(
            open=(Literal("<tool_calls>"),),
            call=Call(
                head=(Literal("<tool_call>"), Gap(), Name(), Gap("\n"), Literal("```json", required=False), Gap("\n")),
                arguments=JsonArguments(),
                close=(Gap("\n"), Literal("```", required=False), Gap(), Literal("</tool_call>")),
            ),
            between=(Gap("\n"),),
            close=(Literal("</tool_calls>"),),
        ),
    ),
    turns=_TURNS,
    notes=(
        "Calls have no ids: results are matched by their order.",
        "The official templates write text beside calls without the tags of an answer; it is read with and without.",
    ),
)
