"""Small documents of services, and calling their tools as the runtime does."""

from __future__ import annotations

from typing import Any

from wieldy.connect import openapi
from wieldy.connect.rest.toolset import OpenApiToolset
from wieldy.core.context import Context
from wieldy.core.json import JsonObject

CONTEXT = Context(run_id="run", call_id="call", tool_name="do", idempotency_key="key-of-the-call")


def document(url: str, paths: dict[str, Any], *, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    """A document of version 3 with these paths."""
    return {
        "openapi": version,
        "info": {"title": "A service", "version": "1"},
        "servers": [{"url": url}],
        "paths": paths,
        **more,
    }


def operation(
    method: str = "get", path: str = "/things", *, name: str = "do", **value: Any
) -> dict[str, dict[str, dict[str, Any]]]:
    """One path with one operation."""
    return {path: {method: {"operationId": name, "responses": {"200": {"description": "good"}}, **value}}}


def body(schema: object, media_type: str = "application/json", **more: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {media_type: {"schema": schema, **more}}}}


def query(name: str, schema: object, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **more}


async def call(toolset: OpenApiToolset, arguments: JsonObject, *, name: str = "do") -> object:
    """What the tool returns for these arguments, once they were checked."""
    tool = toolset.get(name)
    assert tool is not None, toolset.diagnostics
    values = tool.validate(arguments).values
    return await tool.bind(values, CONTEXT)()


async def send(source: dict[str, Any], arguments: JsonObject, **options: Any) -> object:
    """The same for a toolset that is opened only for this."""
    async with openapi(source, **options) as toolset:
        return await call(toolset, arguments)
