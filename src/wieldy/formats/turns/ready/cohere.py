"""Cohere's Command R, R7B and A."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.ready.wrapping import words
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap
from wieldy.formats.turns.wire_ids import counted


def _cohere(role: str, *, head: str = "", tail: str = "") -> Wrap:
    return Wrap(open=f"<|START_OF_TURN_TOKEN|><|{role}_TOKEN|>{head}", close=f"{tail}<|END_OF_TURN_TOKEN|>")


_COHERE_MARKERS = words(
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
