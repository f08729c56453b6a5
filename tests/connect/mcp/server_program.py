"""A server for tests, on the SDK's low level: its own process over standard input and output, or HTTP on the loopback.

What it does is chosen by the name of the tool, and what it did is written to a file, one line for each effect, so that
a test can count effects where the server says nothing.

    python server_program.py stdio [--era legacy]
    python server_program.py http PORT [--era legacy] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def tool(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    """A tool as the protocol describes it."""
    schema = more.pop("inputSchema", {"type": "object", "properties": {"text": {"type": "string"}}})
    return {"name": name, "description": description or f"The tool {name}.", "inputSchema": schema, **more}


READ = {"annotations": {"readOnlyHint": True}}
TOOLS: list[dict[str, Any]] = [
    tool("echo", "Say it again.", **READ),
    tool("wait", "Take long.", inputSchema={"type": "object", "properties": {"seconds": {"type": "number"}}}, **READ),
    tool("big", "Return many characters.", inputSchema={"type": "object", "properties": {"size": {"type": "integer"}}}),
    tool("count", "Have an effect and say how often."),
    tool("die_read", "Die in the middle; only reads.", **READ),
    tool("die_once", "Die in the middle the first time; only reads.", **READ),
    tool("die_unsafe", "Have an effect and die."),
    tool("die_later", "Answer, then die.", **READ),
    tool("garbage", "Write garbage to standard output, then answer.", **READ),
    tool("fail", "Fail as tools fail."),
    tool("refuse", "Fail as the protocol fails."),
    tool("picture", "Return an image, audio, resources and a link.", **READ),
    tool(
        "data",
        "Return data.",
        outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        **READ,
    ),
    tool(
        "wrong_data",
        "Return other data than promised.",
        outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        **READ,
    ),
    tool("steps", "Say how far it is.", **READ),
    tool("ask", "Ask a person.", inputSchema={"type": "object", "properties": {"url": {"type": "boolean"}}}),
    tool("confirm", "Ask for a yes, then have an effect."),
    tool("change", "Change what `echo` says of itself, and add a tool."),
    tool("environment", "Show a variable.", inputSchema={"type": "object", "properties": {"name": {"type": "string"}}}),
    tool("spawn", "Start a child that never ends.", **READ),
    tool("meet", "Answer once so many have asked.", **READ),
    tool("die_repeat", "Die in the middle the first time; may be repeated.", annotations={"idempotentHint": True}),
]
QUESTION = {
    "message": "Which size?",
    "requestedSchema": {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
}


COMPLETE = {"resultType": "complete"}
CACHED = {**COMPLETE, "ttlMs": 0, "cacheScope": "private"}


class Behaviour:
    """What the tools do; `results` are in the words of the protocol."""

    def __init__(self, log: Path | None) -> None:
        self.tools = list(TOOLS)
        self.log = log
        self.met = 0
        self.all_met = anyio.Event()

    def effect(self, what: str) -> int:
        """The effect takes place; how often it has by now."""
        if self.log is None:
            return 0
        with self.log.open("a") as file:
            file.write(f"{what}\n")
        return self.log.read_text().splitlines().count(what)

    async def call(self, name: str, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        """The result of a call."""
        method = getattr(self, f"tool_{name}", None)
        if method is None:
            return text(str(arguments.get("text", name)))
        return await method(arguments, client)

    async def tool_wait(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        self.effect("began")
        try:
            await anyio.sleep(float(arguments.get("seconds", 60)))
        except BaseException:
            self.effect("cancelled")
            raise
        return text("waited")

    async def tool_big(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        return text("x" * int(arguments["size"]))

    async def tool_count(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        return text(str(self.effect("counted")))

    async def tool_die_read(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        self.effect("died")
        sys.stderr.write("the disk is full\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
        return text("")

    async def tool_die_once(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        if self.effect("tried") == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return text("alive")

    tool_die_unsafe = tool_die_read
    tool_die_repeat = tool_die_once

    async def tool_meet(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        self.met += 1
        if self.met == int(arguments["number"]):
            self.all_met.set()
        await self.all_met.wait()
        return text(f"{self.met} have met")

    async def tool_die_later(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGKILL)
        return text("soon")

    async def tool_garbage(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        os.write(WIRE, b"this is no message\n{\n\n")
        return text("after garbage")

    async def tool_fail(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        return text("no such order") | {"isError": True}

    async def tool_refuse(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        raise client.error(-32602, "that is no good argument")

    async def tool_picture(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        return {
            "content": [
                {"type": "text", "text": "look:"},
                {"type": "image", "data": PICTURE, "mimeType": "image/png"},
                {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside", "mimeType": "text/plain"}},
                {
                    "type": "resource",
                    "resource": {"uri": "file:///b.pdf", "blob": "JVBERi0=", "mimeType": "application/pdf"},
                },
                {"type": "resource_link", "uri": "file:///c.csv", "name": "c", "description": "a table"},
            ]
        }

    async def tool_data(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": '{"n": 7}'}], "structuredContent": {"n": 7}}

    async def tool_wrong_data(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "seven"}], "structuredContent": {"n": "seven", "kept": True}}

    async def tool_steps(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        for step in (1, 2):
            await client.progress(step, 2, f"step {step}")
        return text("done")

    async def tool_ask(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        asked = {"message": "Log in", "mode": "url", "url": "https://example.org/login", "elicitationId": "1"}
        answer = await client.ask(asked if arguments.get("url") else QUESTION)
        return answer if "resultType" in answer else text(f"{answer['action']} {answer.get('content')}")

    async def tool_confirm(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        self.effect("asked")
        schema = {
            "type": "object",
            "properties": {"sure": {"type": "boolean"}, "why": {"type": "string", "default": "tidy"}},
            "required": ["sure"],
        }
        answer = await client.ask({"message": "Delete all?", "requestedSchema": schema})
        if "resultType" in answer:
            return answer
        if answer["action"] == "accept":
            self.effect("deleted")
        return text(f"{answer['action']} {answer.get('content')}")

    async def tool_change(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        self.tools[0] = tool("echo", "Say something else.")
        self.tools.append(tool("added"))
        await client.changed()
        return text("changed")

    async def tool_environment(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        return text(os.environ.get(arguments["name"], "(not set)"))

    async def tool_spawn(self, arguments: dict[str, Any], client: Any) -> dict[str, Any]:
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
        return text(f"{os.getpid()} {child.pid}")


def text(words: str) -> dict[str, Any]:
    """A result of one text."""
    return {"content": [{"type": "text", "text": words}]}


class Client:
    """Who has called: how progress, questions and errors reach them in the era that they speak."""

    def __init__(self, context: Any, params: types.CallToolRequestParams, bus: InMemorySubscriptionBus) -> None:
        self._context, self._params, self._bus = context, params, bus
        self._is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS

    def error(self, code: int, message: str) -> MCPError:
        return MCPError(code=code, message=message)

    async def progress(self, step: float, steps: float, message: str) -> None:
        await self._context.session.report_progress(step, steps, message)

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer; in the newer era, what asks for it as long as there is none."""
        if self._is_modern:
            answers = self._params.input_responses
            if answers is None:
                return {
                    "resultType": "input_required",
                    "inputRequests": {"size": {"method": "elicitation/create", "params": question}},
                    "requestState": "opaque",
                }
            assert self._params.request_state == "opaque"
            return answers["size"].model_dump(by_alias=True, exclude_none=True)  # type: ignore[union-attr]
        request = types.ElicitRequest.model_validate({"method": "elicitation/create", "params": question})
        result = await self._context.session.send_request(request, types.ElicitResult)
        return result.model_dump(by_alias=True, exclude_none=True)

    async def changed(self) -> None:
        if self._is_modern:
            await self._bus.publish(ToolsListChanged())
        else:
            await self._context.session.send_tool_list_changed()


def build(log: Path | None = None) -> Server[Any]:
    """The server object."""
    behaviour, bus = Behaviour(log), InMemorySubscriptionBus()

    async def list_tools(context: Any, params: types.PaginatedRequestParams | None) -> Any:
        # In pages, as servers with many tools do.
        start = int((params and params.cursor) or 0)
        page = {"tools": behaviour.tools[start : start + 8], **CACHED}
        return page | ({"nextCursor": str(start + 8)} if start + 8 < len(behaviour.tools) else {})

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> Any:
        return COMPLETE | await behaviour.call(params.name, params.arguments or {}, Client(context, params, bus))

    async def list_resources(context: Any, params: Any) -> Any:
        return {
            "resources": [{"uri": "note://one", "name": "one", "mimeType": "text/plain"}],
            **CACHED,
        }

    async def list_templates(context: Any, params: Any) -> Any:
        return {
            "resourceTemplates": [{"uriTemplate": "note://{name}", "name": "notes"}],
            **CACHED,
        }

    async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> Any:
        contents = [{"uri": str(params.uri), "mimeType": "text/plain", "text": f"content of {params.uri}"}]
        return {"contents": contents, **CACHED}

    async def list_prompts(context: Any, params: Any) -> Any:
        prompts = [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]
        return {"prompts": prompts, **CACHED}

    async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> Any:
        who = (params.arguments or {}).get("who")
        return COMPLETE | {"messages": [{"role": "user", "content": {"type": "text", "text": f"Say hello to {who}."}}]}

    return Server(
        "tests",
        version="1",
        instructions="For tests.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_subscriptions_listen=ListenHandler(bus),
    )


class WithoutNewEra:
    """An application that knows nothing of revisions without a handshake."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers") or ())
        if headers.get(b"mcp-protocol-version", b"").decode() in MODERN_PROTOCOL_VERSIONS:
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"Bad Request"})
        else:
            await self._app(scope, receive, send)


async def serve_stdio(server: Server[Any], *, is_legacy: bool) -> None:
    """Serves until the input ends."""
    async with stdio_server() as (incoming, outgoing):
        options = server.create_initialization_options()
        if not is_legacy:
            await server.run(incoming, outgoing, options)
            return
        async with server.lifespan(server) as state:
            await serve_loop(server, incoming, outgoing, lifespan_state=state, init_options=options)


def main() -> None:
    """Serves as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=["stdio", "http"])
    parser.add_argument("port", type=int, nargs="?", default=0)
    parser.add_argument("--era", choices=["legacy", "modern"], default="modern")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stubborn", action="store_true", help="ignore what asks to end")
    options = parser.parse_args()
    if options.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = build(options.log)
    if options.how == "stdio":
        anyio.run(lambda: serve_stdio(server, is_legacy=options.era == "legacy"))
        if options.stubborn:
            while True:
                signal.pause()
        return
    import uvicorn

    app: Any = server.streamable_http_app(json_response=options.json)
    if options.era == "legacy":
        app = WithoutNewEra(app)

    class Telling(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            sys.stdout.write(f"{self.servers[0].sockets[0].getsockname()[1]}\n")
            sys.stdout.flush()

    Telling(uvicorn.Config(app, host="127.0.0.1", port=options.port, log_level="error")).run()


WIRE = os.dup(1) if __name__ == "__main__" else -1
"""Standard output as it was, which the SDK keeps for itself."""

if __name__ == "__main__":
    main()
