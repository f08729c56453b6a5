"""GLM and families that write keys and values in tags as it does: Hunyuan 3, LongCat 2; and Ling."""

from __future__ import annotations

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import together, words
from wieldy.formats.turns.turns import Slot, ToolSection, Turns, Wrap

_GLM_MARKERS = words("[gMASK] <sop> <|system|> <|user|> <|assistant|> <|observation|> <|endoftext|>")
_GLM_STOPS = ("<|user|>", "<|observation|>", "<|endoftext|>")
GLM_4_5 = Turns(
    begin="[gMASK]<sop>",
    system=Wrap(open="<|system|>\n"),
    user=Wrap(open="<|user|>\n"),
    assistant=Wrap(open="<|assistant|>"),
    results=together(
        Wrap(open="<|observation|>"), ("\n<tool_response>\n", Slot.CONTENT, "\n</tool_response>"), between=""
    ),
    tools=ToolSection(tools=tool_prompts.GLM_4_5, place="before_system", open="<|system|>\n"),
    stops=_GLM_STOPS,
    markers=_GLM_MARKERS,
)
GLM_4_7 = Turns(
    begin="[gMASK]<sop>",
    system=Wrap(open="<|system|>"),
    user=Wrap(open="<|user|>"),
    assistant=Wrap(open="<|assistant|>"),
    results=together(Wrap(open="<|observation|>"), ("<tool_response>", Slot.CONTENT, "</tool_response>"), between=""),
    tools=ToolSection(tools=tool_prompts.GLM_4_7, place="before_system", open="<|system|>\n"),
    prefill="<think>",
    stops=_GLM_STOPS,
    markers=_GLM_MARKERS,
)
HUNYUAN_3 = Turns(
    begin="<｜hy_begin_of_sentence:opensource｜>",
    system=Wrap(close="<｜reasoning_mode:opensource｜>reasoning_effort:no_think"),
    user=Wrap(open="<｜hy_User:opensource｜>"),
    assistant=Wrap(open="<｜hy_Assistant:opensource｜>", close="<｜hy_eos:opensource｜>"),
    results=together(
        Wrap(open="<tool_responses:opensource>\n", close="\n</tool_responses:opensource>"),
        ("<tool_response:opensource>\n", Slot.CONTENT, "\n</tool_response:opensource>"),
        markers=("<tool_response:opensource>", "</tool_response:opensource>", "</tool_responses:opensource>"),
    ),
    tools=ToolSection(tools=tool_prompts.HUNYUAN_3),
    prefill="<think:opensource></think:opensource>",
    markers=words(
        "<｜hy_begin_of_sentence:opensource｜> <｜hy_User:opensource｜> <｜hy_Assistant:opensource｜> "
        "<｜hy_eos:opensource｜> <｜reasoning_mode:opensource｜>"
    ),
)
LONGCAT = Turns(
    system=Wrap(open="<longcat_system>"),
    user=Wrap(open="<longcat_user>", close=" /think_on "),
    assistant=Wrap(open="<longcat_assistant>", close="</longcat_s>"),
    results=together(
        Wrap(open="<longcat_observation>", close=" /think_on "),
        ("<longcat_tool_response>", Slot.NAME, "\n", Slot.CONTENT, "</longcat_tool_response>"),
        between="",
        markers=("<longcat_tool_response>", "</longcat_tool_response>"),
    ),
    tools=ToolSection(
        tools=tool_prompts.LONGCAT,
        place="before_system",
        open="<longcat_tool_declare>\n",
        close="</longcat_tool_declare>",
    ),
    prefill="<longcat_think>",
    markers=words(
        "<longcat_system> <longcat_user> <longcat_assistant> <longcat_observation> </longcat_s> "
        "<longcat_tool_declare> </longcat_tool_declare>"
    ),
)
LING = Turns(
    system=Wrap(open="<role>SYSTEM</role>", close="\ndetailed thinking off<|role_end|>"),
    user=Wrap(open="<role>HUMAN</role>", close="<|role_end|>"),
    assistant=Wrap(open="<role>ASSISTANT</role>", close="<|role_end|>"),
    results=together(
        Wrap(open="<role>OBSERVATION</role>", close="<|role_end|>"),
        ("\n<tool_response>\n", Slot.CONTENT, "\n</tool_response>"),
        between="",
    ),
    tools=ToolSection(tools=tool_prompts.HERMES, between="\n"),
    markers=("<role>", "</role>", "<|role_end|>", "<|endoftext|>"),
)
