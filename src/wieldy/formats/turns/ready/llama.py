"""The headers of Llama 3 and 4, and families that were tuned from them."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import each, together, words
from wieldy.formats.turns.turns import Slot, ToolSection, Turns, Wrap


def _llama(role: str) -> Wrap:
    return Wrap(open=f"<|start_header_id|>{role}<|end_header_id|>\n\n", close="<|eot_id|>")


def _llama_4(role: str) -> Wrap:
    return Wrap(open=f"<|header_start|>{role}<|header_end|>\n\n", close="<|eot|>")


LLAMA_3 = Turns(
    begin="<|begin_of_text|>",
    system=_llama("system"),
    user=_llama("user"),
    assistant=_llama("assistant"),
    results=each(_llama("ipython"), Slot.JSON_TEXT),
    stops=("<|eom_id|>", "<|end_of_text|>"),
    markers=words(
        "<|begin_of_text|> <|end_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|> <|eom_id|> <|python_tag|>"
    ),
)
LLAMA_JSON = replace(LLAMA_3, tools=ToolSection(tools=tool_prompts.LLAMA_JSON, place="first_user"))
PYTHONIC = replace(
    LLAMA_3,
    results=each(_llama("ipython"), '{"output": ', Slot.JSON_TEXT, "}"),
    tools=ToolSection(tools=tool_prompts.PYTHONIC, place="system_start"),
)
XLAM = replace(
    LLAMA_3,
    system=replace(_llama("system"), tail="\n"),
    results=each(_llama("ipython")),
    tools=ToolSection(tools=tool_prompts.XLAM, between="", close="\n\n"),
)
FUNCTIONARY = replace(
    LLAMA_3,
    results=each(_llama("ipython")),
    call_close="<|eom_id|>",
    tools=ToolSection(
        tools=tool_prompts.FUNCTIONARY, place="before_system", open=_llama("system").open, close="<|eot_id|>"
    ),
)
LLAMA_NEMOTRON = replace(
    LLAMA_3,
    results=together(
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
    results=each(_llama_4("ipython"), Slot.JSON_TEXT),
    tools=ToolSection(tools=tool_prompts.PYTHONIC, place="first_user"),
    stops=("<|eom|>", "<|end_of_text|>"),
    markers=words(
        "<|begin_of_text|> <|end_of_text|> <|header_start|> <|header_end|> <|eot|> <|eom|> <|python_start|> "
        "<|python_end|>"
    ),
)
