"""Tools as programs have them, and calls of them: the same for every subject. The standard library only."""

from __future__ import annotations

import json
import random
from typing import Any

JsonObject = dict[str, Any]

WORDS = (
    "Please",
    "send",
    "the",
    "report",
    "about",
    "Lisbon",
    "to",
    "Ana",
    "before",
    "Friday",
    "and",
    "say",
    "it",
    "rained",
)
PARAMETERS: list[tuple[str, JsonObject]] = [
    ("query", {"type": "string", "description": "What to look for."}),
    ("path", {"type": "string", "description": "Where it is."}),
    ("limit", {"type": "integer", "minimum": 1, "maximum": 100}),
    ("unit", {"type": "string", "enum": ["celsius", "fahrenheit", "kelvin"]}),
    ("verbose", {"type": "boolean"}),
    ("tags", {"type": "array", "items": {"type": "string"}, "maxItems": 5}),
    ("price", {"type": "number", "minimum": 0, "maximum": 100000}),
    ("when", {"type": "string", "format": "date"}),
    ("note", {"type": ["string", "null"]}),
    ("place", {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
               "required": ["lat", "lon"], "additionalProperties": False}),
    ("lines", {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"},
               "count": {"type": "integer", "minimum": 0}}, "required": ["sku", "count"],
               "additionalProperties": False}}),
    ("code", {"type": "string", "pattern": "^[A-Z]{2}[0-9]{4}$"}),
]  # fmt: skip
VERBS = ("find", "list", "create", "update", "delete", "send", "read", "book", "cancel", "convert")
NOUNS = ("orders", "files", "events", "customers", "flights", "invoices", "messages", "rooms", "prices", "reports")


def tools(count: int, *, run: int = 0, edition: int = 0) -> list[JsonObject]:
    """So many tools, with two to eight parameters each.

    Args:
        count: How many.
        run: Other names in every run, so that no cache of grammars knows them.
        edition: Other schemas in every edition, so that no cache of schemas knows them either.
    """
    made: list[JsonObject] = []
    for number in range(count):
        chance = random.Random(number)
        chosen = chance.sample(PARAMETERS, chance.randint(2, 8))
        names = [name for name, _ in chosen]
        name = f"{VERBS[number % 10]}_{NOUNS[number // 10 % 10]}" + (f"_{run}" if run else "")
        parameters = {
            "type": "object",
            "description": f"Edition {edition}.",
            "properties": dict(chosen),
            "required": sorted(chance.sample(names, chance.randint(1, len(names)))),
            "additionalProperties": False,
        }
        function = {"name": name, "description": f"{name}.", "parameters": parameters}
        made.append({"type": "function", "function": function})
    return made


def union(offered: list[JsonObject]) -> JsonObject:
    """A call of any of the tools, as one JSON Schema."""
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "name": {"const": tool["function"]["name"]},
                    "arguments": tool["function"]["parameters"],
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
            for tool in offered
        ]
    }


def calls(offered: list[JsonObject], *, most: int = 12) -> list[str]:
    """Calls of some of the tools, as `json.dumps` writes them; all arguments are there in every second one."""
    step = max(1, len(offered) // most)
    return [_call(tool["function"], number) for number, tool in enumerate(offered[::step][:most])]


def _call(function: JsonObject, number: int) -> str:
    chance, parameters = random.Random(number), function["parameters"]
    arguments = {
        name: _value(schema, chance)
        for name, schema in parameters["properties"].items()
        if number % 2 or name in parameters["required"]
    }
    return json.dumps({"name": function["name"], "arguments": arguments}, ensure_ascii=False)


def _value(schema: JsonObject, chance: random.Random) -> Any:
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "pattern" in schema:
        return "AB1234"
    if "format" in schema:
        return "2026-11-30"
    match schema["type"]:
        case "object":
            return {name: _value(inner, chance) for name, inner in schema["properties"].items()}
        case "array":
            return [_value(schema["items"], chance) for _ in range(2)]
        case "integer":
            return chance.randint(1, 99)
        case "number":
            return round(chance.uniform(0, 180), 2)
        case "boolean":
            return chance.random() < 0.5
        case _:
            return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 12)))
