"""The tools of a request, and whether they may or must be called. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from wieldy.connect.serving.chat.fields import FieldError, Fields, inside, shown
from wieldy.core.calls import AUTO, ToolChoice, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.tools.from_schema import tool_from_schema

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.tools import Tool

_PLAIN: Final = ("auto", "none", "required")


class Offered(NamedTuple):
    """What a model may call.

    Attributes:
        tools: By name, in the client's order.
        choice: Whether it may, must or must not.
    """

    tools: Mapping[str, Tool]
    choice: ToolChoice


def offered_in(fields: Fields) -> Offered:
    """What the request offers.

    Raises:
        FieldError: A tool is none, or the choice does not go with the tools.
    """
    tools: dict[str, Tool] = {}
    for index, item in enumerate(fields.items("tools")):
        path = f"tools[{index}]"
        tool = _tool(item, path)
        if tool.name in tools:
            raise FieldError(f"Expected each tool to have a name of its own, found {tool.name!r} twice.", param=path)
        tools[tool.name] = tool
    choice = fields.anything("tool_choice")
    return Offered(tools, AUTO) if choice is None else _chosen(choice, tools)


def _tool(item: object, path: str) -> Tool:
    fields = _function_in(item, path)
    name, description = fields.take("name", str), fields.take("description", str)
    schema = cast("JsonObject | None", fields.take("parameters", dict))
    definition = ToolDefinition(
        name=name or "",
        description=description or "",
        input_schema={"type": "object", "properties": {}} if schema is None else schema,
    )
    try:
        return tool_from_schema(definition, _at_the_client, origin="client")
    except UsageError as error:
        raise FieldError(f"{path}: {error}", param=path) from error


async def _at_the_client(arguments: JsonObject, context: Context) -> object:
    del arguments, context
    raise UsageError("The tool is the client's: it is called there.")


def _function_in(item: object, path: str) -> Fields:
    fields = inside(item, path=path)
    kind = fields.anything("type")
    if kind != "function":
        raise FieldError(
            f"Expected a tool of type 'function', found {shown(kind)}: other kinds are not served.",
            param=f"{path}.type",
            code="unsupported_value",
        )
    return inside(fields.anything("function"), path=f"{path}.function")


def _chosen(choice: Any, tools: Mapping[str, Tool]) -> Offered:
    match choice:
        case "auto" | "none":
            return Offered(tools, ToolChoice(mode=choice))
        case "required":
            return Offered(_some(tools), ToolChoice(mode="required"))
        case {"type": "function", "function": {"name": str(name)}}:
            return Offered(tools, ToolChoice(mode="tool", name=_known(name, tools)))
        case {"type": "allowed_tools"}:
            return _allowed(inside(choice.get("allowed_tools"), path="tool_choice.allowed_tools"), tools)
        case _:
            raise FieldError(
                f"Expected 'tool_choice' to be one of {', '.join(_PLAIN)}, a function by its name or allowed tools, "
                f"found {shown(choice)}.",
                param="tool_choice",
            )


def _allowed(fields: Fields, tools: Mapping[str, Tool]) -> Offered:
    mode = fields.take("mode", str) or "auto"
    names = {_name_in(each, tools) for each in fields.items("tools")}
    kept = {name: tool for name, tool in tools.items() if name in names}
    if mode == "auto":
        return Offered(kept, AUTO)
    if mode == "required":
        return Offered(_some(kept), ToolChoice(mode="required"))
    raise FieldError(f"Expected the mode 'auto' or 'required', found {mode!r}.", param=fields.named("mode"))


def _some(tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    if not tools:
        raise FieldError("Expected tools where a call is required, found none.", param="tool_choice")
    return tools


def _name_in(allowed: Any, tools: Mapping[str, Tool]) -> str:
    match allowed:
        case {"type": "function", "function": {"name": str(name)}}:
            return _known(name, tools)
        case _:
            raise FieldError(
                f"Expected an allowed tool as a function by its name, found {shown(allowed)}.", param="tool_choice"
            )


def _known(name: str, tools: Mapping[str, Tool]) -> str:
    if name not in tools:
        raise FieldError(
            f"Expected 'tool_choice' to name one of the request's tools, found {name!r}.", param="tool_choice"
        )
    return name
