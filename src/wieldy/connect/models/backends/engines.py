"""JSON Schemas for servers that mask tokens themselves: what their engines keep to, and what they pass over.

A schema is first lowered (`grammar.lowering`) to the few keywords that engines know. Of those an engine may still pass
over some, silently; they are reported, and a validator finds what they let through. A server's engine is known by its
usual one only: another engine enforces more, never less, of what is listed here.
Sources: xgrammar 0.2.8 and 0.2.9 as measured (pattern beside a length, `allOf` of patterns, `multipleOf` of a fraction;
with `minLength` or `maxLength` it forbids escapes and lets control characters through, xgrammar#800, so lengths are
left out); llama.cpp's `grammars/README.md` for its own converter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from wieldy.core.json import JsonObject
from wieldy.grammar.lowering import lowered
from wieldy.schema.resolve import pointer
from wieldy.schema.rewrite import rewritten, subschemas


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What becomes of a lowered schema in a server.

    Attributes:
        leaves_out: Keywords that do harm there and are not sent.
        passes_over: The keywords of one subschema that are sent and not enforced.
    """

    name: str
    leaves_out: frozenset[str]
    passes_over: Callable[[JsonObject], Iterator[str]]


def _by_xgrammar(schema: JsonObject) -> Iterator[str]:
    step = schema.get("multipleOf")
    if isinstance(step, float) and not step.is_integer():
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


XGRAMMAR: Final = Engine(name="xgrammar", leaves_out=frozenset({"minLength", "maxLength"}), passes_over=_by_xgrammar)
LLAMA_CPP: Final = Engine(name="llama.cpp", leaves_out=frozenset(), passes_over=_by_llama_cpp)
GBNF: Final = Engine(name="GBNF", leaves_out=frozenset(), passes_over=_by_gbnf)
"""JSON within a grammar that we write ourselves (`grammar.notation`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A schema for an engine.

    Attributes:
        schema: What is sent; None where no constraint can be made.
        cannot: What of the source nothing enforces, each by its place and keyword, with the reason.
    """

    schema: JsonObject | None
    cannot: tuple[str, ...]


def masked(schema: JsonObject, engine: Engine) -> Masked:
    """The schema as it is sent to a server with this engine."""
    low = lowered(schema)
    if low.refused:
        return Masked(schema=None, cannot=tuple(map(str, low.refused)))
    left = [str(entry) for entry in low.enforcement if entry.by == "validator"]
    for location, part in subschemas(low.schema):
        keywords = [keyword for keyword in part if keyword in engine.leaves_out]
        for keyword in (*keywords, *engine.passes_over(part)):
            left.append(f"{pointer(location)} `{keyword}`: by the validator ({engine.name} does not enforce it)")
    return Masked(schema=sent_to(engine, low.schema), cannot=tuple(dict.fromkeys(left)))


def sent_to(engine: Engine, schema: JsonObject) -> JsonObject:
    """The schema without the keywords that do harm in the engine, and with maps as all engines know them."""
    kept = rewritten(schema, lambda part: {name: part[name] for name in part if name not in engine.leaves_out})
    return rewritten(kept, _without_patterns)


def _without_patterns(schema: JsonObject) -> JsonObject:
    """Named properties and no others, or a map; properties by pattern are known to few engines, and are not written."""
    patterns = schema.get("patternProperties")
    if not isinstance(patterns, dict):
        return schema
    rest = {name: value for name, value in schema.items() if name != "patternProperties"}
    is_map = not schema.get("properties") and patterns.keys() == {""}
    return {**rest, "additionalProperties": next(iter(patterns.values())) if is_map else False}
