"""A JSON Schema in the strict dialect of a provider, and what a model wrote there brought back to the schema itself.

The translation allows what its source allows or less, except where the report leaves a keyword to the validator.
Objects are closed. Where a dialect demands every property, one that may be left out may be null instead, and such nulls
are taken out again by `back`. A schema whose root is no object lies in the one property of an object. What has no
counterpart, such as a map with free keys, is refused: then the schema is sent as it is, and nothing enforces it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from wieldy.connect.models.backends.dialects import SchemaDialect
from wieldy.connect.models.backends.openapi_spelling import spelled
from wieldy.connect.models.backends.restoring import restored
from wieldy.connect.models.backends.sizes import measured
from wieldy.connect.models.backends.strict_writer import MEMBER, Refusal, StrictWriter
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.enforcement import Enforcement
from wieldy.schema import CompiledSchema
from wieldy.schema.rewrite import rewritten

_KEPT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Strict:
    """A schema as a provider's strict mode takes it.

    Attributes:
        schema: The translation; `{}` where it is refused.
        report: What became of each keyword that was not simply taken over.
        source: The schema that was translated.
        is_wrapped: Whether the value lies in the one property of an object.
        adds_nulls: Whether null stands for what was left out.
        optional: How many properties may be left out.
        unions: How many parts are one of several schemas.
    """

    schema: JsonObject
    report: tuple[Enforcement, ...]
    source: CompiledSchema | None = None
    is_wrapped: bool = False
    adds_nulls: bool = False
    optional: int = 0
    unions: int = 0

    @property
    def refused(self) -> tuple[Enforcement, ...]:
        """Why there is no translation; empty where there is one."""
        return tuple(entry for entry in self.report if entry.by == "refused")

    @property
    def unenforced(self) -> tuple[Enforcement, ...]:
        """What is left to a validator."""
        return tuple(entry for entry in self.report if entry.by == "validator")

    @property
    def is_same(self) -> bool:
        """Whether `back` never changes anything."""
        return not (self.is_wrapped or self.adds_nulls)

    def back(self, value: JsonValue) -> JsonValue:
        """A value that was written under this schema, as its source has it."""
        if self.is_wrapped and isinstance(value, dict) and MEMBER in value:
            is_closed = self.schema.get("additionalProperties") is False
            value = value[MEMBER] if len(value) == 1 or not is_closed else value
        return restored(value, self.source) if self.adds_nulls and self.source is not None else value


def strict_schema(schema: JsonObject, dialect: SchemaDialect) -> Strict:
    """The schema in the dialect. Translations are kept: a run asks for the same ones at every turn."""
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError) as error:
        return _refused(f"it is no JSON: {error}")
    return _translated(text, dialect)


def plain_schema(schema: JsonObject) -> Strict:
    """The schema itself, in the one property of an object unless it is that of an object already."""
    if schema.get("type") == "object":
        return Strict(schema=schema, report=())
    inner = rewritten(schema, _moved)
    wrapper: JsonObject = {"type": "object", "properties": {MEMBER: inner}, "required": [MEMBER]}
    return Strict(schema={**wrapper, "additionalProperties": False}, report=(), is_wrapped=True)


def _moved(schema: JsonObject) -> JsonObject:
    """References from the root lead into the property in which the root lies now."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return schema
    return {**schema, "$ref": f"#/properties/{MEMBER}{reference[1:]}"}


@lru_cache(maxsize=_KEPT)
def _translated(text: str, dialect: SchemaDialect) -> Strict:
    try:
        source = CompiledSchema(json.loads(text))
        writer = StrictWriter(source, dialect)
        schema = writer.document()
        sizes = measured(schema)
        if dialect.is_openapi:
            schema = spelled(schema)
    except (UsageError, Refusal) as error:
        return Strict(schema={}, report=(error.entry,)) if isinstance(error, Refusal) else _refused(str(error))
    except RecursionError:
        return _refused("it is nested too deeply")
    if reason := sizes.beyond(dialect):
        return _refused(reason)
    return Strict(
        schema=schema,
        report=tuple(writer.report),
        source=source,
        is_wrapped=writer.is_wrapped,
        adds_nulls=writer.adds_nulls,
        optional=sizes.optional,
        unions=sizes.unions,
    )


def _refused(reason: str) -> Strict:
    return Strict(schema={}, report=(Enforcement(pointer="#", keyword="", by="refused", reason=reason),))
