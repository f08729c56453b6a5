"""Grammars as text that an engine compiles, and the bounds that keep them from running away.

A grammar is llguidance's Lark dialect, which llama.cpp takes too (`engine_text`). A grammar that an engine does not
understand is silently not enforced by llama.cpp, so every `Grammar` has been compiled once before it exists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.engine import llguidance

_MAX_MESSAGE = 500
"""Characters of an engine's message that are passed on: it quotes the line at fault, and that may be a megabyte."""

MAX_STRING_CHARACTERS = 200
MAX_ARRAY_ITEMS = 20
"""Bounds for what a schema leaves unbounded: a small model that meets no end writes on until its budget is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A constraint that its engine has compiled.

    Attributes:
        lark: llguidance's Lark dialect.
        unenforced: What the engine said that it leaves to a validator; empty if the mask enforces everything.
    """

    lark: str
    unenforced: tuple[str, ...] = ()

    def followed_by(self, text: str) -> Grammar:
        r"""This grammar and then exactly this text.

        A model's tokens may reach over the end of a value: one that wants to write `}\n` and is only offered `}` goes
        on with something else. What follows anyway should therefore be part of the grammar.
        """
        if not text:
            return self
        name = f"part{self.lark.count(chr(10))}"  # a grammar grows by one line each time
        return _compiled(f"start: {name} {literal(text)}\n{name}: {self.lark.removeprefix('start: ')}")

    @property
    def engine_text(self) -> str:
        """The grammar as llama.cpp takes it in its `grammar` field."""
        return f"%llguidance {{}}\n{self.lark}"


def choice(options: Sequence[str]) -> Grammar:
    """Exactly one of the options, letter for letter.

    Raises:
        GrammarError: There is no option, or one is empty.
    """
    if not options or not all(options):
        raise GrammarError(f"A choice needs at least one option and no empty one, found {list(options)!r}.")
    return _compiled("start: " + " | ".join(map(literal, options)))


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
        return _of_schema(schema, max_characters, max_items)
    except RecursionError:
        raise GrammarError("The constraint cannot be compiled: its schema is nested too deeply.") from None
    except GrammarError as error:
        loose = cast("JsonObject", _everywhere(schema, _without_pattern))
        if loose == schema:
            raise
        grammar = _of_schema(loose, max_characters, max_items)
        return replace(grammar, unenforced=(*grammar.unenforced, f"Left out every `pattern`: {error}"))


def lark(text: str) -> Grammar:
    """A grammar written out in llguidance's Lark dialect, starting at its rule `start`.

    Raises:
        GrammarError: The engine refuses it.
    """
    return _compiled(text)


def literal(text: str) -> str:
    """Exactly this text, as the engine's Lark dialect writes it."""
    # The engine's lexer takes JSON's escapes and, unlike JSON, no bare DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _of_schema(schema: JsonValue, max_characters: int, max_items: int) -> Grammar:
    layout: JsonObject = {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "lenient": True,
    }
    bounded = cast("JsonObject", _everywhere(schema, lambda part: _bounded(part, max_characters, max_items)))
    return _compiled("start: %json " + json.dumps({**bounded, "x-guidance": layout}, ensure_ascii=False))


def _compiled(text: str) -> Grammar:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise GrammarError("The constraint holds half of a surrogate pair, which is no text: leave it out.")
    is_error, messages = llguidance().LLMatcher.validate_grammar_with_warnings(text)
    if is_error:
        raise GrammarError(f"The constraint cannot be compiled: {messages[0][:_MAX_MESSAGE]}")
    return Grammar(lark=text, unenforced=tuple(messages))


_SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")


def _everywhere(schema: JsonValue, change: Callable[[JsonObject], JsonObject]) -> JsonValue:
    """The schema with every schema in it changed; what is no schema is left as it is."""
    if not isinstance(schema, dict):
        return schema

    def inner(keyword: str, value: JsonValue) -> JsonValue:
        match value:
            case dict() if keyword in _SCHEMAS_BY_NAME:
                return {name: _everywhere(part, change) for name, part in value.items()}
            case list() if keyword in _SCHEMA_LISTS:
                return [_everywhere(part, change) for part in value]
            case _ if keyword in _SCHEMAS:
                return _everywhere(value, change)
            case _:
                return value

    return change({keyword: inner(keyword, value) for keyword, value in schema.items()})


def _bounded(schema: JsonObject, max_characters: int, max_items: int) -> JsonObject:
    bounds: JsonObject = {}
    kinds: list[Any] = kind if isinstance(kind := schema.get("type"), list) else [kind]
    if "string" in kinds and not schema.keys() & {"maxLength", "enum", "const", "pattern", "format"}:
        bounds["maxLength"] = max(max_characters, _least(schema, "minLength"))
    if "array" in kinds and not schema.keys() & {"maxItems", "enum", "const"}:
        bounds["maxItems"] = max(max_items, _least(schema, "minItems"))
    return {**schema, **bounds}


def _without_pattern(schema: JsonObject) -> JsonObject:
    return {keyword: value for keyword, value in schema.items() if keyword != "pattern"}


def _least(schema: JsonObject, keyword: str) -> int:
    value = schema.get(keyword, 0)
    return int(value) if isinstance(value, int | float) else 0
