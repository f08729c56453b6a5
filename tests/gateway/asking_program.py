"""A server that asks its clients, with prompts and resources, over HTTP on the loopback.

python asking_program.py                writes its port
python asking_program.py handshake      knows only revisions with a handshake
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND
from pydantic import BaseModel

from wieldy import ImagePart, tool
from wieldy.connect import client, mcp_server, prompt, resource
from wieldy.connect.serving.blocks import ResourceContent
from wieldy.connect.serving.client import client_if_any
from wieldy.connect.serving.listening import listening

PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
WAITING: list[anyio.Event] = []


class Name(BaseModel):
    """What a person fills in."""

    name: str


@tool(effect="unsafe")
async def greet(word: str) -> str:
    """Ask a person for a name."""
    client().log("info", "asking")
    answer = await client().ask("Who are you?", Name)
    return f"{word} {answer.name if answer else 'nobody'}"


@tool(effect="read")
async def think(about: str) -> str:
    """Ask the client's model."""
    return await client().sample(about, max_tokens=5)


@tool(effect="read")
def capabilities() -> str:
    """What the client says that it can do."""
    found = client_if_any()
    return json.dumps(sorted(found.link.capabilities) if found else [])


@tool(effect="read")
def headers() -> str:
    """The headers of the request."""
    found = client_if_any()
    return json.dumps(dict(found.headers) if found else {}, sort_keys=True)


@tool(effect="read")
async def meet(count: int) -> str:
    """Wait until so many calls are here, and only then ask a person."""
    here = anyio.Event()
    WAITING.append(here)
    if len(WAITING) >= count:
        for each in WAITING:
            each.set()
    await here.wait()
    answer = await client().ask("Who are you?", Name)
    return answer.name if answer else "nobody"


@tool(effect="read")
def shown() -> list[str | ImagePart]:
    """Text and an image."""
    return ["text", ImagePart.from_bytes(PICTURE)]


@tool(effect="unsafe")
async def change(what: str) -> str:
    """Tell those who listen that something has changed."""
    await (SERVER.tell_update(what) if ":" in what else SERVER.tell_change(what))  # type: ignore[arg-type]
    return "told"


@prompt(complete={"name": lambda written: [n for n in ("anna", "bob") if n.startswith(written)]})
def welcome(name: str) -> list[str | ResourceContent]:
    """Welcome somebody."""
    return [f"Welcome, {name}!", ResourceContent(uri="notes://today", content="# Today")]


@prompt
async def ask_first() -> str:
    """Ask before it says something."""
    answer = await client().ask("Who are you?", Name)
    return f"Hello, {answer.name if answer else 'nobody'}"


@resource("notes://today", media_type="text/markdown")
def today() -> str:
    """What is to be done."""
    return "# Today"


@resource("notes://{folder}/{name}")
def note(folder: str, name: str) -> str:
    """A note."""
    return f"{folder}/{name}"


TOOLS: list[Any] = [greet, think, capabilities, headers, meet, shown, change]
SERVER = mcp_server(TOOLS, prompts=[welcome, ask_first], resources=[today, note], name="asking")


async def only_with_handshake(context: Any, call_next: Any) -> Any:
    """Who asks which revisions there are learns that the question is not known, as from an older server."""
    if context.method == "server/discover":
        raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
    return await call_next(context)


def main() -> None:
    """Serve as the command line says."""
    import uvicorn

    if sys.argv[1:] == ["handshake"]:
        SERVER.server.middleware.append(only_with_handshake)
    with listening() as place:
        sys.stdout.write(f"{place.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(SERVER.asgi(), log_level="error", access_log=False)).run(sockets=[place])


if __name__ == "__main__":
    main()
