"""Turns without special tokens: Claude 2, and the schemes that any model can follow by prompt."""

from __future__ import annotations

from dataclasses import replace

from wieldy.formats.turns import tool_prompts
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap

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
