"""One schema or more for every keyword of JSON Schema, with values that fit and values that do not.

`docs/reference/json-schema-constraints.md` shows them, tests walk under their masks, and so does `make evidence
ARGS=constraint` with the vocabularies of real models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A schema.

    Attributes:
        fits: Values that fit, and that the mask lets through.
        fails: Values that do not fit. Where nothing is left to the validator, the mask refuses them.
        limited: Values that fit and that the mask refuses all the same.
    """

    group: str
    title: str
    schema: dict[str, Any]
    fits: list[Any]
    fails: list[Any]
    limited: list[Any]


CASES: list[Case] = []


def case(
    title: str, schema: dict[str, Any], fits: list[Any], fails: list[Any], limited: list[Any] | None = None
) -> None:
    CASES.append(Case(GROUP[-1], title, schema, fits, fails, limited or []))


def closed(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(required), "additionalProperties": False, **more
    }  # fmt: skip


GROUP = ["Types and values"]
case("any", {}, [None, True, 1.5, "é", [1], {"a": {}}], [])
case("null", {"type": "null"}, [None], [0, ""])
case("boolean", {"type": "boolean"}, [True, False], [0, "true"])
case("integer", {"type": "integer"}, [0, -7, 10**30], [1.5, "1"], [1.0])
case("number", {"type": "number"}, [0, -1.5, 1e-7, 6.02e23], ["1", None])
case("string", {"type": "string"}, ["", 'é\n"\\日😀'], [1, None])
case("array", {"type": "array"}, [[], [1, "a", [None]]], [{}, "[]"])
case("object", {"type": "object"}, [{}, {"a": 1}, {"ä": {"b": []}}], [[], None])
case("several types", {"type": ["string", "null"]}, ["a", None], [1, True])
case("integer and number", {"type": ["integer", "number"]}, [1, 1.5], ["a"])
case("const of a text", {"const": "a b"}, ["a b"], ["a", 1])
case("const of a number", {"const": 1.5}, [1.5], [1, "1.5"])
case("const of null", {"const": None}, [None], [0, False])
case("const of an object", {"const": {"a": [1, {"b": None}]}}, [{"a": [1, {"b": None}]}], [{"a": [1]}, {}])
case("const of a long number", {"const": 2**53 + 1}, [2**53 + 1], ["a"])
case("enum", {"enum": ["red", 7, None, [1]]}, ["red", 7, None, [1]], ["blue", 8, False])
case("enum beside type", {"type": "string", "enum": ["a", 1, None]}, ["a"], [1, None, "b"])
case("enum beside const", {"enum": [1, 2], "const": 2}, [2], [1, 3])
case("true", {"properties": {"a": True}, "type": "object"}, [{"a": 1}], [1])
case("false", {"properties": {"a": False}, "type": "object"}, [{}, {"b": 1}], [{"a": 1}])
case("nullable (OpenAPI)", {"type": "string", "nullable": True}, ["a"], [None, 1])

GROUP.append("Numbers")
case("minimum", {"type": "integer", "minimum": 3}, [3, 400], [2, -3])
case("maximum", {"type": "integer", "maximum": -3}, [-3, -44], [-2, 0])
case("minimum and maximum", {"type": "integer", "minimum": -5, "maximum": 12}, [-5, 0, 12], [-6, 13])
case("minimum of a number", {"type": "number", "minimum": 0.5}, [0.5, 0.75, 12.25], [0.49, 0, -1])
case("maximum of a number", {"type": "number", "maximum": 1}, [1, 0.99, -3.5], [1.01, 2])
case("exclusiveMinimum", {"type": "number", "exclusiveMinimum": 0}, [0.01, 1], [0, -1])
case("exclusiveMaximum", {"type": "integer", "exclusiveMaximum": 5}, [4, -10], [5, 6])
case("between two numbers", {"type": "number", "minimum": 1, "exclusiveMaximum": 2}, [1, 1.5, 1.99], [2, 0.9])
case("exponent beside a bound", {"type": "number", "minimum": 1}, [100000], [0], [])
case("multipleOf", {"type": "integer", "multipleOf": 5}, [0, 15, -5], [1, 7])
case("multipleOf a fraction", {"type": "number", "multipleOf": 0.25}, [0.25, 1, -1.5], [0.1, 1.3])
case("multipleOf with bounds", {"type": "integer", "multipleOf": 3, "minimum": 4, "maximum": 10}, [6, 9], [3, 12, 7])
case("multipleOf what a float cannot hold", {"type": "number", "multipleOf": 0.07}, [0.14], [])
case("bounds of 20 digits", {"type": "integer", "maximum": 10**20}, [5], ["a"])
case("exclusiveMinimum (draft 4)", {"type": "integer", "minimum": 2, "exclusiveMinimum": True}, [3], [2, 1])
case("bounds beside no type", {"minimum": 3}, [3, "a", None], [2])

GROUP.append("Texts")
case("minLength", {"type": "string", "minLength": 2}, ["ab", "日本", "😀😀"], ["", "a", "😀"])
case("maxLength", {"type": "string", "maxLength": 2}, ["", "ab", "😀😀"], ["abc"])
case("minLength and maxLength", {"type": "string", "minLength": 2, "maxLength": 3}, ["ab", '\n"'], ["a", "abcd"])
case("a large maxLength", {"type": "string", "maxLength": 100_000}, ["a" * 50], [1])
case("pattern of a whole text", {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}, ["AB-1"], ["AB-", "xAB-1"])
case("pattern somewhere", {"type": "string", "pattern": "b+c"}, ["abbcd", "bc"], ["ab", ""])
case("pattern of alternatives", {"type": "string", "pattern": "^(?:cat|dog)s?$"}, ["cats", "dog"], ["cow", "catss"])
case("pattern with anchors in alternatives", {"type": "string", "pattern": "^a|b$"}, ["ax", "xb"], ["ba"])
case("pattern with \\d, \\w", {"type": "string", "pattern": r"^\w+\d$"}, ["ab_1"], ["1a", "é1"])
case("pattern with \\s", {"type": "string", "pattern": r"^a\sb$"}, ["a b", "a\tb"], ["ab"], ["a\u00a0b"])
case("pattern with quotes", {"type": "string", "pattern": '^["\\\\]{2}$'}, ['"\\'], ['"'])
case(
    "pattern beside lengths",
    {"type": "string", "pattern": "^a*b?$", "minLength": 2, "maxLength": 3},
    ["aa", "aab"],
    ["a", "aaaa"],
)
case("pattern with look-ahead", {"type": "string", "pattern": r"^(?=.*\d)(?=.*[a-z]).{4,}$"}, ["abc1"], ["abcd", "a1"])
case(
    "pattern with negative look-ahead",
    {"type": "string", "pattern": "^(?!admin)[a-z]+$"},
    ["bob"],
    ["admin", "administrator"],
)
case("pattern with a back reference", {"type": "string", "pattern": r"^(a|b)\1$"}, ["aa"], ["ab"])
case("pattern with look-behind", {"type": "string", "pattern": "(?<!x)y$"}, ["ay"], ["xy"])
case("pattern with a word boundary", {"type": "string", "pattern": r"\bcat\b"}, ["a cat"], ["concat"])
case("two patterns", {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "z$"}]}, ["az", "abz"], ["a", "z"])
case("pattern beside no type", {"pattern": "^a"}, ["ab", 1, None], ["b"])

GROUP.append("Formats")
for name, fits, fails, limited in [
    ("date", ["2024-02-29", "1999-12-31"], ["2023-02-29", "2024-13-01", "24-01-01"], []),
    ("time", ["23:59:59Z", "08:30:06.283+02:00"], ["24:00:00Z", "08:30:06"], ["23:59:60Z", "08:30:06z"]),
    (
        "date-time",
        ["2024-02-29T12:00:00Z", "1963-06-19T08:30:06.5-08:00"],
        ["2024-02-30T12:00:00Z", "2024-02-29"],
        ["2024-02-29t12:00:00z"],
    ),
    ("duration", ["P3Y6M4DT12H30M5S", "PT1H", "P2W"], ["P", "1D", "PT1D"], []),
    ("email", ["a.b@example.org", "x+y@a.b-c.de"], ["a", "a@", ".a@b.c"], ['"a b"@example.org']),
    ("hostname", ["example.org", "a-b.c1"], ["-a", "a..b", "a_b"], []),
    ("ipv4", ["127.0.0.1", "255.255.255.0"], ["256.0.0.1", "1.2.3", "01.2.3.4"], []),
    ("ipv6", ["::1", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4"], ["12345::", "1::2::3", ":1"], []),
    ("uuid", ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08", "2eb8aa08aa9811eab4aa73b441d16380"], []),
    (
        "uri",
        ["https://example.org/a?b=c#d", "urn:isbn:0451450523", "mailto:a@b.c"],
        ["//a/b", "a b", "\\\\a"],
        ["http://[::1]/"],
    ),
    ("uri-reference", ["/a/b?c", "../x#y", "https://example.org"], ["\\\\a\\b", "a b"], []),
    ("iri", ["https://exämple.org/ü"], ["a b", "exämple"], []),
    ("iri-reference", ["/ü?ö"], ["a b"], []),
    ("uri-template", ["/a/{id}/b{?x,y*}"], ["/a/{id", "/a b"], []),
    ("json-pointer", ["", "/a/b~0c~1d"], ["a", "/~2"], []),
    ("relative-json-pointer", ["1/a", "0#"], ["/a", "-1"], []),
]:
    case(f"format {name}", {"type": "string", "format": name}, fits, fails, limited)
case("format byte (OpenAPI)", {"type": "string", "format": "byte"}, ["", "YWI=", "YWJj"], [])
case("format regex", {"type": "string", "format": "regex"}, ["a+"], ["("])
case("format idn-email", {"type": "string", "format": "idn-email"}, ["ä@b.de"], ["ä"])
case("format idn-hostname", {"type": "string", "format": "idn-hostname"}, ["exämple.org"], ["-ä"])
case("format that nobody knows", {"type": "string", "format": "phone"}, ["a"], [1])
case("format of a number (OpenAPI)", {"type": "integer", "format": "int32"}, [5], ["a"])
case("format beside maxLength", {"type": "string", "format": "email", "maxLength": 9}, ["a@b.c"], ["aaaaaaaa@b.c"])
case(
    "format beside pattern",
    {"type": "string", "format": "date", "pattern": "^2024"},
    ["2024-01-01"],
    ["2023-01-01", "2024"],
)
case("contentEncoding", {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}, ["a b"], [1])

GROUP.append("Arrays")
case("items", {"type": "array", "items": {"type": "integer"}}, [[], [1, 2]], [["a"], [1, None]])
case("minItems", {"type": "array", "minItems": 2}, [[1, 2], [1, 2, 3]], [[], [1]])
case("maxItems", {"type": "array", "items": {"type": "null"}, "maxItems": 2}, [[], [None, None]], [[None] * 3])
case("no items", {"type": "array", "maxItems": 0}, [[]], [[1]])
case(
    "prefixItems",
    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
    [[], [1], [1, "a", None]],
    [["a"], [1, 2]],
)
case(
    "prefixItems and items",
    {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "boolean"}},
    [[None, True]],
    [[None, None], [True]],
)
case(
    "a closed tuple",
    {"type": "array", "prefixItems": [{"type": "null"}], "items": False},
    [[], [None]],
    [[None, 1], [1]],
)
case(
    "a complete tuple",
    {"type": "array", "prefixItems": [{"type": "null"}, True], "items": False, "minItems": 2},
    [[None, 1]],
    [[None], [None, 1, 2]],
)
case(
    "items as a list (draft 7)",
    {"type": "array", "items": [{"type": "null"}], "additionalItems": {"type": "boolean"}},
    [[None, True]],
    [[True], [None, None]],
)
case(
    "uniqueItems",
    {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "uniqueItems": True},
    [[1, 2]],
    [[1, 1]],
)
case(
    "uniqueItems of a few values",
    {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True},
    [[], ["c", "a"]],
    [["a", "a"], ["d"]],
)
case(
    "uniqueItems of many values",
    {"type": "array", "items": {"enum": list("abcdefgh")}, "uniqueItems": True},
    [["a"]],
    [["a", "a"]],
)
case("uniqueItems of one item", {"type": "array", "maxItems": 1, "uniqueItems": True}, [[1]], [[1, 1]])
case("contains", {"type": "array", "contains": {"type": "null"}}, [[None], [1, None]], [[], [1]])
case(
    "contains in a short array",
    {"type": "array", "contains": {"type": "null"}, "maxItems": 2},
    [[None], [1, None]],
    [[], [1], [1, 2]],
)
case("contains anything", {"type": "array", "contains": True, "minContains": 2}, [[1, 2]], [[], [1]])
case(
    "minContains and maxContains",
    {"type": "array", "contains": {"type": "null"}, "minContains": 2, "maxContains": 3},
    [[None, None]],
    [[None], [None] * 4],
)
case("minContains 0", {"type": "array", "contains": {"type": "null"}, "minContains": 0}, [[], [1]], [None])
case(
    "unevaluatedItems",
    {"type": "array", "allOf": [{"prefixItems": [{"type": "null"}]}], "unevaluatedItems": False},
    [[None]],
    [[None, 1]],
)
case(
    "items that are objects",
    {"type": "array", "items": closed({"a": {"type": "integer"}}, "a")},
    [[{"a": 1}]],
    [[{}], [{"a": "x"}]],
)

GROUP.append("Objects")
case(
    "properties",
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
    [{}, {"a": 1, "b": "x", "c": None}],
    [{"a": "x"}, {"b": 1}],
    [{"b": "x", "a": 1}],
)
case(
    "required",
    {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"]},
    [{"b": 1}, {"a": 1, "b": 2}],
    [{}, {"a": 1}],
)
case("required without properties", {"type": "object", "required": ["a"]}, [{"a": 1}], [{}, {"b": 1}])
case("additionalProperties false", closed({"a": {"type": "integer"}}), [{}, {"a": 1}], [{"b": 1}])
case(
    "additionalProperties",
    {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "null"}},
    [{"a": 1, "b": None}],
    [{"b": 1}],
)
case("a map", {"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"x": 1, "y": 2}], [{"x": "a"}])
case(
    "patternProperties",
    {"type": "object", "patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False},
    [{}, {"n_a": 1}],
    [{"n_a": "x"}, {"b": 1}],
)
case(
    "patternProperties and others",
    {"type": "object", "patternProperties": {"^n_": {"type": "integer"}}},
    [{"n_a": 1, "b": "x"}],
    [{"n_a": "x"}],
)
case(
    "patternProperties that overlap",
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}, "z$": {"minimum": 5}}},
    [{"az": 6, "a": 1}, {"z": "x"}],
    [{"az": 1}, {"az": "x"}],
)
case(
    "patternProperties beside properties",
    {"type": "object", "properties": {"ab": {"maximum": 5}}, "patternProperties": {"^a": {"type": "integer"}}},
    [{"ab": 3}],
    [{"ab": 6}, {"ab": "x"}],
)
case(
    "patternProperties with look-behind",
    {"type": "object", "patternProperties": {"(?<!x)y": {"type": "null"}}, "additionalProperties": False},
    [{"y": None}],
    [{"z": 1}],
)
case(
    "propertyNames with a pattern",
    {"type": "object", "propertyNames": {"pattern": "^[a-z]{1,3}$"}},
    [{"abc": 1}],
    [{"A": 1}, {"abcd": 1}],
)
case(
    "propertyNames with lengths",
    {"type": "object", "propertyNames": {"minLength": 2, "maxLength": 3}},
    [{"ab": 1}],
    [{"a": 1}, {"abcd": 1}],
)
case(
    "propertyNames with enum",
    {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "null"}},
    [{"a": None}],
    [{"c": None}, {"a": 1}],
)
case(
    "propertyNames beside properties",
    {"type": "object", "properties": {"ab": {}, "Q": {}}, "propertyNames": {"pattern": "^[a-z]+$"}},
    [{"ab": 1, "c": 2}],
    [{"Q": 1}],
)
case("minProperties", {"type": "object", "minProperties": 1}, [{"a": 1}], [{}])
case("minProperties 2", {"type": "object", "minProperties": 2}, [{"a": 1, "b": 2}], [{}, {"a": 1}])
case(
    "minProperties of optional ones",
    closed({"a": {}, "b": {}, "c": {}}, minProperties=2),
    [{"a": 1, "c": 2}],
    [{}, {"b": 1}],
)
case(
    "minProperties of open ones",
    {"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 1},
    [{"b": 1}, {"z": 1}],
    [{}],
)
case("maxProperties", {"type": "object", "maxProperties": 1}, [{}, {"a": 1}], [{"a": 1, "b": 2}])
case(
    "maxProperties of optional ones",
    {"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1},
    [{"b": 1}, {"z": 1}],
    [{"a": 1, "b": 2}, {"a": 1, "z": 2}],
)
case(
    "maxProperties of 30 optional ones",
    closed({f"p{number}": {"type": "null"} for number in range(30)}, maxProperties=8),
    [{"p1": None}],
    [],
)
case(
    "dependentRequired",
    {"type": "object", "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}},
    [{"b": 1}, {"a": 1, "b": 2}],
    [{"a": 1}],
)
case(
    "dependentSchemas",
    {
        "type": "object",
        "properties": {"a": {}, "b": {}},
        "dependentSchemas": {"a": {"properties": {"b": {"type": "null"}}}},
    },
    [{"b": 1}, {"a": 1, "b": None}],
    [{"a": 1, "b": 1}],
)
case(
    "dependencies (draft 7)",
    {"type": "object", "properties": {"a": {}, "b": {}}, "dependencies": {"a": ["b"]}},
    [{"b": 1}],
    [{"a": 1}],
)
case(
    "unevaluatedProperties",
    {
        "type": "object",
        "allOf": [{"properties": {"a": {"type": "integer"}}}],
        "properties": {"b": {}},
        "unevaluatedProperties": False,
    },
    [{"b": 1, "a": 1}],
    [{"c": 1}, {"a": "x"}],
)
case(
    "unevaluatedProperties behind anyOf",
    {
        "type": "object",
        "anyOf": [
            {"properties": {"a": {"type": "null"}}, "required": ["a"]},
            {"properties": {"b": {"type": "null"}}, "required": ["b"]},
        ],
        "unevaluatedProperties": False,
    },
    [{"a": None}, {"a": None, "b": None}],
    [{"c": 1}, {"a": None, "c": 1}],
)
case(
    "names in other scripts",
    closed({"größe": {"type": "integer"}, "名前": {"type": "string"}}, "größe"),
    [{"größe": 1, "名前": "x"}],
    [{"名前": "x"}],
)
case("names with quotes", closed({'a"b\\c\n': {"type": "null"}}), [{'a"b\\c\n': None}], [{'a"b\\c\n': 1}])

GROUP.append("Combinations")
case("anyOf", {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string"}]}, [5, "a"], [4, None])
case(
    "anyOf beside required",
    {
        "type": "object",
        "properties": {"a": {}, "b": {}},
        "required": ["a"],
        "anyOf": [{"required": ["b"]}, {"properties": {"a": {"const": 1}}}],
    },
    [{"a": 2, "b": 1}, {"a": 1}],
    [{"a": 2}, {"b": 1}],
)
case("oneOf of types", {"oneOf": [{"type": "string"}, {"type": "null"}]}, ["a", None], [1])
case(
    "oneOf of tagged objects",
    {
        "oneOf": [
            closed({"k": {"const": "x"}, "v": {"type": "integer"}}, "k", "v"),
            closed({"k": {"const": "y"}, "w": {"type": "string"}}, "k", "w"),
        ]
    },
    [{"k": "x", "v": 1}, {"k": "y", "w": "a"}],
    [{"k": "x", "w": "a"}, {"k": "z"}],
)
case(
    "oneOf that overlaps",
    {"oneOf": [{"type": "integer", "minimum": 2}, {"type": "integer", "maximum": 5}]},
    [1, 6],
    [3, "a"],
)
case(
    "oneOf of required members",
    {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    [{"a": 1}, {"b": 1}],
    [{}, {"a": 1, "b": 1}],
)
case("oneOf that cannot be told", {"type": "integer", "oneOf": [{"multipleOf": 3}, {"multipleOf": 5}]}, [3, 5], [15])
case(
    "allOf of members",
    {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
        ]
    },
    [{"a": 1, "b": "x"}],
    [{"a": 1}, {"a": 1, "b": 2}],
)
case(
    "allOf of bounds",
    {"allOf": [{"type": "integer"}, {"minimum": 3}, {"maximum": 5}, {"multipleOf": 2}]},
    [4],
    [3, 6, 2],
)
case(
    "allOf of closed objects",
    {"allOf": [{"type": "object", "patternProperties": {"^a": {"type": "integer"}}}, {"additionalProperties": False}]},
    [{}],
    [{"a1": 1}],
)
case("not of a value", {"type": "string", "not": {"const": "x"}}, ["", "xx"], ["x"])
case("not of values", {"not": {"enum": ["a", 3]}}, ["b", 2, 4, None], ["a", 3])
case("not of a type", {"not": {"type": ["string", "array"]}}, [1, None, {}], ["a", []])
case(
    "not of a member",
    {"type": "object", "properties": {"a": {}, "b": {}}, "not": {"required": ["a"]}},
    [{}, {"b": 1}],
    [{"a": 1}],
)
case(
    "not of a member's value",
    {"type": "object", "properties": {"a": {}}, "not": {"properties": {"a": {"const": 1}}, "required": ["a"]}},
    [{"a": 2}, {}],
    [{"a": 1}],
)
case("not of a pattern", {"type": "string", "not": {"pattern": "^tmp_"}}, ["a", "tmp"], ["tmp_a"])
case("not of lengths", {"type": "string", "not": {"minLength": 3}}, ["", "ab"], ["abc"])
case("not that cannot be told", {"type": "array", "not": {"items": {"type": "null"}}}, [[1]], [[], [None]])
case(
    "if, then, else",
    {
        "type": "object",
        "properties": {"k": {"enum": ["a", "b"]}, "v": {}},
        "required": ["k"],
        "if": {"properties": {"k": {"const": "a"}}},
        "then": {"required": ["v"]},
        "else": {"properties": {"v": {"type": "null"}}},
    },
    [{"k": "a", "v": 1}, {"k": "b"}, {"k": "b", "v": None}],
    [{"k": "a"}, {"k": "b", "v": 1}],
)
case("if, then", {"if": {"type": "string"}, "then": {"minLength": 2}}, ["ab", 1], ["a"])
case(
    "if that cannot be told",
    {"type": "array", "if": {"items": {"type": "null"}}, "then": {"maxItems": 1}},
    [[None], [1, 2]],
    [[None, None]],
)
case("then without if", {"then": {"type": "null"}}, [1, None], [])

GROUP.append("References")
case("$ref", {"$ref": "#/$defs/s", "$defs": {"s": {"type": "string", "minLength": 1}}}, ["a"], ["", 1])
case("$ref (draft 7)", {"$ref": "#/definitions/s", "definitions": {"s": {"type": "null"}}}, [None], [1])
case(
    "$ref with siblings",
    {"$ref": "#/$defs/s", "maxLength": 2, "$defs": {"s": {"type": "string", "minLength": 1}}},
    ["a", "ab"],
    ["", "abc"],
)
case(
    "$ref that contains itself",
    {
        "$ref": "#/$defs/n",
        "$defs": {"n": closed({"value": {"type": "integer"}, "next": {"$ref": "#/$defs/n"}}, "value")},
    },
    [{"value": 1, "next": {"value": 2}}],
    [{"next": {"value": 1}}, {"value": 1, "next": {}}],
)
case("$ref to the root", closed({"a": {"$ref": "#"}}), [{}, {"a": {"a": {}}}], [{"a": 1}])
case(
    "two that contain themselves",
    {
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": {
            "a": {"type": "object", "properties": {"n": {"$ref": "#/$defs/a"}, "v": {}}},
            "b": {"properties": {"n": {"$ref": "#/$defs/b"}, "v": {"type": "null"}}, "required": ["v"]},
        },
    },
    [{"v": None}, {"n": {"v": None}, "v": None}],
    [{}, {"n": {}, "v": None}],
)
case("$anchor", {"$ref": "#here", "$defs": {"s": {"$anchor": "here", "type": "null"}}}, [None], [1])
case("$id", {"$id": "https://example.org/a", "$ref": "b", "$defs": {"s": {"$id": "b", "type": "null"}}}, [None], [1])
case(
    "$dynamicRef",
    {"type": "array", "items": {"$dynamicRef": "#item"}, "$defs": {"s": {"$dynamicAnchor": "item", "type": "null"}}},
    [[None]],
    [[1]],
)
case(
    "$ref into a property", closed({"a": {"type": "null"}, "b": {"$ref": "#/properties/a"}}), [{"b": None}], [{"b": 1}]
)
case(
    "annotations",
    {
        "title": "T",
        "description": "D",
        "default": 1,
        "examples": [2],
        "deprecated": True,
        "readOnly": True,
        "x-mine": 3,
    },
    [1, None],
    [],
)
