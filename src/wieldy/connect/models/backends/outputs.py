"""Outputs as the JSON Schemas and the shapes that servers know."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput
from wieldy.grammar.reading.regex import whole
from wieldy.grammar.shape import Exact, Json, OneOf, Shape


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


def shape_of(output: Output) -> Shape:
    """What the text of an answer may be.

    Raises:
        GrammarError: A pattern uses what no constraint can be made of.
    """
    match output:
        case JsonOutput(schema=schema):
            return Json(schema)
        case ChoiceOutput(options=options):
            return OneOf(tuple(map(Exact, dict.fromkeys(options))))
        case PatternOutput(pattern=pattern):
            return whole(pattern)


def unreadable(output: Output) -> str:
    """Why no constraint can be made of the output; empty if one can."""
    try:
        shape_of(output)
    except GrammarError as error:
        return str(error)
    return ""


def any_of(options: Iterable[str]) -> str:
    """The regular expression of these texts and no others."""
    return "|".join(map(re.escape, dict.fromkeys(options)))
