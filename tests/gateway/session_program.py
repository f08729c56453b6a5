"""A server with a handshake over standard input and output that asks and logs without saying for which call.

In nothing but the standard library. `keep` ends at once and keeps its text; `ask` asks a person about what was kept,
logs it, and answers with what the person said. So what it asks in one call is always about another one. `odd` answers
with a block of a type that no protocol has.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = [{"name": name, "description": name, "inputSchema": SCHEMA} for name in ("keep", "ask", "odd")]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": {"name": "asks", "version": "1"},
}
kept: list[str] = []


def write(**message: Any) -> None:
    """One line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def called(number: Any, name: str, text: str) -> None:
    """Answers a call."""
    said, more = "kept", []
    if name == "odd":
        more = [{"type": "weird", "x": 1}]
    elif name == "keep":
        kept.append(text)
    else:
        about = f"about {kept[-1] if kept else text}"
        write(method="notifications/message", params={"level": "error", "data": about})
        form = {"type": "object", "properties": {"name": {"type": "string"}}}
        write(id=f"ask-{number}", method="elicitation/create", params={"message": about, "requestedSchema": form})
        said = json.dumps(next(each for line in sys.stdin if (each := json.loads(line)).get("id") == f"ask-{number}"))
    write(id=number, result={"content": [*more, {"type": "text", "text": said}]})


def main() -> None:
    """Answers until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        number, params = message.get("id"), message.get("params") or {}
        match message.get("method"):
            case "initialize":
                write(id=number, result=HELLO)
            case "tools/list":
                write(id=number, result={"tools": TOOLS})
            case "tools/call":
                called(number, params["name"], (params.get("arguments") or {}).get("text", ""))
            case _ if number is not None:
                write(id=number, error={"code": -32601, "message": "Method not found"})


if __name__ == "__main__":
    main()
