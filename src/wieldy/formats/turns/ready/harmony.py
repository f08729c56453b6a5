"""OpenAI's harmony: messages with channels."""

from __future__ import annotations

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import words
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap

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
    markers=words("<|start|> <|message|> <|channel|> <|constrain|> <|end|> <|return|> <|call|> <|endoftext|>"),
)
