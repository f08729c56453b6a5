"""The turns of the model families, as they are written where a model's own chat template is not at hand.

Each constant is data: `dataclasses.replace` makes a variant. `begin` holds the token with which a text begins, which
many engines add by themselves: `replace(turns, begin="")` leaves it out. `prefill` is what the family's template puts
there when no more is asked for; replace it to switch thinking on or off. What a family writes at the beginning of a
reply itself, such as a space or `</think>`, belongs to the reply and is the format's. Dates, names and system messages
that official templates add by themselves are left out.
"""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats import tool_prompts
from wieldy.formats.turns import Results, Slot, Template, ToolSection, Turns, Wrap
from wieldy.formats.wire_ids import counted, function_index, nine_characters


def _words(markers: str) -> tuple[str, ...]:
    return tuple(markers.split())


_IM = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
_RESPONSE = ("<tool_response>", "</tool_response>")
_RESPONSE_LINES: Template = ("<tool_response>\n", Slot.CONTENT, "\n</tool_response>")


def _chatml(role: str) -> Wrap:
    return Wrap(open=f"<|im_start|>{role}\n", close="<|im_end|>\n")


def _each(wrap: Wrap, *content: str | Slot) -> Results:
    """Each result is a turn of its own."""
    return Results(each=(wrap.open, *(content or (Slot.CONTENT,)), wrap.close))


def _together(wrap: Wrap, each: Template, *, between: str = "\n", markers: tuple[str, ...] = _RESPONSE) -> Results:
    """All results are one turn."""
    return Results(each=each, open=wrap.open, between=between, close=wrap.close, markers=markers)


# ChatML and its relatives

CHATML = Turns(
    system=_chatml("system"),
    user=_chatml("user"),
    assistant=_chatml("assistant"),
    results=_together(_chatml("user"), _RESPONSE_LINES),
    markers=_IM,
)
HERMES = replace(CHATML, tools=ToolSection(tools=tool_prompts.HERMES))
_RESPONSES_AND_LINE = _together(Wrap(open="<|im_start|>user\n", close="\n<|im_end|>\n"), _RESPONSE_LINES)
QWEN3_CODER = replace(CHATML, results=_RESPONSES_AND_LINE, tools=ToolSection(tools=tool_prompts.QWEN3_CODER))
QWEN3_5 = replace(CHATML, tools=ToolSection(tools=tool_prompts.QWEN3_5, place="system_start"), prefill="<think>\n")
NEMOTRON_3 = replace(QWEN3_CODER, prefill="<think>\n")
STEP_3_5 = replace(
    CHATML,
    tools=ToolSection(tools=tool_prompts.QWEN3_5),
    begin="<｜begin▁of▁sentence｜>",
    prefill="<think>\n",
    results=_together(_chatml("tool_response"), ("<tool_response>", Slot.CONTENT, "</tool_response>"), between=""),
)
MINICPM_5 = replace(CHATML, tools=ToolSection(tools=tool_prompts.MINICPM_5), begin="<s>")
OLMO_3 = replace(
    CHATML,
    results=_each(_chatml("environment")),
    tools=ToolSection(tools=tool_prompts.OLMO_3, between=""),
    markers=(*_IM, "<functions>", "</functions>"),
)
LFM2 = replace(
    CHATML,
    begin="<|startoftext|>",
    results=_each(_chatml("tool")),
    tools=ToolSection(tools=tool_prompts.LFM2, between="\n"),
    markers=(*_IM, "<|startoftext|>", "<|tool_call_start|>", "<|tool_call_end|>"),
)
INTERNLM = replace(
    CHATML,
    begin="<s>",
    results=_each(Wrap(open="<|im_start|>environment name=<|plugin|>\n", close="<|im_end|>\n")),
    tools=ToolSection(
        tools=tool_prompts.INTERNLM,
        place="after_system",
        open="<|im_start|>system name=<|plugin|>\n",
        close="<|im_end|>\n",
    ),
    markers=(*_IM, "<|action_start|>", "<|action_end|>", "<|plugin|>", "<|interpreter|>"),
)
XLAM_QWEN = Turns(
    system=Wrap(open="<|im_start|>system\n", close="<|im_end|>", tail="\n"),
    user=Wrap(open="<|im_start|>user\n", close="<|im_end|>"),
    assistant=Wrap(open="<|im_start|>assistant\n", close="<|im_end|>"),
    results=_each(Wrap(open="<|im_start|>tool\n", close="<|im_end|>")),
    tools=ToolSection(tools=tool_prompts.XLAM, between="", close="\n\n"),
    markers=_IM,
)

# Llama


def _llama(role: str) -> Wrap:
    return Wrap(open=f"<|start_header_id|>{role}<|end_header_id|>\n\n", close="<|eot_id|>")


def _llama_4(role: str) -> Wrap:
    return Wrap(open=f"<|header_start|>{role}<|header_end|>\n\n", close="<|eot|>")


LLAMA_3 = Turns(
    begin="<|begin_of_text|>",
    system=_llama("system"),
    user=_llama("user"),
    assistant=_llama("assistant"),
    results=_each(_llama("ipython"), Slot.JSON_TEXT),
    stops=("<|eom_id|>", "<|end_of_text|>"),
    markers=_words(
        "<|begin_of_text|> <|end_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> <|eom_id|> <|python_tag|>"
    ),
)
LLAMA_JSON = replace(LLAMA_3, tools=ToolSection(tools=tool_prompts.LLAMA_JSON, place="first_user"))
PYTHONIC = replace(
    LLAMA_3,
    results=_each(_llama("ipython"), '{"output": ', Slot.JSON_TEXT, "}"),
    tools=ToolSection(tools=tool_prompts.PYTHONIC, place="system_start"),
)
XLAM = replace(
    LLAMA_3,
    system=replace(_llama("system"), tail="\n"),
    results=_each(_llama("ipython")),
    tools=ToolSection(tools=tool_prompts.XLAM, between="", close="\n\n"),
)
FUNCTIONARY = replace(
    LLAMA_3,
    results=_each(_llama("ipython")),
    call_close="<|eom_id|>",
    tools=ToolSection(
        tools=tool_prompts.FUNCTIONARY, place="before_system", open=_llama("system").open, close="<|eot_id|>"
    ),
)
LLAMA_NEMOTRON = replace(
    LLAMA_3,
    results=_together(
        Wrap(open=_llama("tool").open + "<TOOL_RESPONSE>[", close="]</TOOL_RESPONSE><|eot_id|>"),
        (Slot.JSON_VALUE,),
        between=", ",
        markers=("<TOOL_RESPONSE>", "</TOOL_RESPONSE>"),
    ),
    system=replace(_llama("system"), tail="\n\n"),
    tools=ToolSection(tools=tool_prompts.NEMOTRON, between=""),
)
LLAMA_4 = Turns(
    begin="<|begin_of_text|>",
    system=_llama_4("system"),
    user=_llama_4("user"),
    assistant=_llama_4("assistant"),
    results=_each(_llama_4("ipython"), Slot.JSON_TEXT),
    tools=ToolSection(tools=tool_prompts.PYTHONIC, place="first_user"),
    stops=("<|eom|>", "<|end_of_text|>"),
    markers=_words(
        "<|begin_of_text|> <|end_of_text|> <|header_start|> <|header_end|> <|eot|> <|eom|> <|python_start|> "
        "<|python_end|>"
    ),
)

# Mistral

_MISTRAL_MARKERS = _words(
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

# DeepSeek

_DEEPSEEK_MARKERS = _words(
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

# Kimi


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
    markers=_words(
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
    stops=("<|end_of_msg|>",),
    markers=("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"),
)

# GLM and relatives

_GLM_MARKERS = _words("[gMASK] <sop> <|system|> <|user|> <|assistant|> <|observation|> <|endoftext|>")
_GLM_STOPS = ("<|user|>", "<|observation|>", "<|endoftext|>")
GLM_4_5 = Turns(
    begin="[gMASK]<sop>",
    system=Wrap(open="<|system|>\n"),
    user=Wrap(open="<|user|>\n"),
    assistant=Wrap(open="<|assistant|>"),
    results=_together(
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
    results=_together(Wrap(open="<|observation|>"), ("<tool_response>", Slot.CONTENT, "</tool_response>"), between=""),
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
    results=_together(
        Wrap(open="<tool_responses:opensource>\n", close="\n</tool_responses:opensource>"),
        ("<tool_response:opensource>\n", Slot.CONTENT, "\n</tool_response:opensource>"),
        markers=("<tool_response:opensource>", "</tool_response:opensource>", "</tool_responses:opensource>"),
    ),
    tools=ToolSection(tools=tool_prompts.HUNYUAN_3),
    prefill="<think:opensource></think:opensource>",
    markers=_words(
        "<｜hy_begin_of_sentence:opensource｜> <｜hy_User:opensource｜> <｜hy_Assistant:opensource｜> "
        "<｜hy_eos:opensource｜> <｜reasoning_mode:opensource｜>"
    ),
)
LONGCAT = Turns(
    system=Wrap(open="<longcat_system>"),
    user=Wrap(open="<longcat_user>", close=" /think_on "),
    assistant=Wrap(open="<longcat_assistant>", close="</longcat_s>"),
    results=_together(
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
    markers=_words(
        "<longcat_system> <longcat_user> <longcat_assistant> <longcat_observation> </longcat_s> "
        "<longcat_tool_declare> </longcat_tool_declare>"
    ),
)
LING = Turns(
    system=Wrap(open="<role>SYSTEM</role>", close="\ndetailed thinking off<|role_end|>"),
    user=Wrap(open="<role>HUMAN</role>", close="<|role_end|>"),
    assistant=Wrap(open="<role>ASSISTANT</role>", close="<|role_end|>"),
    results=_together(
        Wrap(open="<role>OBSERVATION</role>", close="<|role_end|>"),
        ("\n<tool_response>\n", Slot.CONTENT, "\n</tool_response>"),
        between="",
    ),
    tools=ToolSection(tools=tool_prompts.HERMES, between="\n"),
    markers=("<role>", "</role>", "<|role_end|>", "<|endoftext|>"),
)

# MiniMax


def _minimax(role: str) -> Wrap:
    return Wrap(open=f"]~b]{role}\n", close="[e~[\n")


def _minimax_m1(role: str) -> Wrap:
    return Wrap(open=f"<beginning_of_sentence>{role}\n", close="<end_of_sentence>\n")


MINIMAX_M1 = Turns(
    begin="<begin_of_document>",
    system=_minimax_m1("system ai_setting=assistant"),
    user=_minimax_m1("user name=user"),
    assistant=_minimax_m1("ai name=assistant"),
    results=_each(_minimax_m1("tool name=tools"), "tool name: ", Slot.NAME, "\ntool result: ", Slot.CONTENT, "\n\n"),
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
    results=_together(
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

# harmony, Gemma

HARMONY = Turns(
    begin="<|start|>system<|message|># Valid channels: analysis, commentary, final.<|end|>",
    system=Wrap(open="<|start|>developer<|message|>", close="<|end|>", head="# Instructions\n\n", tail="\n\n"),
    user=Wrap(open="<|start|>user<|message|>", close="<|end|>"),
    assistant=Wrap(open="<|start|>assistant", close="<|end|>"),
    call_close="<|call|>",
    last_close="<|return|>",
    results=Results(
        each=(
            "<|start|>functions.",
            Slot.NAME,
            " to=assistant<|channel|>commentary<|message|>",
            Slot.JSON_TEXT,
            "<|end|>",
        )
    ),
    tools=ToolSection(tools=tool_prompts.HARMONY, between=""),
    markers=_words("<|start|> <|message|> <|channel|> <|constrain|> <|end|> <|return|> <|call|> <|endoftext|>"),
)


def _gemma(role: str) -> Wrap:
    return Wrap(open=f"<start_of_turn>{role}\n", close="<end_of_turn>\n")


_GEMMA_MARKERS = ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>")
GEMMA = Turns(
    begin="<bos>",
    system="first_user",
    user=_gemma("user"),
    assistant=_gemma("model"),
    results=_together(_gemma("user"), _RESPONSE_LINES),
    tools=ToolSection(tools=tool_prompts.PYTHONIC, place="first_user"),
    markers=_GEMMA_MARKERS,
)
GEMMA_4 = Turns(
    begin="<bos>",
    system=Wrap(open="<|turn>system\n", close="<turn|>\n"),
    user=Wrap(open="<|turn>user\n", close="<turn|>\n"),
    assistant=Wrap(open="<|turn>model\n", close="<turn|>\n"),
    call_close="<|tool_response>",
    results=Results(
        each=("response:", Slot.NAME, '{value:<|"|>', Slot.CONTENT, '<|"|>}<tool_response|>'),
        between="<|tool_response>",
    ),
    openings={("tool", "assistant"): "", ("tool", "user"): "<turn|>\n<|turn>user\n"},
    tools=ToolSection(tools=tool_prompts.GEMMA_4, between=""),
    markers=_words(
        "<bos> <eos> <|turn> <turn|> <|tool> <tool|> <|tool_call> <tool_call|> <|tool_response> "
        '<tool_response|> <|channel> <channel|> <|"|> <|think|>'
    ),
)
FUNCTIONGEMMA = replace(
    GEMMA,
    system=_gemma("developer"),
    call_close="<start_function_response>",
    results=Results(
        each=("response:", Slot.NAME, "{value:<escape>", Slot.CONTENT, "<escape>}<end_function_response>"),
        between="<start_function_response>",
    ),
    openings={("tool", "assistant"): "", ("tool", "user"): "<end_of_turn>\n<start_of_turn>user\n"},
    tools=ToolSection(tools=tool_prompts.FUNCTIONGEMMA, between=""),
    markers=(
        *_GEMMA_MARKERS,
        *_words(
            "<escape> <start_function_declaration> <end_function_declaration> <start_function_call> "
            "<end_function_call> <start_function_response> <end_function_response>"
        ),
    ),
)

# Granite, Phi, Cohere


def _granite(role: str) -> Wrap:
    return Wrap(open=f"<|start_of_role|>{role}<|end_of_role|>", close="<|end_of_text|>\n")


GRANITE_3 = Turns(
    system=_granite("system"),
    user=_granite("user"),
    assistant=_granite("assistant"),
    results=_each(_granite("tool")),
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
    results=_together(_granite("user"), ("\n<tool_response>\n", Slot.CONTENT, "\n</tool_response>"), between=""),
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
    results=_each(Wrap(open="<|tool|>\n", close="<|end|>\n")),
    stops=("<|endoftext|>",),
    markers=("<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|/tool|>", "<|end|>", "<|endoftext|>"),
)
PHI_4_MINI = Turns(
    system=Wrap(open="<|system|>", close="<|end|>"),
    user=Wrap(open="<|user|>", close="<|end|>"),
    assistant=Wrap(open="<|assistant|>", close="<|end|>"),
    results=_each(Wrap(open="<|tool|>", close="<|end|>")),
    tools=ToolSection(tools=tool_prompts.PHI_4_MINI, between=""),
    stops=("<|endoftext|>",),
    markers=PHI_3.markers,
)
PHI_4 = Turns(
    system=Wrap(open="<|im_start|>system<|im_sep|>", close="<|im_end|>"),
    user=Wrap(open="<|im_start|>user<|im_sep|>", close="<|im_end|>"),
    assistant=Wrap(open="<|im_start|>assistant<|im_sep|>", close="<|im_end|>"),
    results=_each(Wrap(open="<|im_start|>tool<|im_sep|>", close="<|im_end|>")),
    markers=(*_IM, "<|im_sep|>"),
)


def _cohere(role: str, *, head: str = "", tail: str = "") -> Wrap:
    return Wrap(open=f"<|START_OF_TURN_TOKEN|><|{role}_TOKEN|>{head}", close=f"{tail}<|END_OF_TURN_TOKEN|>")


_COHERE_MARKERS = _words(
    "<BOS_TOKEN> <EOS_TOKEN> <|START_OF_TURN_TOKEN|> <|END_OF_TURN_TOKEN|> <|SYSTEM_TOKEN|> "
    "<|USER_TOKEN|> <|CHATBOT_TOKEN|> <|START_THINKING|> <|END_THINKING|> <|START_RESPONSE|> "
    "<|END_RESPONSE|> <|START_TEXT|> <|END_TEXT|> <|START_ACTION|> <|END_ACTION|> <|START_TOOL_RESULT|> "
    "<|END_TOOL_RESULT|>"
)
COMMAND_R = Turns(
    begin="<BOS_TOKEN>",
    system=_cohere("SYSTEM"),
    user=_cohere("USER"),
    assistant=_cohere("CHATBOT"),
    results=Results(
        each=("<results>\n", Slot.CONTENT, "</results>"),
        open=_cohere("SYSTEM").open,
        between=_cohere("SYSTEM").close + _cohere("SYSTEM").open,
        close=_cohere("SYSTEM").close,
        markers=("<results>", "</results>"),
    ),
    tools=ToolSection(tools=tool_prompts.COMMAND_R),
    markers=_COHERE_MARKERS,
)


def _cohere_results(before: str, after: str) -> Results:
    return Results(
        each=(
            '    {\n        "tool_call_id": "',
            Slot.ID,
            f'",\n        "results": {{\n            "0": {before}',
            Slot.JSON_TEXT,
            f'{after}\n        }},\n        "is_error": ',
            Slot.ERROR,
            "\n    }",
        ),
        open=_cohere("SYSTEM").open + "<|START_TOOL_RESULT|>[\n",
        between=",\n",
        close="\n]<|END_TOOL_RESULT|>" + _cohere("SYSTEM").close,
    )


COMMAND_R7B = replace(
    COMMAND_R,
    results=_cohere_results("", ""),
    tools=ToolSection(tools=tool_prompts.COMMAND_A),
    prefill="<|START_THINKING|><|END_THINKING|>",
    wire_id=counted,
)
COMMAND_A = replace(
    COMMAND_R7B,
    system=_cohere("SYSTEM", head="<|START_TEXT|>", tail="<|END_TEXT|>"),
    user=_cohere("USER", head="<|START_TEXT|>", tail="<|END_TEXT|>"),
    results=_cohere_results('{"content": ', "}"),
    prefill="<|START_THINKING|>",
)

# Others


def _jamba(role: str) -> Wrap:
    return Wrap(open=f"<|bom|><|{role}|> ", close="<|eom|>")


def _apriel(role: str) -> Wrap:
    return Wrap(open=f"<|begin_{role}|>\n", close="\n")


SEED_OSS = Turns(
    system=Wrap(open="<seed:bos>system\n", close="<seed:eos>"),
    user=Wrap(open="<seed:bos>user\n", close="<seed:eos>"),
    assistant=Wrap(open="<seed:bos>assistant\n", close="<seed:eos>"),
    results=_each(Wrap(open="<seed:bos>tool\n", close="<seed:eos>")),
    tools=ToolSection(tools=tool_prompts.SEED_OSS),
    markers=("<seed:bos>", "<seed:eos>", "<seed:pad>", "<seed:tool_call>", "</seed:tool_call>"),
)
JAMBA = Turns(
    begin="<|startoftext|>",
    system=_jamba("system"),
    user=_jamba("user"),
    assistant=Wrap(open="<|bom|><|assistant|>", close="<|eom|>"),
    results=_each(_jamba("tool"), "(", Slot.NAME, ")", Slot.CONTENT),
    tools=ToolSection(tools=tool_prompts.JAMBA),
    markers=("<|startoftext|>", "<|endoftext|>", "<|bom|>", "<|eom|>"),
)
NEMOTRON = Turns(
    system=Wrap(open="<SPECIAL_10>System\n", close="\n\n"),
    user=Wrap(open="<SPECIAL_11>User\n", close="\n"),
    assistant=Wrap(open="<SPECIAL_11>Assistant\n", close="\n<SPECIAL_12>\n"),
    results=_together(
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
    results=_each(Wrap(open="<extra_id_1>Tool\n", close="\n")),
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
    markers=_words(
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
    results=_each(Wrap(open="<|BOT|>tool\n ", close=" <|EOT|>")),
    tools=ToolSection(tools=tool_prompts.STEP_3, place="before_system", open=" "),
    prefill="<think>\n",
    markers=("<|BOT|>", "<|EOT|>", "<｜tool_calls_begin｜>", "<｜tool_calls_end｜>", "<｜tool_call_begin｜>"),
)
ERNIE_4_5 = Turns(
    begin="<|begin_of_sentence|>",
    system=Wrap(close="\n"),
    user=Wrap(open="User: ", close="\n"),
    assistant=Wrap(open="Assistant: ", close="<|end_of_sentence|>"),
    results=_together(Wrap(open="User: ", close="\n"), _RESPONSE_LINES),
    tools=ToolSection(tools=tool_prompts.HERMES),
    markers=("<|begin_of_sentence|>", "<|end_of_sentence|>", "\nUser:", "\nAssistant:"),
)
HUNYUAN = Turns(
    system=Wrap(open="<|startoftext|>", close="<|extra_4|>"),
    user=Wrap(open="<|startoftext|>", close="<|extra_0|>"),
    assistant=Wrap(close="<|eos|>"),
    results=_together(Wrap(open="<|startoftext|>", close="<|extra_0|>"), _RESPONSE_LINES),
    openings={("system", "user"): ""},
    tools=ToolSection(tools=tool_prompts.HUNYUAN),
    markers=("<|startoftext|>", "<|extra_0|>", "<|extra_4|>", "<|extra_5|>", "<|eos|>"),
)
APRIEL = Turns(
    begin="<s>",
    system=_apriel("system"),
    user=_apriel("user"),
    assistant=Wrap(open="<|begin_assistant|>\n", close="\n<|end|>\n"),
    results=_each(_apriel("tool_result")),
    tools=ToolSection(tools=tool_prompts.HUNYUAN, between="\n"),
    prefill="Here are my reasoning steps:\n",
    markers=_words("<|begin_system|> <|begin_user|> <|begin_assistant|> <|begin_tool_result|> <|end|>"),
)

# Without special tokens

CLAUDE_2 = Turns(
    system=Wrap(),
    user=Wrap(open="\n\nHuman: "),
    assistant=Wrap(open="\n\nAssistant:"),
    results=Results(
        each=(
            "<result>\n<tool_name>",
            Slot.NAME,
            "</tool_name>\n<stdout>\n",
            Slot.CONTENT,
            "\n</stdout>\n</result>",
        ),
        open="\n\nHuman: <function_results>\n",
        between="\n",
        close="\n</function_results>",
        markers=("<result>", "</result>", "<stdout>", "</stdout>", "</function_results>"),
    ),
    tools=ToolSection(tools=tool_prompts.CLAUDE_2, place="system_start"),
    stops=("\n\nHuman:",),
    markers=("\nHuman:", "\nAssistant:"),
)
PLAIN_TEXT = Turns(
    system=Wrap(close="\n\n"),
    user=Wrap(open="User: ", close="\n\n"),
    assistant=Wrap(open="Assistant:", close="\n\n"),
    results=Results(each=("Result of ", Slot.NAME, ": ", Slot.CONTENT, "\n\n")),
    stops=("\nUser:", "\nResult of"),
    markers=("\nUser:", "\nAssistant:", "\nResult of "),
)
REACT = replace(
    PLAIN_TEXT,
    results=Results(each=("Observation: ", Slot.CONTENT, "\n\n")),
    tools=ToolSection(tools=tool_prompts.REACT),
    stops=("\nUser:", "\nObservation:"),
    markers=("\nUser:", "\nAssistant:", "\nObservation:"),
)
MARKERS = replace(PLAIN_TEXT, tools=ToolSection(tools=tool_prompts.MARKERS))
JSON = replace(PLAIN_TEXT, tools=ToolSection(tools=tool_prompts.JSON))
