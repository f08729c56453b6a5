"""Bounds for what a lowered schema leaves unbounded.

Everything in a lowered schema says what may be written and nothing what may not, so a bound only ever allows less.
Law: what a bounded schema allows, the schema allows; and a bound leaves some value wherever there was one.
"""

from __future__ import annotations

from functools import partial

from wieldy.core.json import JsonObject
from wieldy.schema.rewrite import rewritten


def bounded(schema: JsonObject, most_characters: int, most_items: int) -> JsonObject:
    """The lowered schema with bounds for strings and arrays that have none.

    Strings with a pattern have the bounds that the pattern gives them, and `{}`, which is any JSON, has none.

    Args:
        schema: A lowered schema.
        most_characters: The longest string, unless it must be longer.
        most_items: The longest array, unless it must be longer or its first items are listed.
    """
    return rewritten(schema, partial(_bounded, most_characters=most_characters, most_items=most_items))


def _bounded(schema: JsonObject, *, most_characters: int, most_items: int) -> JsonObject:
    match schema:
        case {"type": "string"} if not schema.keys() & {"maxLength", "pattern", "allOf"}:
            return {**schema, "maxLength": max(most_characters, _count(schema, "minLength"))}
        case {"type": "array"} if "maxItems" not in schema and schema.get("items") is not False:
            listed = schema.get("prefixItems")
            first = len(listed) if isinstance(listed, list) else 0
            return {**schema, "maxItems": max(most_items, _count(schema, "minItems"), first)}
        case _:
            return schema


def _count(schema: JsonObject, keyword: str) -> int:
    value = schema.get(keyword, 0)
    return value if isinstance(value, int) else 0
