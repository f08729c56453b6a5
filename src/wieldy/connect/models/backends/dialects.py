"""The parts of JSON Schema that providers enforce, as data: what `strict` translates schemas into.

Sources: OpenAI's guide "Structured Outputs" (supported schemas, limits), Microsoft's guide to the same on Azure,
Anthropic's guide "Structured outputs" and the schema transformation of its Python SDK.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDialect:
    """What of JSON Schema a provider takes in its strict mode. Every object is closed in all of them.

    Attributes:
        name: For reports.
        keywords: Assertions that are taken beside types, `properties`, `items`, `enum`, `const`, `anyOf` and `$ref`.
        formats: Values of `format` that are taken.
        is_all_required: Whether every property must be written; one that may be left out is written as null.
        has_recursion: Whether a schema may contain itself.
        types_constants: Whether `enum` and `const` need a `type` beside them.
        most_min_items: The largest `minItems`; None for any.
        most_levels: How deep objects may lie in one another; None for any.
        most_properties: How many properties a schema may have in all.
        most_enum_values: How many values its `enum`s may have in all.
        most_characters: How long names of properties and definitions and values of `enum` and `const` may be together.
    """

    name: str
    keywords: frozenset[str]
    formats: frozenset[str]
    is_all_required: bool
    has_recursion: bool
    types_constants: bool
    most_min_items: int | None = None
    most_levels: int | None = None
    most_properties: int | None = None
    most_enum_values: int | None = None
    most_characters: int | None = None


_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})

OPENAI = SchemaDialect(
    name="OpenAI",
    keywords=_NUMBERS | {"pattern", "format", "minItems", "maxItems"},
    formats=_FORMATS,
    is_all_required=True,
    has_recursion=True,
    types_constants=True,
    most_levels=10,
    most_properties=5000,
    most_enum_values=1000,
    most_characters=120_000,
)
AZURE = SchemaDialect(
    name="Azure",
    keywords=frozenset(),
    formats=frozenset(),
    is_all_required=True,
    has_recursion=True,
    types_constants=True,
    most_levels=5,
    most_properties=100,
    most_enum_values=500,
    most_characters=15_000,
)
ANTHROPIC = SchemaDialect(
    name="Anthropic",
    keywords=frozenset({"format", "minItems"}),
    formats=_FORMATS | {"uri"},
    is_all_required=False,
    has_recursion=False,
    types_constants=False,
    most_min_items=1,
)
