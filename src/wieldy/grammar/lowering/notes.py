"""What the mask refuses although the schema allows it: said with every keyword by which it happens.

A model loses nothing by it: the same value can be written in another way, or is one that nobody would write.
"""

from __future__ import annotations

from collections.abc import Iterator

from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.lowering.formats import FORMATS

_NO_EXPONENT = "without an exponent"
_IN_ORDER = "members in the order of the schema, before all others"
_ALWAYS = {
    **dict.fromkeys(("properties", "required", "allOf", "dependentRequired", "dependentSchemas"), _IN_ORDER),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NO_EXPONENT),
    "multipleOf": f"{_NO_EXPONENT}, with no more digits behind the point than the step has",
    "nullable": 'OpenAPI\'s, and no keyword of JSON Schema: null is not allowed by it; write `"type": [..., "null"]`',
}


def note(schema: JsonObject, keyword: str) -> str:
    """What of the values that a keyword of this schema allows cannot be written; empty if all can."""
    value = schema[keyword]
    match keyword:
        case "type":
            return _of_types(value)
        case "const" | "enum":
            return "; ".join(_of_values(value))
        case "format":
            return FORMATS[value].limits if isinstance(value, str) and value in FORMATS else ""
        case "pattern":
            is_narrow = isinstance(value, str) and ("\\s" in value or "\\S" in value)
            return "white space is what every dialect takes for it" if is_narrow else ""
        case "then" | "else":
            return "" if "if" in schema else "says nothing without `if`"
        case "minContains" | "maxContains":
            return "" if "contains" in schema else "says nothing without `contains`"
        case _:
            return _ALWAYS.get(keyword, "")


def _of_types(value: JsonValue) -> str:
    names = value if isinstance(value, list) else [value]
    found: list[str] = []
    if "integer" in names and "number" not in names:
        found.append("whole numbers without a fraction or an exponent: 1, not 1.0")
    if "string" in names:
        found.append("characters as they are, escaped only where JSON asks for it")
    return "; ".join(found)


def _of_values(value: JsonValue) -> Iterator[str]:
    inner = list(_inner(value))
    if any(isinstance(one, dict) and len(one) > 1 for one in inner):
        yield "members in the order given"
    if any(isinstance(one, int | float) and not isinstance(one, bool) for one in inner):
        yield "numbers in their shortest form"


def _inner(value: JsonValue) -> Iterator[JsonValue]:
    yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _inner(part)
