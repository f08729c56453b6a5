"""JSON Schemas for servers that mask tokens themselves: what their engines keep to, and what they pass over.

A schema is first lowered (`grammar.lowering`) to the few keywords that engines know. Of those an engine may still pass
over some, silently, or break the JSON; they are reported, and a validator finds what they let through. A server's
engine is known by its usual one only: another one enforces more, never less, of what is listed here.
Sources: xgrammar 0.2.8 and 0.2.9 as measured (`allOf` of patterns, `multipleOf` of numbers; with `minLength` or
`maxLength` it forbids escapes and lets control characters through, xgrammar#800, so lengths are left out); llama.cpp's
`grammars/README.md` and `common/json-schema-to-grammar.cpp` for its own converter. Both write what a pattern matches
as it is, quotes included; so a pattern is left out if it may match what JSON escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject
from wieldy.grammar.enforcement import Enforcement
from wieldy.grammar.lowering import lowered
from wieldy.grammar.naming import parts
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.reading.regex import searched
from wieldy.grammar.shape import Characters, Exact, TextWithout
from wieldy.schema.resolve import pointer
from wieldy.schema.rewrite import rewritten, subschemas

_LENGTHS: Final = frozenset({"minLength", "maxLength"})
_ESCAPED: Final = frozenset({'"', "\\", *map(chr, range(0x20))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What becomes of a lowered schema in a server.

    Attributes:
        leaves_out: The keywords of one subschema that do harm there and are not sent.
        passes_over: The keywords of one subschema that are sent and not enforced.
    """

    name: str
    leaves_out: Callable[[JsonObject], frozenset[str]]
    passes_over: Callable[[JsonObject], Iterator[str]]


def _by_xgrammar(schema: JsonObject) -> Iterator[str]:
    if "multipleOf" in schema and schema.get("type") == "number":
        yield "multipleOf"
    if "allOf" in schema:
        yield "allOf"


def _by_llama_cpp(schema: JsonObject) -> Iterator[str]:
    never = ("multipleOf", "minProperties", "maxProperties", "prefixItems", "allOf")
    yield from (keyword for keyword in never if keyword in schema)
    if schema.get("type") == "number":
        bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        yield from (keyword for keyword in bounds if keyword in schema)


def _by_gbnf(schema: JsonObject) -> Iterator[str]:
    never = ("pattern", "multipleOf", "minProperties", "maxProperties", "prefixItems", "allOf")
    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    yield from (keyword for keyword in (*never, *bounds) if keyword in schema)


def _unescaped(schema: JsonObject) -> frozenset[str]:
    pattern = schema.get("pattern")
    return frozenset({"pattern"}) if isinstance(pattern, str) and _may_need_escapes(pattern) else frozenset[str]()


def _unescaped_or_long(schema: JsonObject) -> frozenset[str]:
    return _unescaped(schema) | (_LENGTHS & schema.keys())


def _nothing(_: JsonObject) -> frozenset[str]:
    return frozenset()


def _may_need_escapes(pattern: str) -> bool:
    """Whether a text that matches may hold a character that JSON writes as an escape."""
    try:
        waiting = [searched(pattern)]
    except GrammarError:
        return True
    while waiting:
        shape = waiting.pop()
        match shape:
            case Exact(text=text) if any(character in text for character in _ESCAPED):
                return True
            case Characters(allowed=allowed) if any(character in character_class(allowed) for character in _ESCAPED):
                return True
            case TextWithout():
                return True
            case _:
                waiting += parts(shape)
    return False


XGRAMMAR: Final = Engine(name="xgrammar", leaves_out=_unescaped_or_long, passes_over=_by_xgrammar)
LLAMA_CPP: Final = Engine(name="llama.cpp", leaves_out=_unescaped, passes_over=_by_llama_cpp)
GBNF: Final = Engine(name="GBNF", leaves_out=_nothing, passes_over=_by_gbnf)
"""JSON within a grammar that we write ourselves (`grammar.notation`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A schema for an engine.

    Attributes:
        schema: What is sent; None where no constraint can be made.
        report: What became of each keyword that the engine does not simply enforce.
    """

    schema: JsonObject | None
    report: tuple[Enforcement, ...]

    @property
    def cannot(self) -> tuple[str, ...]:
        """What of the source nothing enforces, each by its place and keyword, with the reason."""
        return tuple(dict.fromkeys(str(entry) for entry in self.report if entry.by != "mask"))


def masked(schema: JsonObject, engine: Engine) -> Masked:
    """The schema as it is sent to a server with this engine."""
    low = lowered(schema)
    if low.refused:
        return Masked(schema=None, report=low.refused)
    told = [entry for entry in low.enforcement if entry.by == "validator" or entry.reason]
    reason = f"{engine.name} does not enforce it"
    told += [
        Enforcement(pointer=pointer(location), keyword=keyword, by="validator", reason=reason)
        for location, part in subschemas(low.schema)
        for keyword in (*sorted(engine.leaves_out(part)), *engine.passes_over(part))
    ]
    return Masked(schema=sent_to(engine, low.schema), report=tuple(dict.fromkeys(told)))


def sent_to(engine: Engine, schema: JsonObject) -> JsonObject:
    """The schema without the keywords that do harm in the engine, and with objects as all engines know them."""
    return rewritten(schema, lambda part: _plain_object(_without(part, engine.leaves_out(part))))


def _without(schema: JsonObject, keywords: frozenset[str]) -> JsonObject:
    return {name: value for name, value in schema.items() if name not in keywords}


def _plain_object(schema: JsonObject) -> JsonObject:
    """Named properties and no others, or a map; properties by pattern, which few engines know, are not written."""
    properties, patterns = schema.get("properties"), schema.get("patternProperties")
    if isinstance(properties, dict) and False in properties.values():
        written: JsonObject = {name: part for name, part in properties.items() if part is not False}
        return _plain_object({**schema, "properties": written, "additionalProperties": False})
    if not isinstance(patterns, dict):
        return schema
    rest = _without(schema, frozenset({"patternProperties"}))
    is_map = properties is None and patterns.keys() == {""}
    return {**rest, "additionalProperties": next(iter(patterns.values())) if is_map else False}
