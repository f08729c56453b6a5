"""What grammars allow for arguments that stand as elements, and which values are elements at all.

Strings are any text without their own closing tag, values that no schema describes further are JSON, and a schema that
contains itself becomes a rule that contains itself. `pattern`, lengths of strings and conditions are left to the
validator.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from wieldy.core.json import JsonObject
from wieldy.formats.nodes.flat import Around
from wieldy.formats.nodes.raw_shapes import arguments_in_order, one_of, raw_shapes
from wieldy.formats.nodes.text_ends import ends_of_text
from wieldy.formats.reading.pattern import SPACE, Either, End, Part
from wieldy.formats.values.expected import ANYTHING, Expected
from wieldy.formats.values.trees import ITEM
from wieldy.grammar.shape import Exact, InOrder, Named, Repeated, Shape, TextWithout, in_order

Nested: TypeAlias = Literal["object", "array"]
_FAR = 1_000_000


def nested_kind(expected: Expected) -> Nested | None:
    """Whether values here are written as elements within elements: objects and arrays whose inside the schema tells."""
    if expected.admitted.values:
        return None
    match sorted(expected.types - {"null"}):
        case ["object"] if expected.names:
            return "object"
        case ["array"] if (item := expected.item(0)) != ANYTHING and item == expected.item(_FAR):
            return "array"
        case _:
            return None


class XmlShapes:
    """The shapes of the elements of one tool; nested ones have names, so that they can contain themselves.

    Args:
        mark: What stands before every tag.
        rules: The shapes that have names.
        around: Where the arguments stand.
    """

    def __init__(self, mark: str, rules: dict[str, Shape], around: Around) -> None:
        self._mark, self._rules, self._around = mark, rules, around
        self._known: dict[tuple[str, Expected], str] = {}

    def arguments(self, expected: Expected, *, between: str, after: str) -> Shape:
        """Every argument at most once, in the order of the schema; those that it requires, once."""
        names, required = expected.names, expected.required
        parts = [(self._argument(name, expected.member(name)), name in required) for name in names]
        return arguments_in_order(parts, between=between, after=after)

    def _argument(self, name: str, expected: Expected) -> Shape:
        if not expected.takes_any_text or nested_kind(expected) is not None:
            return self._element(name, expected)
        inside = one_of(raw_shapes(expected, text=self._raw_text(name)).values())
        return InOrder(
            (Exact(f"{self._mark}<{name}>", token=True), inside, Exact(f"{self._mark}</{name}>", token=True))
        )

    def _raw_text(self, name: str) -> Shape:
        """Text without its closing tag, in which the call does not end either.

        A parser reads a closing tag as text where no tag follows. A grammar would also have to keep the text from
        ending with such a tag, before the real one: so there is none in it.
        """
        return TextWithout(ends_of_text((f"{self._mark}</{name}>",), end_of_call(self._around)))

    def _text(self, name: str, expected: Expected) -> Shape:
        """Text of an element; where elements may stand in it, it has no tags."""
        return TextWithout((f"{self._mark}<",)) if expected.types & {"array", "object"} else self._raw_text(name)

    def _element(self, name: str, expected: Expected) -> Shape:
        close = f"{self._mark}</{name}>"
        opening = Exact(f"{self._mark}<{name}>", token=True)
        if nested_kind(expected) is None:
            return InOrder((opening, self._inside(name, expected, close)))
        # The opening tag stays outside: an engine that cannot look ahead knows by it that the named shape begins.
        key = name, expected
        if key not in self._known:
            self._known[key] = rule = f"element_{len(self._rules)}"
            self._rules[rule] = InOrder(())
            self._rules[rule] = self._inside(name, expected, close)
        return InOrder((opening, Named(self._known[key])))

    def _inside(self, name: str, expected: Expected, close: str) -> Shape:
        """What stands between an opening tag and its closing tag, and that."""
        match nested_kind(expected):
            case "object":
                required = expected.required
                parts = [(self._element(name, expected.member(name)), name in required) for name in expected.names]
                inside: list[Shape] = [in_order(parts)]
            case "array":
                least, most = _count(expected.schema, "minItems") or 0, _count(expected.schema, "maxItems")
                inside = [Repeated(self._element(ITEM, expected.item(0)), at_least=least, at_most=most)]
            case None:
                inside = list(raw_shapes(expected, text=self._text(name, expected)).values())
        if nested_kind(expected) and "null" in expected.types:
            inside.append(Exact("null"))
        return InOrder((one_of(inside), Exact(close, token=True)))


def end_of_call(around: Around) -> tuple[Part, ...]:
    """What shows that a call is over, whatever is open; empty if nothing does."""
    behind = tuple((literal,) for literal in around.behind)
    return (*around.end, SPACE, Either((*behind, (End(),)))) if around.end else ()


def _count(schema: JsonObject, keyword: str) -> int | None:
    value = schema.get(keyword)
    return int(value) if isinstance(value, int | float) and value >= 0 else None
