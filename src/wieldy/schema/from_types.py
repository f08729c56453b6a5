"""JSON Schema from Python types, as pydantic reads them, made small and plain for models.

What pydantic's own output is changed in, and why:
  no titles, no discriminators       they repeat names, and names are what the model reads
  closed objects                     a misspelt property is reported instead of dropped without a word
  names of dictionaries' properties  keys that are no texts are written as texts, which pydantic leaves unsaid
  texts of URLs, UUIDs, decimals     a model can only be held to what the schema says
  definitions inlined                where they are used once or are small; small models do not follow references well
  class docstrings taken apart       prose describes the class, what is said about attributes describes the properties
  defaults that do not fit left out  NaN, Python objects, None for a parameter that takes no null
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from pydantic_core import PydanticSerializationError, SchemaError

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.compiled import CompiledSchema, FormatChecks, PartsExhaustedError
from wieldy.schema.docstrings import read_docstring
from wieldy.schema.keys import members_as_names, names_read
from wieldy.schema.resolve import Location
from wieldy.schema.rewrite import inlined, ordered, rewritten, subschemas
from wieldy.schema.texts import NUMBER, TEXTS, WITHOUT_ZONE, beginning_with
from wieldy.schema.typed_dicts import readable
from wieldy.schema.wellformed import is_wellformed

TYPE_ERRORS: Final = (
    PydanticUserError,
    PydanticUndefinedAnnotation,
    SchemaError,
    UsageError,
    TypeError,
    ValueError,
    NameError,
    AttributeError,
    RecursionError,
    ImportError,
)
"""What pydantic and typing raise about a type that they cannot use; ImportError is a missing optional package."""

_BARE_NUMBER = re.compile(r"\s*[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?\s*")


def _is_no_bare_number(text: str) -> bool:
    return _BARE_NUMBER.fullmatch(text) is None


def _is_anything(text: str) -> bool:
    del text
    return True


PYTHON_FORMATS: FormatChecks = {
    # pydantic would read "17" as 17 seconds after 1970, which no model ever means.
    **dict.fromkeys(("date-time", "date", "time", "duration"), _is_no_bare_number),
    # Python's own types read more than the standard's texts (a time without a zone, a UUID without hyphens).
    **dict.fromkeys(("uuid", "uri", "regex"), _is_anything),
}
"""Checks for arguments that a Python type reads afterwards: it decides; this only refuses what it would guess."""


class ValueType(NamedTuple):
    """A Python type as JSON has it.

    Attributes:
        adapter: Makes values of the type from JSON text that fits the schema; it may still refuse some.
        schema: JSON Schema (2020-12).
    """

    adapter: TypeAdapter[Any]
    schema: JsonObject


def value_type(annotation: Any) -> ValueType:
    """What JSON a value of the type is read from.

    Raises:
        UsageError: It is no type, or one that JSON cannot carry.
    """
    try:
        adapter = TypeAdapter[Any](readable(annotation))
        document = adapter.json_schema(mode="validation", schema_generator=_Generator)
        return ValueType(adapter, rewritten(_small(document, is_input=True), ordered))
    except TYPE_ERRORS as error:
        raise UsageError(f"Expected a type that JSON can carry, found {annotation!r:.200} ({why(error)}).") from error


def why(error: Exception) -> str:
    """What pydantic says about a type, without the advice about its own settings that follows."""
    return " ".join(str(error).partition(". Set ")[0].partition("For further")[0].split())[:200].rstrip(".")


def input_schema(arguments: type[BaseModel], descriptions: Mapping[str, str]) -> JsonObject:
    """The schema of an arguments model; `descriptions` are used for properties that have none of their own.

    Raises:
        PydanticUserError: A field's type has no JSON form.
    """
    document = _small(arguments.model_json_schema(schema_generator=_Generator), is_input=True)
    properties = document.get("properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        if isinstance(schema, dict) and "description" not in schema and name in descriptions:
            schema["description"] = descriptions[name]
    return rewritten(document, ordered)


def output_schema(adapter: TypeAdapter[Any]) -> JsonObject | None:
    """The schema of what the type becomes as JSON; None where that cannot be said."""
    try:
        document = adapter.json_schema(mode="serialization", schema_generator=_Generator)
    except (PydanticUserError, PydanticSerializationError):
        return None
    return rewritten(_small(document, is_input=False), ordered) or None


class _Generator(GenerateJsonSchema):
    """Pydantic's generator without warnings about defaults, and with objects closed in input.

    Whether a class leaves unknown properties alone on purpose (`extra="ignore"`), and how it finds its fields, is known
    only here.
    """

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - the parent's declaration
    _takes_names = False

    def model_schema(self, schema: Any) -> dict[str, Any]:
        return self._of_class(schema, super().model_schema)

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        return self._of_class(schema, super().dataclass_schema)

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        return self._of_class(schema, super().typed_dict_schema)

    def call_schema(self, schema: Any) -> dict[str, Any]:
        function = schema["function"]
        if self.mode == "validation" and not isinstance(function, type):
            name = getattr(function, "__name__", "a function")
            raise UsageError(f"{name} is no type but a function, which would be called with what a model writes")
        return super().call_schema(schema)

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        document = super().dict_schema(schema)
        named = self._resolved(document.get("propertyNames"))
        if self.mode != "validation":
            names = members_as_names(named)
        else:
            names = names_read(schema["keys_schema"], named) if "keys_schema" in schema else None
            if "patternProperties" in document:
                document["additionalProperties"] = False
        return document if names is None else {**document, "propertyNames": names}

    def url_schema(self, schema: Any) -> dict[str, Any]:
        return _of_schemes(super().url_schema(schema), schema)

    def multi_host_url_schema(self, schema: Any) -> dict[str, Any]:
        return _of_schemes(super().multi_host_url_schema(schema), schema)

    def datetime_schema(self, schema: Any) -> dict[str, Any]:
        is_without_zone = schema.get("tz_constraint") == "naive"
        return dict(WITHOUT_ZONE) if is_without_zone else super().datetime_schema(schema)

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        document = super().decimal_schema(schema)
        for branch in document.get("anyOf", ()):
            if branch.get("type") == "string":
                branch.setdefault("pattern", NUMBER)
        return document

    def _resolved(self, names: JsonObject | None) -> JsonObject | None:
        if names is None or "$ref" not in names:
            return names
        return self.get_schema_from_definitions(cast("Any", names["$ref"]))

    def model_field_schema(self, schema: Any) -> dict[str, Any]:
        self._check_found(schema)
        return super().model_field_schema(schema)

    def dataclass_field_schema(self, schema: Any) -> dict[str, Any]:
        self._check_found(schema)
        return super().dataclass_field_schema(schema)

    def typed_dict_field_schema(self, schema: Any) -> dict[str, Any]:
        self._check_found(schema)
        return super().typed_dict_field_schema(schema)

    def _of_class(self, schema: Any, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        config, outer = cast("dict[str, object]", schema.get("config") or {}), self._takes_names
        self._takes_names = bool(config.get("validate_by_name") or config.get("populate_by_name"))
        try:
            document = write(schema)
        finally:
            self._takes_names = outer
        return _closed(document, cast("type[Any] | None", schema.get("cls")), self.mode)

    def _check_found(self, field: Any) -> None:
        """A field whose value is looked for deep within others (`AliasPath`) is no property that could be written."""
        alias = field.get("validation_alias")
        if self.mode != "validation" or self._takes_names or not isinstance(alias, list):
            return
        paths = cast("list[Any]", alias)
        if not any(isinstance(path, list) and len(cast("list[Any]", path)) == 1 for path in paths):
            raise UsageError(f"a field is only found by the path {alias!r}, and no property has such a name")


def _of_schemes(document: dict[str, Any], schema: Any) -> dict[str, Any]:
    schemes = schema.get("allowed_schemes")
    return {**document, "pattern": beginning_with(schemes)} if schemes else document


def _closed(document: dict[str, Any], owner: type[Any] | None, mode: JsonSchemaMode) -> dict[str, Any]:
    config: Any = getattr(owner, "model_config", None) or getattr(owner, "__pydantic_config__", None) or ()
    if mode == "validation" and "properties" in document and "extra" not in config:
        document.setdefault("additionalProperties", False)
    return document


def _small(document: dict[str, Any], *, is_input: bool) -> JsonObject:
    plain = inlined(rewritten(cast("JsonObject", document), _plain))
    return _with_fitting_defaults(plain) if is_input else rewritten(plain, _without_default)


def _plain(schema: JsonObject) -> JsonObject:
    kept = {keyword: value for keyword, value in schema.items() if keyword not in {"title", "discriminator"}}
    if kept.get("additionalProperties") is True or kept.get("additionalProperties") == {}:
        del kept["additionalProperties"]
    if kept.get("items") == {}:
        del kept["items"]
    named = kept.get("format")
    if isinstance(named, str) and named in TEXTS:
        del kept["format"]
        kept |= TEXTS[named]
    return _described(kept)


def _described(schema: JsonObject) -> JsonObject:
    """An object's description, which is its class's docstring, taken apart."""
    text, properties = schema.get("description"), schema.get("properties")
    if not isinstance(text, str) or not isinstance(properties, dict):
        return schema
    documentation = read_docstring(text)
    described: dict[str, JsonValue] = {}
    for name, part in properties.items():
        words = documentation.parameters.get(name)
        described[name] = {"description": words, **part} if words and isinstance(part, dict) else part
    return {**schema, "description": documentation.prose or text, "properties": described}


def _without_default(schema: JsonObject) -> JsonObject:
    return {keyword: value for keyword, value in schema.items() if keyword != "default"}


def _with_fitting_defaults(document: JsonObject) -> JsonObject:
    compiled = CompiledSchema(document, formats=PYTHON_FORMATS)
    for location, schema in list(subschemas(document)):
        if "default" not in schema:
            continue
        if not _fits(compiled, location, schema["default"]):
            del schema["default"]
    return document


def _fits(compiled: CompiledSchema, location: Location, default: JsonValue) -> bool:
    try:
        return is_wellformed(default) and compiled.part_accepts(location, default)
    except PartsExhaustedError:
        return True
