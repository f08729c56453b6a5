"""AgentDojo's tools as tools of an agent, carried out on one environment."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ToolError
from wieldy.evals.agentdojo.declarations import DECLARED
from wieldy.evals.agentdojo.tasks import Place, carried_out
from wieldy.tools.from_schema import Code, tool_from_schema

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject
    from wieldy.tools import Tool


def tools_on(place: Place, environment: Any) -> list[Tool]:
    """The suite's tools; what one changes, the next one finds changed."""

    async def run(arguments: JsonObject, context: Context) -> object:
        value, error = carried_out(place.suite, environment, context.tool_name, arguments)
        if error is not None:
            raise ToolError(error)
        return value

    return [_tool(definition, run) for definition in definitions_of(place)]


@cache
def definitions_of(place: Place) -> tuple[ToolDefinition, ...]:
    """What a model sees of the suite's tools."""
    return tuple(
        ToolDefinition(
            name=function.name,
            description=function.description,
            input_schema=function.parameters.model_json_schema(),
        )
        for function in place.suite.tools
    )


def _tool(definition: ToolDefinition, code: Code) -> Tool:
    declared = DECLARED[definition.name]
    origin = f"agentdojo:{definition.name}"
    return tool_from_schema(definition, code, origin=origin, effect=declared.effect, trust=declared.trust)
