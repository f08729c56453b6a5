"""A chat format of one's own: calls like `<use tool="get_weather">{"city": "Oslo"}</use>`."""

import json
from collections.abc import Sequence

from wieldy import ToolDefinition
from wieldy.formats import (
    Call,
    ChatFormat,
    Gap,
    JsonArguments,
    Literal,
    Name,
    Region,
    Results,
    Section,
    Slot,
    ToolSection,
    Turns,
    Wire,
    Wrap,
)

WIRE = Wire(
    reasoning=Region(open=Literal("<plan>"), close=Literal("</plan>"), behind=Gap("\n")),
    calls=Section(
        before=Gap("\n"),
        call=Call(
            head=(Literal('<use tool="', also=("<use tool='",)), Name(), Literal('">', also=("'>",))),
            arguments=JsonArguments(),
            close=(Literal("</use>"),),
        ),
        between=(Gap("\n"),),
    ),
)


def list_tools(tools: Sequence[ToolDefinition]) -> str:
    return "\n".join(f"{tool.name}: {tool.prompt_description} {json.dumps(tool.input_schema)}" for tool in tools)


TURNS = Turns(
    system=Wrap(open="[system]\n", close="\n"),
    user=Wrap(open="[user]\n", close="\n"),
    assistant=Wrap(open="[model]\n", close="[end]\n"),
    results=Results(each=("[result of ", Slot.NAME, "]\n", Slot.CONTENT, "\n")),
    tools=ToolSection(tools=list_tools),
    markers=("[system]", "[user]", "[model]", "[end]", "[result of"),
)

OWN = ChatFormat(name="own", models="our own", wire=WIRE, turns=TURNS)
