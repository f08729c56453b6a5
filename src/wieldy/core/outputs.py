"""What an answer must be, where a program wants more than text, and what it is where it did not become that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias

from wieldy.core.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOutput:
    """JSON that fits a schema.

    Attributes:
        schema: JSON Schema (2020-12).
        name: What the structure is called, for protocols that want a name: 1 to 64 of `A-Za-z0-9_-`.
        description: What it is, for the model.
    """

    schema: JsonObject
    name: str = "answer"
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceOutput:
    """Exactly one of the options, letter for letter; there is at least one, and none is empty."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternOutput:
    """A text that matches the regular expression from its beginning to its end."""

    pattern: str


Output: TypeAlias = JsonOutput | ChoiceOutput | PatternOutput
"""What the text of an answer must be."""


def schema_of(output: Output) -> JsonObject:
    """The output as a JSON Schema; that of a choice or a pattern is of the text as a JSON string."""
    match output:
        case JsonOutput(schema=schema):
            return schema
        case ChoiceOutput(options=options):
            values: list[JsonValue] = list(dict.fromkeys(options))
            return {"type": "string", "enum": values}
        case PatternOutput(pattern=pattern):
            return {"type": "string", "pattern": f"^(?:{pattern})$"}


def in_words(output: Output) -> str:
    """What a model is told that is not told by other means what its answer must be."""
    match output:
        case JsonOutput(schema=schema, description=description):
            what = f" It is: {description}" if description else ""
            return (
                "Your final answer must be JSON and nothing else: no words before or after it, no code fence."
                f"{what}\nIt must fit this JSON Schema:\n{json.dumps(schema, ensure_ascii=False)}"
            )
        case ChoiceOutput(options=options):
            listed = "\n".join(options)
            if len(listed.splitlines()) == len(options) and not any(option != option.strip() for option in options):
                return f"Your final answer must be one of these lines, letter for letter, and nothing else:\n{listed}"
            listed = "\n".join(json.dumps(option, ensure_ascii=False) for option in options)
            return (
                "Your final answer must be one of these texts and nothing else. They are written here as JSON writes "
                f"them; write yours without the quotes and escapes:\n{listed}"
            )
        case PatternOutput(pattern=pattern):
            return (
                "Your final answer must be a text that matches this regular expression from its beginning to its end, "
                f"and nothing else:\n{pattern}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomplete:
    """An answer that did not become what it must be, where nothing could hold the model to it, or that was cut off.

    Attributes:
        text: What the model wrote, unchanged.
        error: What was expected and what was found.
        partial: What of a JSON output is there, not validated; None if nothing is.
        detail: For the operator, where a check of the program's own failed: a traceback. A model is not shown it.
    """

    text: str
    error: str
    partial: JsonValue = None
    detail: str | None = None
