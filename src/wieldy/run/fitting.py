"""Whether a call is one that could run: it names a tool that there is, and its arguments fit that tool's schema.

Each failure is an error whose text a small model can act on. Deliberately not here: whether the call may run
(`pipeline`), and reading calls out of text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wieldy.core.errors import ArgumentsError, ParseError, UnknownToolError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.run.journal.encoding import bytes_from_data, data_from_bytes
from wieldy.run.replies import NESTING_LIMIT, is_nested_deeper, too_deep
from wieldy.schema import nearest_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wieldy.core.calls import InvalidToolCall, ToolCall
    from wieldy.tools import Tool, ValidArguments

_NAMED_TOOLS: Final = 10
"""How many tools an error names before it only counts them."""


def look_up(name: str, tools: Mapping[str, Tool], *, beside: int = 0) -> Tool:
    """The tool of that name.

    Args:
        name: As it was written.
        tools: By name.
        beside: How many more there are, all of other names.

    Raises:
        UnknownToolError: There is none; the nearest names are in the text.
    """
    tool = tools.get(name)
    if tool is not None:
        return tool
    names = list(tools)
    if not names and not beside:
        raise UnknownToolError(f"There is no tool `{name}`: there are no tools here. Answer in text.", name=name)
    nearest = nearest_names(name, names, most=3)
    if nearest:
        hint = f"Did you mean {' or '.join(f'`{candidate}`' for candidate in nearest)}?"
    elif len(names) <= _NAMED_TOOLS and not beside:
        hint = f"The tools are {', '.join(f'`{candidate}`' for candidate in names)}."
    else:
        hint = f"None of the {len(names) + beside} tools has a similar name; use one that you were given."
    raise UnknownToolError(f"There is no tool `{name}`. {hint}", name=name, nearest=nearest)


def unreadable(call: InvalidToolCall, tools: Mapping[str, Tool]) -> ParseError:
    """Why the call could not be read, with arguments that would fit where the tool shows some."""
    tool = tools.get(call.name or "")
    examples = tool.definition.examples if tool is not None else ()
    example = f" Arguments that fit: {canonical_json(examples[0])}" if examples else ""
    return ParseError(call.error + example)


def fitting_arguments(call: ToolCall, tool: Tool) -> ValidArguments:
    """The call's arguments as they fit the tool, repaired where they have only one reading.

    Raises:
        ModelVisibleError: They do not fit; the text says what would.
    """
    # A copy, so that a tool that changes what it is given does not change the history.
    arguments = tool.validate(copied(call.arguments))
    # Asked again where JSON that the model wrote as text was read on the way.
    if arguments.repairs and is_nested_deeper(arguments.json, levels=NESTING_LIMIT):
        raise ArgumentsError(too_deep(call.name))
    return arguments


def copied(arguments: JsonObject) -> JsonObject:
    """Equal arguments that share nothing with these."""
    return data_from_bytes(bytes_from_data(arguments))
