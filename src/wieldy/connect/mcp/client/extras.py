"""Tools that read a server's resources and fill in its prompts, for models that are to find these by themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from wieldy.connect.mcp.names import offered_name
from wieldy.core.calls import ToolAnnotations, ToolDefinition
from wieldy.tools.from_schema import Code, tool_from_schema
from wieldy.tools.tool import Tool

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.toolset import McpToolset
    from wieldy.connect.mcp.config import ServerConfig
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject
    from wieldy.tools.present import Presented

_NOTHING: Final[JsonObject] = {"type": "object", "properties": {}, "additionalProperties": False}


def resource_tools(toolset: McpToolset, config: ServerConfig) -> list[Tool]:
    """To list resources, and to read one."""

    async def list_resources(arguments: JsonObject, context: Context) -> Any:
        del arguments, context
        listed = [*await toolset.resources(config.name), *await toolset.resource_templates(config.name)]
        return "\n".join(json.dumps(entry, ensure_ascii=False) for entry in listed) or "There are no resources."

    async def read_resource(arguments: JsonObject, context: Context) -> Presented:
        del context
        return await toolset.read_resource(str(arguments["uri"]), config.name)

    uri: JsonObject = {"type": "string", "description": "As the list has it, or a template with its places filled in."}
    return [
        _tool(config, "list_resources", f"List what can be read from {config.title}.", _NOTHING, list_resources),
        _tool(
            config,
            "read_resource",
            f"Read one resource of {config.title}.",
            {"type": "object", "properties": {"uri": uri}, "required": ["uri"], "additionalProperties": False},
            read_resource,
        ),
    ]


def prompt_tools(toolset: McpToolset, config: ServerConfig) -> list[Tool]:
    """To list prompts, and to fill one in."""

    async def list_prompts(arguments: JsonObject, context: Context) -> Any:
        del arguments, context
        listed = await toolset.prompts(config.name)
        return "\n".join(json.dumps(entry, ensure_ascii=False) for entry in listed) or "There are no prompts."

    async def get_prompt(arguments: JsonObject, context: Context) -> Presented:
        del context
        given = arguments.get("arguments")
        filled = {name: str(value) for name, value in given.items()} if isinstance(given, dict) else {}
        return await toolset.get_prompt(str(arguments["name"]), filled, config.name)

    schema: JsonObject = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "As the list has it."},
            "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    return [
        _tool(config, "list_prompts", f"List the prompts that {config.title} offers.", _NOTHING, list_prompts),
        _tool(config, "get_prompt", f"Fill in a prompt of {config.title}.", schema, get_prompt),
    ]


def _tool(config: ServerConfig, name: str, description: str, schema: JsonObject, code: Code) -> Tool:
    definition = ToolDefinition(
        name=offered_name(config.name, name),
        description=description,
        input_schema=schema,
        annotations=ToolAnnotations(read_only=True),
    )
    return tool_from_schema(
        definition,
        code,
        origin=f"mcp:{config.name or ''}#({name})",
        effect="read",
        effect_declared=True,
        trust="trusted" if config.is_trusted else "untrusted",
        timeout_s=config.timeout_s,
    )
