"""The parts of JSON Schema that providers enforce, as data: what `strict` translates schemas into.

Sources: OpenAI's guide "Structured Outputs" (supported schemas, limits), Microsoft's guide to the same on Azure,
Anthropic's guide "Structured outputs" and the schema transformation of its Python SDK; for Gemini the documentation of
`GenerationConfig.responseJsonSchema`, of `FunctionDeclaration` and of `Schema` (`Schema` is the older form, of which
OpenAPI 3.0 is the model) in the API reference and in `google-genai` 3.6.1, and the guide "Structured outputs" for
formats. That a `Schema` with `anyOf` has no other field is not documented: servers refuse another (opencode#14659).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Recursion: TypeAlias = Literal["taken", "where optional", "refused"]
"""Whether a schema may contain itself; `where optional`: only through a property that may be left out."""
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDialect:
    """What of JSON Schema a provider takes in its strict mode. Objects are closed, where that can be said.

    Attributes:
        name: For reports.
        keywords: Assertions that are taken beside types, `properties`, `items`, `enum`, `const`, `anyOf` and `$ref`.
        formats: Values of `format` that are taken.
        is_all_required: Whether every property must be written; one that may be left out is written as null.
        recursion: Whether a schema may contain itself.
        types_constants: Whether `enum` and `const` need a `type` beside them.
        constants: The types of which single values may be listed.
        has_maps: Whether objects may have free keys.
        has_tuples: Whether items of an array may be described by their places.
        is_openapi: Whether schemas are spelled as `openapi_spelling` does, without references and closed objects.
        most_min_items: The largest `minItems`; None for any.
        most_levels: How deep objects may lie in one another; None for any.
        most_properties: How many properties a schema may have in all.
        most_enum_values: How many values its `enum`s may have in all.
        most_characters: How long names of properties and definitions and values of `enum` and `const` may be together.
        most_characters_of_enum: How long the values of one `enum` may be together, if they are many.
    """

    name: str
    keywords: frozenset[str]
    formats: frozenset[str]
    is_all_required: bool
    recursion: Recursion
    types_constants: bool
    constants: frozenset[str] = _SCALARS
    has_maps: bool = False
    has_tuples: bool = False
    is_openapi: bool = False
    most_min_items: int | None = None
    most_levels: int | None = None
    most_properties: int | None = None
    most_enum_values: int | None = None
    most_characters: int | None = None
    most_characters_of_enum: int | None = None


_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})

OPENAI = SchemaDialect(
    name="OpenAI",
    keywords=_NUMBERS | {"pattern", "format", "minItems", "maxItems"},
    formats=_FORMATS,
    is_all_required=True,
    recursion="taken",
    types_constants=True,
    most_levels=10,
    most_properties=5000,
    most_enum_values=1000,
    most_characters=120_000,
    most_characters_of_enum=15_000,
)
AZURE = SchemaDialect(
    name="Azure",
    keywords=frozenset(),
    formats=frozenset(),
    is_all_required=True,
    recursion="taken",
    types_constants=True,
    most_levels=5,
    most_properties=100,
    most_enum_values=500,
    most_characters=15_000,
    most_characters_of_enum=7_500,
)
ANTHROPIC = SchemaDialect(
    name="Anthropic",
    keywords=frozenset({"format", "minItems"}),
    formats=_FORMATS | {"uri"},
    is_all_required=False,
    recursion="refused",
    types_constants=False,
    most_min_items=1,
)
GEMINI = SchemaDialect(
    name="Gemini",
    keywords=frozenset({"format", "minimum", "maximum", "minItems", "maxItems"}),
    formats=frozenset({"date-time", "date", "time"}),
    is_all_required=False,
    recursion="where optional",
    types_constants=True,
    constants=frozenset({"string", "integer", "number"}),
    has_maps=True,
    has_tuples=True,
)
"""JSON Schema as `parametersJsonSchema` and `responseJsonSchema` take it."""
GEMINI_OPENAPI = SchemaDialect(
    name="Gemini's Schema",
    keywords=frozenset(
        {"format", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"}
        | {"minProperties", "maxProperties"}
    ),
    formats=frozenset({"date-time"}),
    is_all_required=False,
    recursion="refused",
    types_constants=True,
    constants=frozenset({"string"}),
    is_openapi=True,
)
"""The `Schema` that `parameters` and `responseSchema` take."""
