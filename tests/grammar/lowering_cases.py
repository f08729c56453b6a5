"""Schemas of every keyword, as Hypothesis draws them: any combination, whether it makes sense or not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
NAMES = ["a", "b", "ab"]
PATTERNS = ["^a", "b$", "^[ab]+$", "a|b", "^(?!a)", "^.{1,2}$", "", r"^\d+$", "^(a)\\1$", "[^a]"]
FORMATS = ["date", "ipv4", "uuid", "email", "unknown", "regex", "json-pointer"]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.sampled_from([0.5, -1.5, 2.0, 1e3])
    | st.sampled_from(["", "a", "b", "ab", "ba", "aab", "7", "2024-02-29", "/a~0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)

_counts = st.integers(0, 3)
_numbers = st.integers(-2, 5) | st.sampled_from([0.5, 1.5, -0.5])
_names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)


def _keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    some = st.lists(inner, min_size=1, max_size=3)
    return {
        "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
        "enum": st.lists(values, min_size=1, max_size=4),
        "const": values,
        "minimum": _numbers,
        "maximum": _numbers,
        "exclusiveMinimum": _numbers,
        "exclusiveMaximum": _numbers,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5, 1.5]),
        "minLength": _counts,
        "maxLength": _counts,
        "pattern": st.sampled_from(PATTERNS),
        "format": st.sampled_from(FORMATS),
        "minItems": _counts,
        "maxItems": _counts,
        "uniqueItems": st.booleans(),
        "items": inner,
        "prefixItems": some,
        "contains": inner,
        "minContains": st.integers(0, 2),
        "maxContains": st.integers(0, 2),
        "unevaluatedItems": inner,
        "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
        "required": _names,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "^b"]), inner, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "unevaluatedProperties": inner,
        "minProperties": _counts,
        "maxProperties": _counts,
        "dependentRequired": st.dictionaries(st.sampled_from(NAMES), _names, max_size=2),
        "dependentSchemas": st.dictionaries(st.sampled_from(NAMES), inner, max_size=2),
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two"]),
        "title": st.just("A title"),
        "default": values,
        "x-other": values,
    }


def _dressed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = _keywords(inner)
    some = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=4, unique=True)
    return some.flatmap(lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen}))


_parts = st.recursive(st.booleans() | _dressed(st.booleans()), _dressed, max_leaves=6)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """A whole schema, with definitions that may refer to one another and to themselves."""
    root = draw(_parts.filter(lambda part: isinstance(part, dict)))
    definitions = {"one": draw(_parts), "two": draw(_parts)}
    return {**root, "$defs": definitions}
