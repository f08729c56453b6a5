"""DeepSeek, by version."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import words
from wieldy.formats.turns.turns import Results, Slot, Template, ToolSection, Turns, Wrap

_DEEPSEEK_MARKERS = words(
    "<｜begin▁of▁sentence｜> <｜end▁of▁sentence｜> <｜User｜> <｜Assistant｜> <｜tool▁calls▁begin｜> "
    "<｜tool▁calls▁end｜> <｜tool▁call▁begin｜> <｜tool▁call▁end｜> <｜tool▁sep｜> <｜tool▁outputs▁begin｜> "
    "<｜tool▁outputs▁end｜> <｜tool▁output▁begin｜> <｜tool▁output▁end｜>"
)
_DSML_MARKERS = (*_DEEPSEEK_MARKERS, "｜DSML｜")
_OUTPUT: Template = ("<｜tool▁output▁begin｜>", Slot.CONTENT, "<｜tool▁output▁end｜>")
DEEPSEEK_V3 = Turns(
    begin="<｜begin▁of▁sentence｜>",
    system=Wrap(),
    user=Wrap(open="<｜User｜>"),
    assistant=Wrap(open="<｜Assistant｜>", close="<｜end▁of▁sentence｜>"),
    results=Results(each=_OUTPUT, open="<｜tool▁outputs▁begin｜>", between="\n", close="<｜tool▁outputs▁end｜>"),
    openings={("tool", "assistant"): ""},
    tools=ToolSection(tools=tool_prompts.DEEPSEEK_V3),
    markers=_DEEPSEEK_MARKERS,
)
DEEPSEEK_R1 = replace(DEEPSEEK_V3, prefill="<think>\n")
DEEPSEEK_V3_1 = replace(
    DEEPSEEK_V3,
    # Not a prefill: it stands before every reply to a user, and before none to results.
    assistant=Wrap(open="<｜Assistant｜></think>", close="<｜end▁of▁sentence｜>"),
    results=Results(each=_OUTPUT),
    tools=ToolSection(tools=tool_prompts.DEEPSEEK_V3_1),
)
DEEPSEEK_V3_2 = replace(
    DEEPSEEK_V3,
    results=Results(
        each=("<result>", Slot.CONTENT, "</result>"),
        open="\n\n<function_results>\n",
        between="\n",
        close="\n</function_results>\n\n",
        markers=("<result>", "</result>", "</function_results>"),
    ),
    tools=ToolSection(tools=tool_prompts.DEEPSEEK_V3_2),
    prefill="</think>",
    markers=_DSML_MARKERS,
)
DEEPSEEK_V4 = replace(
    DEEPSEEK_V3_2,
    results=Results(
        each=("<tool_result>", Slot.CONTENT, "</tool_result>"),
        open="<｜User｜>",
        between="\n\n",
        markers=("<tool_result>", "</tool_result>"),
    ),
    openings={},
    tools=ToolSection(tools=tool_prompts.DEEPSEEK_V4),
)
DEEPSEEK_V4_1 = replace(DEEPSEEK_V4, tools=ToolSection(tools=tool_prompts.DEEPSEEK_V4_1))
