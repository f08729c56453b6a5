"""Mistral, by version of the tokenizer; those of SentencePiece have spaces behind the markers."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import words
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap
from wieldy.formats.turns.wire_ids import nine_characters

_MISTRAL_MARKERS = words(
    "<s> </s> [INST] [/INST] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] "
    "[TOOL_CALLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CONTENT] [CALL_ID] [ARGS] [THINK] [/THINK] "
    "[MODEL_SETTINGS] [/MODEL_SETTINGS] [IMG]"
)
_MISTRAL_TOOLS = ToolSection(
    tools=tool_prompts.MISTRAL, place="before_last_user", open="[AVAILABLE_TOOLS]", close="[/AVAILABLE_TOOLS]"
)
MISTRAL_V3_TEKKEN = Turns(
    begin="<s>",
    system="last_user",
    user=Wrap(open="[INST]", close="[/INST]"),
    assistant=Wrap(close="</s>"),
    results=Results(
        each=('[TOOL_RESULTS]{"content": ', Slot.JSON_VALUE, ', "call_id": "', Slot.ID, '"}[/TOOL_RESULTS]')
    ),
    tools=_MISTRAL_TOOLS,
    markers=_MISTRAL_MARKERS,
    wire_id=nine_characters,
)
MISTRAL_V3 = replace(
    MISTRAL_V3_TEKKEN,
    user=Wrap(open="[INST] ", close="[/INST]"),
    results=Results(
        each=('[TOOL_RESULTS] {"content": ', Slot.JSON_VALUE, ', "call_id": "', Slot.ID, '"}[/TOOL_RESULTS]')
    ),
    tools=replace(_MISTRAL_TOOLS, open="[AVAILABLE_TOOLS] "),
)
MISTRAL_V7 = replace(
    MISTRAL_V3_TEKKEN,
    system=Wrap(open="[SYSTEM_PROMPT]", close="[/SYSTEM_PROMPT]"),
    results=Results(each=("[TOOL_RESULTS]", Slot.ID, "[TOOL_CONTENT]", Slot.CONTENT, "[/TOOL_RESULTS]")),
)
MISTRAL_V7_SPACED = replace(
    MISTRAL_V7,
    system=Wrap(open="[SYSTEM_PROMPT] ", close="[/SYSTEM_PROMPT]"),
    user=Wrap(open="[INST] ", close="[/INST]"),
    results=Results(each=("[TOOL_RESULTS] ", Slot.ID, "[TOOL_CONTENT] ", Slot.CONTENT, "[/TOOL_RESULTS]")),
    tools=replace(_MISTRAL_TOOLS, open="[AVAILABLE_TOOLS] "),
)
MISTRAL_V11 = MISTRAL_V7
MISTRAL_V13 = replace(
    MISTRAL_V7,
    results=Results(each=("[TOOL_RESULTS]", Slot.CONTENT, "[/TOOL_RESULTS]")),
    tools=replace(_MISTRAL_TOOLS, place="after_system"),
)
_NO_EFFORT = '[MODEL_SETTINGS]{"reasoning_effort": "none"}[/MODEL_SETTINGS]'
MISTRAL_V15 = replace(
    MISTRAL_V13,
    tools=replace(_MISTRAL_TOOLS, place="after_system", close=f"[/AVAILABLE_TOOLS]{_NO_EFFORT}", without=_NO_EFFORT),
)
