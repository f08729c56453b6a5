"""A server that breaks the protocol, in nothing but the standard library: what it says is given to it, line by line.

    python raw_server.py SCRIPT.json

The script names for each method the result that is sent, as JSON; `"raw"` instead sends a text as it is. Everything
that it does not name is answered as a method that is not known.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Answers until the input ends."""
    script = json.loads(Path(sys.argv[1]).read_text())
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer = script.get(message["method"])
        head = {"jsonrpc": "2.0", "id": message["id"]}
        if answer is None:
            write(json.dumps(head | {"error": {"code": -32601, "message": "Method not found"}}))
        elif "raw" in answer:
            write(answer["raw"].replace("ID", str(message["id"])) * answer.get("times", 1))
        else:
            write(json.dumps(head | {"result": answer}))


def write(text: str) -> None:
    """One line."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
