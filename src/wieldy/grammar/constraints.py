"""Constraints from what programs have at hand: a few options, a JSON Schema, a grammar written out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject
from wieldy.grammar.compiled import Grammar, compiled, compiled_text
from wieldy.grammar.shape import Exact, Json, OneOf, Rules
from wieldy.schema.rewrite import rewritten

MAX_STRING_CHARACTERS = 200
MAX_ARRAY_ITEMS = 20
"""Bounds for what a schema leaves unbounded: a small model that meets no end writes on until its budget is gone."""


def choice(options: Sequence[str]) -> Grammar:
    """Exactly one of the options, letter for letter.

    Raises:
        GrammarError: There is no option, or one is empty.
    """
    if not options or not all(options):
        raise GrammarError(f"A choice needs at least one option and no empty one, found {list(options)!r}.")
    return compiled(Rules(start=OneOf(tuple(map(Exact, dict.fromkeys(options))))))


def json_schema(
    schema: JsonObject, *, max_characters: int = MAX_STRING_CHARACTERS, max_items: int = MAX_ARRAY_ITEMS
) -> Grammar:
    """JSON that fits the schema, written as `json.dumps` writes it: on one line, with a space after `:` and `,`.

    Strings and arrays that the schema leaves unbounded are bounded. Keywords that the engine cannot enforce are named
    in `unenforced`: validate what was written against the schema itself.

    Args:
        schema: JSON Schema (2020-12).
        max_characters: The longest string where the schema sets no `maxLength`, in characters.
        max_items: The longest array where the schema sets no `maxItems`.

    Raises:
        GrammarError: The engine refuses the schema.
    """
    try:
        bounded = rewritten(schema, lambda part: _bounded(part, max_characters, max_items))
    except RecursionError:
        raise GrammarError("The constraint cannot be compiled: its schema is nested too deeply.") from None
    return compiled(Rules(start=Json(bounded, one_line=True)))


def lark(text: str) -> Grammar:
    """A grammar written out in llguidance's Lark dialect, starting at its rule `start`.

    Raises:
        GrammarError: The engine refuses it.
    """
    return compiled_text(text)


def _bounded(schema: JsonObject, max_characters: int, max_items: int) -> JsonObject:
    bounds: JsonObject = {}
    kinds: list[Any] = kind if isinstance(kind := schema.get("type"), list) else [kind]
    if "string" in kinds and not schema.keys() & {"maxLength", "enum", "const", "pattern", "format"}:
        bounds["maxLength"] = max(max_characters, _least(schema, "minLength"))
    if "array" in kinds and not schema.keys() & {"maxItems", "enum", "const"}:
        bounds["maxItems"] = max(max_items, _least(schema, "minItems"))
    return {**schema, **bounds}


def _least(schema: JsonObject, keyword: str) -> int:
    value = schema.get(keyword, 0)
    return int(value) if isinstance(value, int | float) else 0
