"""The function-calling shell: a virtual tool whose arguments are the answer, for servers without response formats.

The model is told to call it, and what it calls it with becomes the text of its answer: nobody else sees a call. Only
for requests in which no other tool may be called.
"""

from __future__ import annotations

from itertools import count
from typing import Final

from wieldy.connect.models.backends.strict import plain_schema
from wieldy.connect.models.backends.taken import Asked, Reading, Taken
from wieldy.core.calls import ToolChoice, ToolDefinition
from wieldy.core.outputs import JsonOutput, Output, schema_of

_DESCRIPTION: Final = "Give your answer by calling this; it is the only way to answer."


def in_shell(asked: Asked, output: Output) -> Taken:
    """The output as the arguments of a tool that must be called."""
    answer = plain_schema(schema_of(output))
    is_json = isinstance(output, JsonOutput)
    taken = {tool.name for tool in asked.tools}
    stem = output.name if is_json else "answer"
    names = (stem if not number else f"{stem}_{number}" for number in count())
    name = next(name for name in names if name not in taken)
    described = f"{_DESCRIPTION} {output.description}" if is_json and output.description else _DESCRIPTION
    tool = ToolDefinition(name=name, description=described, input_schema=answer.schema)
    return Taken(
        how="shell",
        tools=(*asked.tools, tool),
        tool_choice=ToolChoice(mode="tool", name=name),
        cannot=("that the arguments of the call fit the schema",),
        reading=Reading(answer=answer, is_quoted=not is_json, shell=name),
        is_told=True,
    )
