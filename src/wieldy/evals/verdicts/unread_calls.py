"""Whether a call that stands in a reply's text can be read after all, as some family of models writes calls.

A server without a parser for its model's calls, or with another's, hands them on as text: that is not the model's
failure. Only marks with which families begin calls count; plain JSON or Python may be meant as an answer. Deliberately
not here: calls that nobody can read (`abstentions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from wieldy import formats
from wieldy.core.calls import ToolCall, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.evals.verdicts.abstentions import is_marked
from wieldy.schema import CompiledSchema

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject

_PROMPTED: Final = frozenset({"react", "markers", "json"})
"""Forms that a prompt asks for, which no server reads."""


def unread_call(text: str, schemas: Mapping[str, JsonObject]) -> str | None:
    """The name of the offered tool of which the text holds a good call; None if it holds none.

    Args:
        text: What the model wrote, in which no call was read.
        schemas: Input schemas by the name of the tool, as the model was offered them.

    Cost: reading the text once in each format, where it has a family's mark.
    """
    if not is_marked(text):
        return None
    tools = [ToolDefinition(name=name, description="", input_schema=schema) for name, schema in schemas.items()]
    for name in formats.names():
        if name in _PROMPTED:
            continue
        calls = formats.get(name).parse(text, tools).calls
        if calls and all(isinstance(call, ToolCall) and _fits(call, schemas) for call in calls):
            return calls[0].name
    return None


def _fits(call: ToolCall, schemas: Mapping[str, JsonObject]) -> bool:
    schema = schemas.get(call.name)
    try:
        return schema is not None and CompiledSchema(schema).accepts(call.arguments)
    except UsageError:  # that schema is none
        return False
