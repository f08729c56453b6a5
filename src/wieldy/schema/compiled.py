"""A JSON Schema (2020-12) compiled once: what fits it, and every place where a value does not.

The validator itself is jsonschema-rs; this module adds the places and words that a model can act on, and makes
sure that no value, however odd, raises. Deliberately not here: changing values (`coerce`), wording errors (`explain`).
A compiled schema is meant to be held by what it belongs to (a tool); nothing is cached globally.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias, cast

import jsonschema_rs

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.describe import choices_in_words, describe
from wieldy.schema.resolve import Location, chain, pointer
from wieldy.schema.violations import Path, Violation, nearest
from wieldy.schema.wellformed import is_wellformed, malformed

FormatChecks: TypeAlias = Mapping[str, Callable[[str], bool]]
"""What counts as good text of a format, by the format's name; they must not raise."""

MAX_DESCRIPTION_CHARACTERS = 100
"""Of what a missing property means; the model has the whole in the tool's definition."""
_URI = "urn:schema"
_MAX_PARTS_CHARACTERS = 5_000_000
"""Every part that is asked about is compiled with all that it refers to: so many times the document, at most."""
_MIN_PARTS = 20


class PartsExhaustedError(Exception):
    """So many parts of one schema were asked about that it is not worth asking on; whoever asked does without."""


class CompiledSchema:
    """A schema ready for use.

    Args:
        document: The schema; references within it are followed, others are refused.
        formats: Checks that replace the standard's own for these formats; other known formats are checked as it says.

    Raises:
        UsageError: The document is no JSON Schema, or refers outside itself.
    """

    __slots__ = ("_formats", "_known_registry", "_known_validator", "_max_parts", "_parts", "document")

    def __init__(self, document: JsonObject, *, formats: FormatChecks | None = None) -> None:
        self.document = document
        self._formats = dict(formats or {})
        self._parts: dict[Location, jsonschema_rs.Validator] = {}
        # Checked here and kept from its first use on: of thousands of tools few are called, and each takes memory.
        self._known_registry: jsonschema_rs.Registry | None = None
        self._known_validator: jsonschema_rs.Validator | None = None
        try:
            self._compile(document)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            # The first line says what is wrong; the rest repeats the whole schema.
            line = str(error).partition("\n")[0]
            outside = re.match("Resource '(.*?)' is not present", line)
            reason = line if outside is None else f"a reference to {outside[1]!r}"
            place = pointer(tuple(getattr(error, "instance_path", ())))
            at = f" at {place}" if place != "#" else ""
            raise UsageError(
                f"Expected a JSON Schema (2020-12) without outside references, found{at}: {reason}"
            ) from error
        self._max_parts = max(_MIN_PARTS, _MAX_PARTS_CHARACTERS // len(str(document)))

    def accepts(self, value: object) -> bool:
        """Whether the value fits."""
        return is_wellformed(value) and self._validator.is_valid(value)

    def part_accepts(self, location: Location, value: JsonValue) -> bool:
        """Whether a well-formed value fits the subschema at the location.

        Raises:
            PartsExhaustedError: Too much would have to be compiled for this schema.
        """
        if location not in self._parts:
            if len(self._parts) >= self._max_parts:
                raise PartsExhaustedError
            if self._known_registry is None:
                self._known_registry = jsonschema_rs.Registry([(_URI, self.document)])
            self._parts[location] = self._compile({"$ref": _URI + pointer(location)})
        return self._parts[location].is_valid(value)

    def violations(self, value: object) -> tuple[Violation, ...]:
        """Every place where the value does not fit, in the schema's order; empty if and only if it fits."""
        found = tuple(malformed(value))
        if found:
            return found
        return tuple(
            violation for error in self._validator.iter_errors(value) for violation in _read(error, self.document)
        )

    @property
    def _validator(self) -> jsonschema_rs.Validator:
        if self._known_validator is None:
            self._known_validator = self._compile(self.document)
        return self._known_validator

    def _compile(self, document: JsonObject) -> jsonschema_rs.Validator:
        return jsonschema_rs.Draft202012Validator(
            document, formats=self._formats, validate_formats=True, registry=self._known_registry, offline=True
        )


def _read(error: jsonschema_rs.ValidationError, document: JsonObject) -> Iterator[Violation]:
    path = tuple(error.instance_path)
    place = tuple(error.schema_path[:-1])
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Required(property=name):
            yield _missing(path, name, place, error, document)
        case (
            jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected=names)
            | jsonschema_rs.ValidationErrorKind.UnevaluatedProperties(unexpected=names)
        ):
            yield from (_unknown(path, name, place, error, document) for name in names)
        case (
            jsonschema_rs.ValidationErrorKind.AnyOf(context=branches)
            | jsonschema_rs.ValidationErrorKind.OneOfNotValid(context=branches)
        ) if (branch := _meant_branch(branches, len(path))) is not None:
            for inner in branch:
                yield from _read(inner, document)
        case (
            jsonschema_rs.ValidationErrorKind.AnyOf(context=branches)
            | jsonschema_rs.ValidationErrorKind.OneOfNotValid(context=branches)
        ) if (tag := _tag(branches, len(path))) is not None:
            found = cast("JsonObject", error.instance)[tag.name]
            expected = choices_in_words(list(tag.values))
            yield Violation(path=(*path, tag.name), keyword=error.kind.name, found=found, expected=expected)
        case jsonschema_rs.ValidationErrorKind.PropertyNames(error=inner):
            name = cast("str", inner.instance)
            expected = f"another name for this property ({inner.message[:200]})"
            yield Violation(path=(*path, name), keyword="propertyNames", found=name, expected=expected)
        case kind:
            place = tuple(error.schema_path) if kind.name == "falseSchema" else place
            yield Violation(
                path=path,
                keyword=kind.name,
                found=error.instance,
                expected=_expected(kind.name, document, place, error),
            )


def _expected(keyword: str, document: JsonObject, place: Location, error: jsonschema_rs.ValidationError) -> str:
    phrase = describe(document, place)
    # A phrase without a type says too little ("a value"); the validator's own sentence is the better one then.
    if phrase != "a value" and keyword not in {"not", "contains", "dependentRequired"}:
        return phrase
    return f"something else ({error.message[:200]})"


def _missing(
    path: Path, name: str, place: Location, error: jsonschema_rs.ValidationError, document: JsonObject
) -> Violation:
    location = (*place, "properties", name)
    words = next(
        (text for _, part in chain(document, location) if isinstance(text := part.get("description"), str)), ""
    )
    expected = describe(document, location) + (f" ({words[:MAX_DESCRIPTION_CHARACTERS]})" if words else "")
    return Violation(path=(*path, name), keyword="required", found=error.instance, expected=expected)


def _unknown(
    path: Path, name: str, place: Location, error: jsonschema_rs.ValidationError, document: JsonObject
) -> Violation:
    present = cast("JsonObject", error.instance)
    known = [
        key
        for _, schema in chain(document, place)
        if isinstance(properties := schema.get("properties"), dict)
        for key in properties
    ]
    free = [key for key in known if key not in present]
    expected = "only " + ", ".join(f"`{key}`" for key in known) if known else "no properties"
    return Violation(
        path=(*path, name),
        keyword="additionalProperties",
        found=present.get(name),
        expected=expected,
        nearest=nearest(name, free),
    )


def _meant_branch(
    branches: list[list[jsonschema_rs.ValidationError]], depth: int
) -> list[jsonschema_rs.ValidationError] | None:
    """The one alternative that was meant, or None: by the value's type, else by a property that tells them apart."""
    by_type = [errors for errors in branches if not _refused(errors, {"type", "const", "enum"}, depth)]
    if len(by_type) == 1:
        return by_type[0]
    by_property = [errors for errors in by_type if not _refused(errors, {"const", "enum"}, depth + 1)]
    return by_property[0] if len(by_property) == 1 else None


class _Tag(NamedTuple):
    """The property that tells alternatives apart, and what it may be."""

    name: str
    values: tuple[JsonValue, ...]


def _tag(branches: list[list[jsonschema_rs.ValidationError]], depth: int) -> _Tag | None:
    """The only property whose value every alternative of the right type refuses; None where there is none such."""
    by_type = [errors for errors in branches if not _refused(errors, {"type", "const", "enum"}, depth)]
    tags: list[dict[str, list[JsonValue]]] = []
    for errors in by_type:
        listed = {tuple(error.instance_path[depth:]): _values_of(error.kind) for error in errors}
        tags.append(
            {
                place[0]: values
                for place, values in listed.items()
                if values and len(place) == 1 and isinstance(place[0], str)
            }
        )
    common = set(tags[0]).intersection(*tags) if tags else set[str]()
    if len(common) != 1:
        return None
    name = common.pop()
    return _Tag(name, tuple(value for tag in tags for value in tag[name]))


def _values_of(kind: jsonschema_rs.ValidationErrorKind) -> list[JsonValue]:
    """The values that a keyword lists; empty where it lists none."""
    match kind:
        case jsonschema_rs.ValidationErrorKind.Constant(expected_value=value):
            return [cast("JsonValue", value)]
        case jsonschema_rs.ValidationErrorKind.Enum(options=values):
            return cast("list[JsonValue]", values)
        case _:
            return []


def _refused(errors: list[jsonschema_rs.ValidationError], keywords: set[str], depth: int) -> bool:
    return any(error.kind.name in keywords and len(error.instance_path) == depth for error in errors)
