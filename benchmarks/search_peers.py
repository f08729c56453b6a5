"""The search of fastmcp's BM25 transform on the questions of `search.py`, through a client in the same process.

    python benchmarks/search.py --documents FOLDER --write QUESTIONS.json
    python -m venv PEER && PEER/bin/pip install fastmcp
    PEER/bin/python benchmarks/search_peers.py QUESTIONS.json

Runs where Wieldy need not be installed. CPU time of everything that one search takes there: the list of tools, the
ranking, and the definitions of what was found.
"""

from __future__ import annotations

import asyncio
import json
import logging
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import fastmcp
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools.base import Tool

FIRST = (1, 5, 10)


async def measured(pool: list[dict[str, Any]], questions: list[dict[str, Any]]) -> str:
    server = fastmcp.FastMCP("peer")
    for tool in pool:
        server.add_tool(Tool(name=tool["name"], description=tool["description"], parameters=tool["parameters"]))
    server.add_transform(BM25SearchTransform(max_results=max(FIRST)))
    one, every, taken, nothing = dict.fromkeys(FIRST, 0.0), dict.fromkeys(FIRST, 0.0), list[float](), 0
    async with fastmcp.Client(server) as client:
        await client.call_tool("search_tools", {"query": "warm"})
        for question in questions:
            began = time.process_time()
            answer = await client.call_tool("search_tools", {"query": question["text"]})
            taken.append((time.process_time() - began) * 1e3)
            found = [each["name"] for each in answer.structured_content["result"]]
            nothing += not found
            for first in FIRST:
                hits = set(question["needed"]) & set(found[:first])
                one[first] += bool(hits) / len(questions)
                every[first] += len(hits) / len(question["needed"]) / len(questions)
    shares = " | ".join(f"{one[first]:.3f} / {every[first]:.3f}" for first in FIRST)
    return f"| {len(pool):,} | fastmcp {fastmcp.__version__} | {shares} | {nothing} | {statistics.median(taken):.2f} |"


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # it has something to say of each of thousands of names
    for asked in json.loads(Path(sys.argv[1]).read_text()):
        print(asyncio.run(measured(asked["tools"], asked["questions"])), flush=True)
