"""Structural tags as servers with xgrammar take them."""

from __future__ import annotations

from wieldy.connect.models.backends.engines import XGRAMMAR, sent_to
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.notation import to_structural_tag
from wieldy.grammar.shape import Rules


def structural_tag(rules: Rules) -> JsonObject:
    """The tag that accepts every text of the rules, without the keywords that do harm there.

    Raises:
        GrammarError: The rules cannot be written as a tag.
    """
    tag = to_structural_tag(rules)
    return {**tag, "format": _harmless(tag["format"])}


def _harmless(part: JsonValue) -> JsonValue:
    match part:
        case {"type": "json_schema", "json_schema": dict(schema)}:
            return {**part, "json_schema": sent_to(XGRAMMAR, schema)}
        case dict():
            return {name: _harmless(value) for name, value in part.items()}
        case list():
            return [_harmless(value) for value in part]
        case _:
            return part
