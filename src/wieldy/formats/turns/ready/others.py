"""Families that stand alone: Seed-OSS, Jamba, Nemotron, Apertus, Step 3, ERNIE, Hunyuan, Apriel."""

from __future__ import annotations

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import RESPONSE_LINES, each, together, words
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap


def _jamba(role: str) -> Wrap:
    return Wrap(open=f"<|bom|><|{role}|> ", close="<|eom|>")


def _apriel(role: str) -> Wrap:
    return Wrap(open=f"<|begin_{role}|>\n", close="\n")


SEED_OSS = Turns(
    system=Wrap(open="<seed:bos>system\n", close="<seed:eos>"),
    user=Wrap(open="<seed:bos>user\n", close="<seed:eos>"),
    assistant=Wrap(open="<seed:bos>assistant\n", close="<seed:eos>"),
    results=each(Wrap(open="<seed:bos>tool\n", close="<seed:eos>")),
    tools=ToolSection(tools=tool_prompts.SEED_OSS),
    markers=("<seed:bos>", "<seed:eos>", "<seed:pad>", "<seed:tool_call>", "</seed:tool_call>"),
)
JAMBA = Turns(
    begin="<|startoftext|>",
    system=_jamba("system"),
    user=_jamba("user"),
    assistant=Wrap(open="<|bom|><|assistant|>", close="<|eom|>"),
    results=each(_jamba("tool"), "(", Slot.NAME, ")", Slot.CONTENT),
    tools=ToolSection(tools=tool_prompts.JAMBA),
    markers=("<|startoftext|>", "<|endoftext|>", "<|bom|>", "<|eom|>"),
)
NEMOTRON = Turns(
    system=Wrap(open="<SPECIAL_10>System\n", close="\n\n"),
    user=Wrap(open="<SPECIAL_11>User\n", close="\n"),
    assistant=Wrap(open="<SPECIAL_11>Assistant\n", close="\n<SPECIAL_12>\n"),
    results=together(
        Wrap(open="<SPECIAL_11>User\n<TOOL_RESPONSE>[", close="]</TOOL_RESPONSE>"),
        (Slot.JSON_VALUE,),
        between=", ",
        markers=("<TOOL_RESPONSE>", "</TOOL_RESPONSE>"),
    ),
    tools=ToolSection(tools=tool_prompts.NEMOTRON),
    prefill="<think>\n",
    markers=("<SPECIAL_10>", "<SPECIAL_11>", "<SPECIAL_12>"),
)
NEMOTRON_MINI = Turns(
    system=Wrap(open="<extra_id_0>System\n", close="\n\n"),
    user=Wrap(open="<extra_id_1>User\n", close="\n"),
    assistant=Wrap(open="<extra_id_1>Assistant\n", close="\n"),
    results=each(Wrap(open="<extra_id_1>Tool\n", close="\n")),
    stops=("<extra_id_1>",),
    markers=("<extra_id_0>", "<extra_id_1>"),
)
APERTUS = Turns(
    begin="<s>",
    system=Wrap(open="<|system_start|>", close="<|system_end|>"),
    user=Wrap(open="<|user_start|>", close="<|user_end|>"),
    assistant=Wrap(open="<|assistant_start|>", close="<|assistant_end|>"),
    call_close="",
    results=Results(each=(Slot.JSON_VALUE,), open="[", between=", ", close="]"),
    openings={("tool", "assistant"): "", ("tool", "user"): "<|assistant_end|><|user_start|>"},
    tools=ToolSection(
        tools=tool_prompts.APERTUS,
        place="after_system",
        without="<|developer_start|>Deliberation: disabled\nTool Capabilities: disabled<|developer_end|>",
    ),
    markers=words(
        "<|system_start|> <|system_end|> <|developer_start|> <|developer_end|> <|user_start|> <|user_end|> "
        "<|assistant_start|> <|assistant_end|> <|inner_prefix|> <|inner_suffix|> <|tools_prefix|> "
        "<|tools_suffix|>"
    ),
)
STEP_3 = Turns(
    begin="<｜begin▁of▁sentence｜>",
    system=Wrap(open="<|BOT|>system\n ", close=" <|EOT|>"),
    user=Wrap(open="<|BOT|>user\n ", close=" <|EOT|>"),
    assistant=Wrap(open="<|BOT|>assistant\n", close=" <|EOT|>"),
    call_close="<|EOT|>",
    results=each(Wrap(open="<|BOT|>tool\n ", close=" <|EOT|>")),
    tools=ToolSection(tools=tool_prompts.STEP_3, place="before_system", open=" "),
    prefill="<think>\n",
    markers=("<|BOT|>", "<|EOT|>", "<｜tool_calls_begin｜>", "<｜tool_calls_end｜>", "<｜tool_call_begin｜>"),
)
ERNIE_4_5 = Turns(
    begin="<|begin_of_sentence|>",
    system=Wrap(close="\n"),
    user=Wrap(open="User: ", close="\n"),
    assistant=Wrap(open="Assistant: ", close="<|end_of_sentence|>"),
    results=together(Wrap(open="User: ", close="\n"), RESPONSE_LINES),
    tools=ToolSection(tools=tool_prompts.HERMES),
    markers=("<|begin_of_sentence|>", "<|end_of_sentence|>", "\nUser:", "\nAssistant:"),
)
HUNYUAN = Turns(
    system=Wrap(open="<|startoftext|>", close="<|extra_4|>"),
    user=Wrap(open="<|startoftext|>", close="<|extra_0|>"),
    assistant=Wrap(close="<|eos|>"),
    results=together(Wrap(open="<|startoftext|>", close="<|extra_0|>"), RESPONSE_LINES),
    openings={("system", "user"): ""},
    tools=ToolSection(tools=tool_prompts.HUNYUAN),
    markers=("<|startoftext|>", "<|extra_0|>", "<|extra_4|>", "<|extra_5|>", "<|eos|>"),
)
APRIEL = Turns(
    begin="<s>",
    system=_apriel("system"),
    user=_apriel("user"),
    assistant=Wrap(open="<|begin_assistant|>\n", close="\n<|end|>\n"),
    results=each(_apriel("tool_result")),
    tools=ToolSection(tools=tool_prompts.HUNYUAN, between="\n"),
    prefill="Here are my reasoning steps:\n",
    markers=words("<|begin_system|> <|begin_user|> <|begin_assistant|> <|begin_tool_result|> <|end|>"),
)
