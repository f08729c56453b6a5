"""MiniMax M1, M2 and M3."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import each, together
from wieldy.formats.turns.turns import Slot, ToolSection, Turns, Wrap


def _minimax(role: str) -> Wrap:
    return Wrap(open=f"]~b]{role}\n", close="[e~[\n")


def _minimax_m1(role: str) -> Wrap:
    return Wrap(open=f"<beginning_of_sentence>{role}\n", close="<end_of_sentence>\n")


MINIMAX_M1 = Turns(
    begin="<begin_of_document>",
    system=_minimax_m1("system ai_setting=assistant"),
    user=_minimax_m1("user name=user"),
    assistant=_minimax_m1("ai name=assistant"),
    results=each(_minimax_m1("tool name=tools"), "tool name: ", Slot.NAME, "\ntool result: ", Slot.CONTENT, "\n\n"),
    tools=ToolSection(
        tools=tool_prompts.MINIMAX_M1,
        place="after_system",
        open="<beginning_of_sentence>system tool_setting=tools\n",
        close="<end_of_sentence>\n",
    ),
    markers=("<begin_of_document>", "<beginning_of_sentence>", "<end_of_sentence>"),
)
MINIMAX_M2 = Turns(
    begin="]~!b[",
    system=_minimax("system"),
    user=_minimax("user"),
    assistant=_minimax("ai"),
    results=together(
        Wrap(open="]~b]tool", close="[e~[\n"),
        ("\n<response>", Slot.CONTENT, "</response>"),
        between="",
        markers=("<response>", "</response>"),
    ),
    tools=ToolSection(tools=tool_prompts.MINIMAX_M2),
    prefill="<think>\n",
    markers=("]~!b[", "]~b]", "[e~[", "<minimax:tool_call>", "</minimax:tool_call>"),
)
MINIMAX_M3 = replace(
    MINIMAX_M2,
    system=_minimax("developer"),
    tools=ToolSection(tools=tool_prompts.MINIMAX_M3),
    prefill="",
    markers=("]~!b[", "]~b]", "[e~[", "]<]minimax[>["),
)
