"""ChatML and its relatives: Qwen, Hermes, LFM2, InternLM, Step 3.5 and others."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import RESPONSE_LINES, each, together
from wieldy.formats.turns.turns import Slot, ToolSection, Turns, Wrap


def _chatml(role: str) -> Wrap:
    return Wrap(open=f"<|im_start|>{role}\n", close="<|im_end|>\n")


IM = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
CHATML = Turns(
    system=_chatml("system"),
    user=_chatml("user"),
    assistant=_chatml("assistant"),
    results=together(_chatml("user"), RESPONSE_LINES),
    markers=IM,
)
HERMES = replace(CHATML, tools=ToolSection(tools=tool_prompts.HERMES))
_RESPONSES_AND_LINE = together(Wrap(open="<|im_start|>user\n", close="\n<|im_end|>\n"), RESPONSE_LINES)
QWEN3_CODER = replace(CHATML, results=_RESPONSES_AND_LINE, tools=ToolSection(tools=tool_prompts.QWEN3_CODER))
QWEN3_5 = replace(CHATML, tools=ToolSection(tools=tool_prompts.QWEN3_5, place="system_start"), prefill="<think>\n")
NEMOTRON_3 = replace(QWEN3_CODER, prefill="<think>\n")
STEP_3_5 = replace(
    CHATML,
    tools=ToolSection(tools=tool_prompts.QWEN3_5),
    begin="<｜begin▁of▁sentence｜>",
    prefill="<think>\n",
    results=together(_chatml("tool_response"), ("<tool_response>", Slot.CONTENT, "</tool_response>"), between=""),
)
MINICPM_5 = replace(CHATML, tools=ToolSection(tools=tool_prompts.MINICPM_5), begin="<s>")
OLMO_3 = replace(
    CHATML,
    results=each(_chatml("environment")),
    tools=ToolSection(tools=tool_prompts.OLMO_3, between=""),
    markers=(*IM, "<functions>", "</functions>"),
)
LFM2 = replace(
    CHATML,
    begin="<|startoftext|>",
    results=each(_chatml("tool")),
    tools=ToolSection(tools=tool_prompts.LFM2, between="\n"),
    markers=(*IM, "<|startoftext|>", "<|tool_call_start|>", "<|tool_call_end|>"),
)
INTERNLM = replace(
    CHATML,
    begin="<s>",
    results=each(Wrap(open="<|im_start|>environment name=<|plugin|>\n", close="<|im_end|>\n")),
    tools=ToolSection(
        tools=tool_prompts.INTERNLM,
        place="after_system",
        open="<|im_start|>system name=<|plugin|>\n",
        close="<|im_end|>\n",
    ),
    markers=(*IM, "<|action_start|>", "<|action_end|>", "<|plugin|>", "<|interpreter|>"),
)
XLAM_QWEN = Turns(
    system=Wrap(open="<|im_start|>system\n", close="<|im_end|>", tail="\n"),
    user=Wrap(open="<|im_start|>user\n", close="<|im_end|>"),
    assistant=Wrap(open="<|im_start|>assistant\n", close="<|im_end|>"),
    results=each(Wrap(open="<|im_start|>tool\n", close="<|im_end|>")),
    tools=ToolSection(tools=tool_prompts.XLAM, between="", close="\n\n"),
    markers=IM,
)
