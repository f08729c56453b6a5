"""Google's Gemma, with and without tools of its own."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import RESPONSE_LINES, together, words
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap


def _gemma(role: str) -> Wrap:
    return Wrap(open=f"<start_of_turn>{role}\n", close="<end_of_turn>\n")


_GEMMA_MARKERS = ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>")
GEMMA = Turns(
    begin="<bos>",
    system="first_user",
    user=_gemma("user"),
    assistant=_gemma("model"),
    results=together(_gemma("user"), RESPONSE_LINES),
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
    markers=words(
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
        *words(
            "<escape> <start_function_declaration> <end_function_declaration> <start_function_call> "
            "<end_function_call> <start_function_response> <end_function_response>"
        ),
    ),
)
