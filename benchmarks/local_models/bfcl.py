"""Samples of BFCL: its items as requests of ours, and whether a call is right.

BFCL's data comes out of the `bfcl_eval` wheel, fetched by pip and read as data. Its rules for comparing values (case,
spaces and punctuation of strings do not matter, several values are right) are written anew here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wieldy import Message, ToolCall, ToolDefinition
from wieldy.core.calls import AnyCall, ToolChoice
from wieldy.core.ports import ModelRequest

BFCL = "bfcl_eval==2026.3.23"
MOST_OUTPUT_TOKENS = 512


def bfcl_files(*names: str) -> dict[str, list[dict[str, Any]]]:
    """The lines of these files of the data, without `BFCL_v4_` and `.json` in their names."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, BFCL]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            return {name: [json.loads(line) for line in _text(wheel, name).splitlines()] for name in names}


def _text(wheel: zipfile.ZipFile, name: str) -> str:
    folder, _, file = name.rpartition("/")
    return wheel.read(f"bfcl_eval/data/{folder}{'/' if folder else ''}BFCL_v4_{file}.json").decode()


def bfcl_data() -> dict[str, list[dict[str, Any]]]:
    """Items by category, each with its right answers where there are any."""
    sampled = {"simple": "simple_python", "multiple": "multiple"}
    files = bfcl_files(*sampled.values(), *(f"possible_answer/{file}" for file in sampled.values()), "irrelevance")
    data = {"irrelevance": files["irrelevance"]}
    for category, file in sampled.items():
        answers = {item["id"]: item["ground_truth"] for item in files[f"possible_answer/{file}"]}
        data[category] = [{**item, "right": answers[item["id"]]} for item in files[file]]
    return data


TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


def json_schema_of(part: Any) -> Any:
    """BFCL's parameter descriptions as JSON Schema."""
    if isinstance(part, list):
        return [json_schema_of(one) for one in part]
    if not isinstance(part, dict):
        return part
    schema = {key: json_schema_of(value) for key, value in part.items()}
    if isinstance(part.get("type"), str):
        kind = TYPES.get(part["type"], part["type"])
        schema = {key: value for key, value in schema.items() if key != "type"} | ({"type": kind} if kind else {})
    if schema.get("type") == "object" and "properties" in schema:
        schema["additionalProperties"] = False
    return schema


def definition_of(function: dict[str, Any]) -> ToolDefinition:
    return ToolDefinition(
        name=function["name"].replace(".", "_"),
        description=function["description"],
        input_schema=json_schema_of(function["parameters"]),
    )


def is_value(found: Any, right: Any) -> bool:
    if isinstance(found, str) and isinstance(right, str):
        plain = [re.sub(r"[ ,./\-_*^]", "", text).casefold().replace("'", '"') for text in (found, right)]
        return plain[0] == plain[1]
    if isinstance(found, bool) or isinstance(right, bool):
        return found is right
    if isinstance(found, list) and isinstance(right, list):
        return len(found) == len(right) and all(map(is_value, found, right))
    if isinstance(found, dict) and isinstance(right, dict):
        return fits(found, right)
    return type(found) in (int, float) and type(right) in (int, float) and found == right


def fits(arguments: dict[str, Any], right: dict[str, list[Any]]) -> bool:
    """Whether every argument has one of its right values; "" among them means that it may be left out."""
    if set(arguments) - set(right):
        return False
    return all(
        any(is_value(arguments[name], value) for value in values) if name in arguments else "" in values
        for name, values in right.items()
    )


def request_of(item: dict[str, Any], choice: str) -> ModelRequest:
    return ModelRequest(
        messages=[Message.user(message["content"]) for message in item["question"][0]],
        tools=[definition_of(function) for function in item["function"]],
        tool_choice=ToolChoice(mode=choice),  # type: ignore[arg-type]
        max_output_tokens=MOST_OUTPUT_TOKENS,
    )


def has_right_name(calls: Sequence[AnyCall], item: dict[str, Any]) -> bool:
    """Whether there is one readable call, of the right tool."""
    (name,) = item["right"][0]
    return len(calls) == 1 and isinstance(calls[0], ToolCall) and calls[0].name == name.replace(".", "_")


def is_right(calls: Sequence[AnyCall], item: dict[str, Any]) -> bool:
    """Whether there is one call, of the right tool with right arguments."""
    (arguments,) = item["right"][0].values()
    call = calls[0] if has_right_name(calls, item) else None
    return isinstance(call, ToolCall) and fits(call.arguments, arguments)
