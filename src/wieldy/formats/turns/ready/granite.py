"""Granite 3, 4 and 20B for function calling, and Phi."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.chatml import IM
from wieldy.formats.turns.ready.wrapping import each, together
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap


def _granite(role: str) -> Wrap:
    return Wrap(open=f"<|start_of_role|>{role}<|end_of_role|>", close="<|end_of_text|>\n")


GRANITE_3 = Turns(
    system=_granite("system"),
    user=_granite("user"),
    assistant=_granite("assistant"),
    results=each(_granite("tool")),
    tools=ToolSection(
        tools=tool_prompts.GRANITE_3,
        place="after_system",
        open=_granite("available_tools").open,
        close="<|end_of_text|>\n",
    ),
    markers=("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>", "<|tool_call|>"),
)
GRANITE_4 = replace(
    GRANITE_3,
    results=together(_granite("user"), ("\n<tool_response>\n", Slot.CONTENT, "\n</tool_response>"), between=""),
    tools=ToolSection(tools=tool_prompts.HERMES),
)
GRANITE_20B = Turns(
    system=Wrap(open="SYSTEM: ", close="\n\n"),
    user=Wrap(open="USER: ", close="\n"),
    assistant=Wrap(open="ASSISTANT: ", close="<|endoftext|>\n"),
    results=Results(each=("<function_response> ", Slot.CONTENT, "\n")),
    tools=ToolSection(tools=tool_prompts.GRANITE_20B),
    markers=(
        "\nSYSTEM:",
        "\nUSER:",
        "\nASSISTANT:",
        "<|endoftext|>",
        "<|function_call_library|>",
        "<function_call>",
        "<function_response>",
    ),
)
PHI_3 = Turns(
    system=Wrap(open="<|system|>\n", close="<|end|>\n"),
    user=Wrap(open="<|user|>\n", close="<|end|>\n"),
    assistant=Wrap(open="<|assistant|>\n", close="<|end|>\n"),
    results=each(Wrap(open="<|tool|>\n", close="<|end|>\n")),
    stops=("<|endoftext|>",),
    markers=("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|/tool|>", "<|end|>", "<|endoftext|>"),
)
PHI_4_MINI = Turns(
    system=Wrap(open="<|system|>", close="<|end|>"),
    user=Wrap(open="<|user|>", close="<|end|>"),
    assistant=Wrap(open="<|assistant|>", close="<|end|>"),
    results=each(Wrap(open="<|tool|>", close="<|end|>")),
    tools=ToolSection(tools=tool_prompts.PHI_4_MINI, between=""),
    stops=("<|endoftext|>",),
    markers=PHI_3.markers,
)
PHI_4 = Turns(
    system=Wrap(open="<|im_start|>system<|im_sep|>", close="<|im_end|>"),
    user=Wrap(open="<|im_start|>user<|im_sep|>", close="<|im_end|>"),
    assistant=Wrap(open="<|im_start|>assistant<|im_sep|>", close="<|im_end|>"),
    results=each(Wrap(open="<|im_start|>tool<|im_sep|>", close="<|im_end|>")),
    markers=(*IM, "<|im_sep|>"),
)
