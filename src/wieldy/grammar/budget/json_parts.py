"""JSON Schemas as parts: what `lowering` makes of a schema, said in bytes.

Mirrors the engine's reading where it narrows what JSON could be: properties in the schema's order and further ones
behind them, no escapes where none are needed, no white space outside the value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial

from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.grammar.budget.leaves import EMPTY, Literal, character
from wieldy.grammar.budget.meeting import Meeting
from wieldy.grammar.budget.numbers import Bounds, number
from wieldy.grammar.budget.parts import IMPOSSIBLE, MAX_BYTES, Call, Chain, Choice, FreeText, Part, Repetition, Rule
from wieldy.grammar.budget.states import States
from wieldy.grammar.budget.texts import Texts, repetition
from wieldy.grammar.lowering import lowered
from wieldy.grammar.reading.regex import searched
from wieldy.grammar.shape import Exact, Json
from wieldy.schema.resolve import at, target

_NUMERIC = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_DIGIT = character((((ord("0"), ord("9")),),))
_WHITE_SPACE = repetition(character(tuple(((byte, byte),) for byte in b" \n\r\t")), 0, None)
_NOTHING = Part(IMPOSSIBLE)


class JsonParts:
    """The parts for the JSON values of one grammar.

    Args:
        states: Where the states of conditions are kept.
        known: What the engine has of each schema, by the canonical JSON of its source; a schema in a text of its own
            dialect is not among them.
    """

    def __init__(self, states: States, known: Mapping[str, JsonObject]) -> None:
        self._states = states
        self._known = known
        self._texts = Texts(states, in_json=True)

    def document(self, shape: Json) -> Part:
        """The part for a value that fits the schema."""
        source = canonical_json(shape.schema)
        schema = self._known[source] if source in self._known else lowered(shape.schema).schema
        return _Document(self._states, self._texts, schema, one_line=shape.one_line).value(schema)


class _Document:
    def __init__(self, states: States, texts: Texts, document: JsonObject, *, one_line: bool) -> None:
        self._states, self._texts = states, texts
        self._document = document
        self._rules: dict[int, tuple[JsonValue, Rule]] = {}
        gap: Part = EMPTY if one_line else _WHITE_SPACE
        self._comma = Literal(b", ") if one_line else Chain([gap, Literal(b","), gap])
        self._colon = Literal(b": ") if one_line else Chain([gap, Literal(b":"), gap])
        self._gap = gap
        self._any = Rule(partial(self._any_of_types, {}))

    def value(self, schema: JsonValue) -> Part:
        """The part for a value that fits the schema; calls of one rule for the same schema."""
        if schema is True or schema == {}:
            return Call(self._any)
        if not isinstance(schema, dict):
            return _NOTHING
        if (reference := target(schema.get("$ref"), self._document)) is not None:
            return self.value(at(self._document, reference))
        if id(schema) not in self._rules:
            self._rules[id(schema)] = (schema, Rule(partial(self._of_schema, schema)))
        return Call(self._rules[id(schema)][1])

    def _of_schema(self, schema: JsonObject) -> Part:
        match schema:
            case {"anyOf": list(branches)}:
                return Choice([self.value(branch) for branch in branches])
            case {"enum": list(values)}:
                return Choice([self._constant(value) for value in values])
            case _:
                return self._any_of_types(schema)

    def _any_of_types(self, schema: JsonObject) -> Part:
        makers: dict[str, Callable[[JsonObject], Part]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "number": _number,
            "integer": _number,
            "boolean": lambda _: Choice([Literal(b"true"), Literal(b"false")]),
            "null": lambda _: Literal(b"null"),
        }
        kind = schema.get("type")
        kinds = list(makers) if kind is None else kind if isinstance(kind, list) else [kind]
        return Choice([makers[name](schema) for name in kinds if isinstance(name, str) and name in makers])

    def _constant(self, value: JsonValue) -> Part:
        match value:
            case dict():
                members = [Chain([_text(name), self._colon, self._constant(part)]) for name, part in value.items()]
                return self._enclosed(b"{", self._listed(members), b"}")
            case list():
                return self._enclosed(b"[", self._listed(list(map(self._constant, value))), b"]")
            case str():
                # The engine takes every escape of a character that needs one.
                return Chain([Literal(b'"'), self._texts.part(Exact(value)), Literal(b'"')])
            case _:
                return _text(value)

    def _listed(self, parts: Sequence[Part]) -> Part:
        return Chain([piece for part in parts for piece in (self._comma, part)][1:])

    def _enclosed(self, opening: bytes, part: Part, closing: bytes) -> Part:
        return Chain([Literal(opening), self._gap, part, self._gap, Literal(closing)])

    # Strings

    def _string(self, schema: JsonObject) -> Part:
        quote = Literal(b'"')
        is_free = not schema.keys() & {"pattern", "allOf"}
        content = self._content(schema)
        return Chain([quote, FreeText(content) if is_free else content, quote])

    def _content(self, schema: JsonObject) -> Part:
        others = schema.get("allOf")
        schemas = (
            [schema, *(part for part in others if isinstance(part, dict))] if isinstance(others, list) else [schema]
        )
        conditions = [
            self._texts.part(searched(pattern)) for part in schemas if isinstance(pattern := part.get("pattern"), str)
        ]
        least, most = _count(schema, "minLength") or 0, _count(schema, "maxLength")
        if least > MAX_BYTES:
            conditions.clear()  # no completion is made of it, so that its length is all that matters
        if least or most is not None or not conditions:
            any_text = self._texts.any_text()
            assert isinstance(any_text, Repetition)
            conditions.append(repetition(any_text.part, least, most))
        return self._all(conditions)

    def _all(self, conditions: Sequence[Part], unwanted: Sequence[Part] = (), peak: int | None = None) -> Part:
        if len(conditions) == 1 and not unwanted:
            return conditions[0]
        return Meeting(self._states, conditions, unwanted, peak=peak).start

    # Objects

    def _object(self, schema: JsonObject) -> Part:
        named, required = schema.get("properties"), schema.get("required")
        properties = named if isinstance(named, dict) else {}
        names = required if isinstance(required, list) else []
        members: dict[str, Part] = {
            name: Chain([_text(name), self._colon, self.value(part)])
            for name, part in properties.items()
            if part is not False
        }
        further = self._further(schema, list(properties))
        least, most = _count(schema, "minProperties") or 0, _count(schema, "maxProperties")
        fixed = len([name for name in members if name in names])
        least = max(0, least - fixed) if fixed == len(members) else 0
        most = None if most is None or fixed < len(members) else max(0, most - fixed)
        return self._enclosed(b"{", self._members(members, set(map(str, names)), further, least, most), b"}")

    def _members(
        self, members: dict[str, Part], required: set[str], further: Part | None, least: int, most: int | None
    ) -> Part:
        """From the last member to the first: what may follow once a member has been written, and before that."""
        if further is None or most == 0:
            more, first = (EMPTY, EMPTY) if not least else (_NOTHING, _NOTHING)
        else:
            again = Chain([self._comma, further])
            more: Part = repetition(again, least, most)
            several = Chain([further, repetition(again, max(least - 1, 0), None if most is None else most - 1)])
            first: Part = several if least else Choice([EMPTY, several])
        for name, member in reversed(members.items()):
            following = Chain([self._comma, member, more])
            beginning = Chain([member, more])
            is_required = name in required
            more, first = (
                following if is_required else Choice([more, following]),
                beginning if is_required else Choice([first, beginning]),
            )
        return first

    def _further(self, schema: JsonObject, names: Sequence[str]) -> Part | None:
        """The part for a member that no property names; None where there is none."""
        patterns = schema.get("patternProperties")
        by_pattern = patterns if isinstance(patterns, dict) else {}
        keys = [self._texts.part(searched(pattern)) for pattern in by_pattern]
        taken: list[Part] = (
            [Choice([Literal(_quoted(name)[1:-1]) if name else EMPTY for name in names])] if names else []
        )
        options = [
            self._member(self._all([key], taken), self.value(part))
            for key, part in zip(keys, by_pattern.values(), strict=True)
            if part is not False
        ]
        rest = schema.get("additionalProperties", True)
        if rest is not False:
            unwanted = [*taken, *keys]
            # One more character makes a key another one than those with values of their own.
            peak = None if keys else 1
            key = self._all([self._texts.any_text()], unwanted, peak)
            options.append(self._member(key, self.value(rest)))
        return Choice(options) if options else None

    def _member(self, key: Part, value: Part) -> Part:
        return Chain([Literal(b'"'), key, Literal(b'"'), self._colon, value])

    # Arrays

    def _array(self, schema: JsonObject) -> Part:
        first, items = schema.get("prefixItems"), schema.get("items", True)
        prefix = [self.value(part) for part in first] if isinstance(first, list) else []
        item = None if items is False else self.value(items)
        least, most = _count(schema, "minItems") or 0, _count(schema, "maxItems")
        if item is None:
            most = len(prefix) if most is None else min(most, len(prefix))
        prefix = prefix if most is None else prefix[:most]
        more: Part = EMPTY
        if item is not None:
            still = None if most is None else most - len(prefix)
            more = repetition(Chain([self._comma, item]), max(0, least - len(prefix)), still) if still != 0 else EMPTY
        if not prefix and item is not None and most != 0:
            still = None if most is None else most - 1
            again = repetition(Chain([self._comma, item]), max(0, least - 1), still) if still != 0 else EMPTY
            several = Chain([item, again])
            return self._enclosed(b"[", several if least else Choice([EMPTY, several]), b"]")
        for index in range(len(prefix) - 1, -1, -1):
            written = Chain([*([self._comma] if index else []), prefix[index], more])
            more = written if index < least else Choice([EMPTY, written])
        return self._enclosed(b"[", more, b"]")


def _number(schema: JsonObject) -> Part:
    is_whole = schema.get("type") == "integer"
    if schema.keys() & _NUMERIC:
        return number(_bounds(schema, is_whole=is_whole))
    sign = Choice([EMPTY, Literal(b"-")])
    digits = Repetition(_DIGIT, 0, None)
    whole = Choice([Literal(b"0"), Chain([character((((ord("1"), ord("9")),),)), digits])])
    if is_whole:
        return Chain([sign, whole])
    decimals = Choice([EMPTY, Chain([Literal(b"."), _DIGIT, digits])])
    exponent_sign = character((((ord("+"), ord("+")),), ((ord("-"), ord("-")),)))
    letter = character((((ord("e"), ord("e")),), ((ord("E"), ord("E")),)))
    exponent = Choice([EMPTY, Chain([letter, Choice([EMPTY, exponent_sign]), _DIGIT, digits])])
    return Chain([sign, whole, decimals, exponent])


def _bounds(schema: JsonObject, *, is_whole: bool) -> Bounds:
    low, high = _exact(schema.get("minimum")), _exact(schema.get("maximum"))
    above, below = _exact(schema.get("exclusiveMinimum")), _exact(schema.get("exclusiveMaximum"))
    is_above = above is not None and (low is None or above >= low)
    is_below = below is not None and (high is None or below <= high)
    return Bounds(
        is_whole=is_whole,
        low=above if is_above else low,
        is_low_excluded=is_above,
        high=below if is_below else high,
        is_high_excluded=is_below,
        step=_exact(schema.get("multipleOf")),
    )


def _exact(value: JsonValue) -> Fraction | None:
    return Fraction(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(schema: JsonObject, keyword: str) -> int | None:
    value = schema.get(keyword)
    return int(value) if isinstance(value, int | float) else None


def _text(value: JsonValue) -> Part:
    return Literal(_quoted(value))


def _quoted(value: JsonValue) -> bytes:
    """The value as the engine writes it: numbers without an exponent and without zeros behind the point."""
    if isinstance(value, float):
        digits = format(Decimal(repr(value)), "f")
        return digits.removesuffix(".0").encode()
    # DEL is an escape.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f").encode()
