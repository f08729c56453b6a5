"""Tools for tests, served in a process of their own.

python tools_program.py stdio
python tools_program.py http        writes its port
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
from pydantic import BaseModel

from wieldy import Context, Deny, ImagePart, Rule, Rules, ToolError, Toolset, tool
from wieldy.connect import mcp_server
from wieldy.connect.serving.calls import CallRules
from wieldy.connect.serving.listening import listening
from wieldy.run.journal import open_journal

KEYS = {"anna": "anna-anna-anna-anna", "bob": "bob-bob-bob-bob-bob"}
PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


class Point(BaseModel):
    """A place, and those that hang on it."""

    x: int
    below: list[Point] = []


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The one.
        b: The other.
    """
    return a + b


@tool(effect="idempotent", use_when="a point has to be kept")
def keep(point: Point) -> Point:
    """Keep a point."""
    print("what tools print is not for the wire")  # noqa: T201
    return point


def add_line(file: str, line: str) -> None:
    """The file tells what happened."""
    with Path(file).open("a") as out:
        out.write(f"{line}\n")


@tool(effect="unsafe")
async def wait(seconds: float, log: str, ctx: Context) -> str:
    """Wait, and say in a file what became of it."""
    ctx.progress("begun", fraction=0.25)
    add_line(log, "began")
    try:
        await anyio.sleep(seconds)
    except BaseException:
        add_line(log, "cancelled")
        raise
    ctx.progress("done", fraction=1.0)
    return "waited"


@tool
def fail() -> str:
    """Fail as tools fail."""
    raise ToolError("There is no order 17. List the orders first.")


@tool
def crash() -> str:
    """Fail as code fails."""
    raise ZeroDivisionError("secret internals")


@tool(effect="read")
def picture() -> ImagePart:
    """Show a picture."""
    return ImagePart.from_bytes(PICTURE)


@tool(effect="unsafe")
def denied() -> str:
    """What the policy refuses."""
    return "done"


TOOLS = Toolset([add, keep, wait, fail, crash, picture, denied])
POLICY = Rules([Rule(Deny("nobody may"), tools="denied")])


def main() -> None:
    """Serve as the command line says."""
    rules = CallRules(policy=POLICY, journal=open_journal(sys.argv[2]) if len(sys.argv) > 2 else None)
    if sys.argv[1] == "stdio":
        mcp_server(TOOLS, name="tests", version="7", instructions="For tests.", rules=rules).serve_stdio()
        return
    import uvicorn

    with listening() as place:
        config = uvicorn.Config(
            mcp_server(TOOLS, name="tests", rules=rules, keys=KEYS).asgi(), log_level="error", access_log=False
        )
        sys.stdout.write(f"{place.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(config).run(sockets=[place])


if __name__ == "__main__":
    main()
