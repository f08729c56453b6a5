"""Shapes as xgrammar's structural tags: JSON that says how formats nest.

Each shape has its counterpart, except one that contains itself or is very large: an embedded grammar (`gbnf`). Of a
marker with white space in it the longest text is excluded, which is stricter than the shape. Special tokens are written
as text; xgrammar matches a token by its text.
"""

from __future__ import annotations

from wieldy.core.errors import GrammarError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.naming import parts, recursive_names
from wieldy.grammar.notation.gbnf import to_gbnf
from wieldy.grammar.notation.markers import texts_of
from wieldy.grammar.notation.neighbours import with_single_texts
from wieldy.grammar.reading.character_class import character_class
from wieldy.grammar.shape import (
    Characters,
    Exact,
    InOrder,
    Json,
    Marker,
    Named,
    OneOf,
    Repeated,
    Rules,
    Shape,
    TextWithout,
)
from wieldy.schema.rewrite import rewritten

_MAX_FORMATS = 3000
"""A part of more formats than this is an embedded grammar: JSON cannot say that two parts are the same one."""


def to_structural_tag(rules: Rules) -> JsonObject:
    """The structural tag that accepts every text of the rules: what a `response_format` takes.

    Raises:
        GrammarError: A name has no shape, or a repetition's bounds contradict each other.
    """
    recursive = recursive_names(rules)
    try:
        single = with_single_texts(rules)
        return {"type": "structural_tag", "format": _Writer(single, recursive).format(single.start)}
    except RecursionError:
        raise GrammarError("The shape cannot be written as a structural tag: it is nested too deeply.") from None


class _Writer:
    def __init__(self, rules: Rules, recursive: frozenset[str]) -> None:
        self._rules = rules
        self._recursive = recursive
        self._sizes: dict[int, int] = {}

    def format(self, shape: Shape) -> JsonObject:
        """The format that accepts every text of the shape."""
        if self._size(shape) > _MAX_FORMATS and not isinstance(shape, InOrder):
            return self._grammar(shape)
        return self._new_format(shape)

    def _new_format(self, shape: Shape) -> JsonObject:
        match shape:
            case Exact(text=text):
                return {"type": "const_string", "value": text}
            case Characters():
                return {"type": "regex", "pattern": _pattern(shape)}
            case TextWithout(markers=markers):
                return _any_text(markers)
            case Json(schema=schema):
                return {"type": "json_schema", "json_schema": rewritten(schema, _open)}
            case InOrder(parts=inner):
                return _sequence([self.format(part) for part in inner])
            case OneOf(options=options):
                return {"type": "or", "elements": [self.format(option) for option in options]}
            case Repeated():
                return self._repeated(shape)
            case Named(name=name) if name in self._recursive:
                return self._grammar(shape)
            case Named(name=name):
                return self.format(self._rules.named[name])

    def _grammar(self, shape: Shape) -> JsonObject:
        return {"type": "grammar", "grammar": to_gbnf(Rules(start=shape, named=self._rules.named))}

    def _size(self, shape: Shape) -> int:
        """How many formats the shape would be, with everything written out that shapes share."""
        if id(shape) not in self._sizes:
            inner = parts(shape)
            if isinstance(shape, Named) and shape.name not in self._recursive:
                inner = (self._rules.named[shape.name],)
            self._sizes[id(shape)] = 1 + sum(map(self._size, inner))
        return self._sizes[id(shape)]

    def _repeated(self, shape: Repeated) -> JsonObject:
        least, most = shape.at_least, shape.at_most
        if most is not None and most < least:
            raise GrammarError(f"A part cannot be repeated at least {least} and at most {most} times.")
        if most == 0:
            return _sequence([])
        part = self.format(shape.part)
        if shape.between is None:
            return _counted(part, least, most)
        more = _sequence([self.format(shape.between), part])
        several = _sequence([part, _counted(more, max(least - 1, 0), None if most is None else most - 1)])
        return several if least else _counted(several, 0, 1)


def _open(schema: JsonObject) -> JsonObject:
    """What the schema does not forbid, said aloud: xgrammar takes silence for a no."""
    said: JsonObject = {}
    if "properties" in schema and not schema.keys() & {"additionalProperties", "unevaluatedProperties"}:
        said["additionalProperties"] = True
    if "prefixItems" in schema and not schema.keys() & {"items", "unevaluatedItems"}:
        said["items"] = True
    return schema | said


def _counted(content: JsonObject, least: int, most: int | None) -> JsonObject:
    kinds: dict[tuple[int, int | None], str] = {(0, None): "star", (1, None): "plus", (0, 1): "optional"}
    if (least, most) == (1, 1):
        return content
    if (least, most) in kinds:
        return {"type": kinds[least, most], "content": content}
    return {"type": "repeat", "min": least, "max": -1 if most is None else most, "content": content}


def _sequence(elements: list[JsonObject]) -> JsonObject:
    if len(elements) == 1:
        return elements[0]
    if not elements:
        return {"type": "const_string", "value": ""}
    inner: list[JsonValue] = list(elements)
    return {"type": "sequence", "elements": inner}


def _any_text(markers: tuple[Marker, ...]) -> JsonObject:
    # The engine knows no white space between texts; without the longest of them the marker cannot occur either.
    excluded: list[JsonValue] = [max(texts_of(marker), key=len) for marker in markers]
    return {"type": "any_text", "excludes": excluded}


def _pattern(shape: Characters) -> str:
    if shape.at_most is not None and shape.at_most < shape.at_least:
        raise GrammarError(f"A run cannot have at least {shape.at_least} and at most {shape.at_most} characters.")
    most = "" if shape.at_most is None else shape.at_most
    return f"{character_class(shape.allowed).text(_escaped)}{{{shape.at_least},{most}}}"


def _escaped(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    return f"\\u{{{ord(character):X}}}"
