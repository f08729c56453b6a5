"""Kimi K2 and K3."""

from __future__ import annotations

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import words
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap
from wieldy.formats.turns.wire_ids import function_index


def _kimi(speaker: str, role: str) -> Wrap:
    return Wrap(open=f"<|im_{speaker}|>{role}<|im_middle|>", close="<|im_end|>")


KIMI_K2 = Turns(
    system=_kimi("system", "system"),
    user=_kimi("user", "user"),
    assistant=_kimi("assistant", "assistant"),
    results=Results(
        each=(
            "<|im_system|>",
            Slot.NAME,
            "<|im_middle|>## Return of ",
            Slot.ID,
            "\n",
            Slot.CONTENT,
            "<|im_end|>",
        )
    ),
    tools=ToolSection(
        tools=tool_prompts.KIMI_K2,
        place="before_system",
        open="<|im_system|>tool_declare<|im_middle|>",
        close="<|im_end|>",
    ),
    markers=words(
        "<|im_system|> <|im_user|> <|im_assistant|> <|im_middle|> <|im_end|> <|tool_calls_section_begin|> "
        "<|tool_calls_section_end|> <|tool_call_begin|> <|tool_call_argument_begin|> <|tool_call_end|> [BOS] "
        "[EOS]"
    ),
    wire_id=function_index,
)
_K3_CLOSE = "<|close|>message<|sep|><|end_of_msg|>"


def _k3(attributes: str) -> Wrap:
    return Wrap(open=f"<|open|>message {attributes}<|sep|>", close=_K3_CLOSE)


KIMI_K3 = Turns(
    system=_k3('role="system"'),
    user=_k3('role="user"'),
    assistant=_k3('role="assistant"'),
    results=Results(
        each=(
            '<|open|>message role="tool" tool="',
            Slot.NAME,
            '" index="',
            Slot.ORDINAL,
            '"<|sep|>',
            Slot.CONTENT,
            _K3_CLOSE,
        )
    ),
    tools=ToolSection(
        tools=tool_prompts.KIMI_K3,
        place="before_system",
        open='<|open|>message role="system" type="tool-declare"<|sep|>',
        close=_K3_CLOSE,
    ),
    prefill="<|open|>think<|sep|>",
    stops=("<|close|>message<|sep|>", "<|end_of_msg|>"),
    markers=("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"),
)
