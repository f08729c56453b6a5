"""What grammars allow for arguments that stand as elements, and which values are elements at all.

Strings are any text without their own closing tag, values that no schema describes further are JSON, and a schema that
contains itself becomes a rule that contains itself. `pattern`, lengths of strings and conditions are left to the
validator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from wieldy.core.json import JsonObject
from wieldy.formats.expected import ANYTHING, Expected
from wieldy.formats.raw_shapes import arguments_in_order, one_of, raw_shapes
from wieldy.formats.shape import Exact, InOrder, Named, Repeated, Shape, TextWithout, in_order
from wieldy.formats.trees import ITEM

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
        ends: What ends a call, as it is written; raw text must do without.
    """

    def __init__(self, mark: str, rules: dict[str, Shape], *, ends: Sequence[str]) -> None:
        self._mark, self._rules, self._ends = mark, rules, tuple(ends)
        self._known: dict[tuple[str, Expected], str] = {}

    def arguments(self, expected: Expected, *, between: str, after: str) -> Shape:
        """Every argument at most once, in the order of the schema; those that it requires, once."""
        names, required = expected.names, expected.required
        parts = [(self._element(name, expected.member(name)), name in required) for name in names]
        return arguments_in_order(parts, between=between, after=after)

    def _element(self, name: str, expected: Expected) -> Shape:
        close = f"{self._mark}</{name}>"
        opening = Exact(f"{self._mark}<{name}>", token=True)
        if nested_kind(expected) is None:
            return InOrder((opening, self._inside(expected, close)))
        # The opening tag stays outside: an engine that cannot look ahead knows by it that the named shape begins.
        key = name, expected
        if key not in self._known:
            self._known[key] = rule = f"element_{len(self._rules)}"
            self._rules[rule] = InOrder(())
            self._rules[rule] = self._inside(expected, close)
        return InOrder((opening, Named(self._known[key])))

    def _inside(self, expected: Expected, close: str) -> Shape:
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
                inside = list(raw_shapes(expected, text=TextWithout((close, *self._ends))).values())
        if nested_kind(expected) and "null" in expected.types:
            inside.append(Exact("null"))
        return InOrder((one_of(inside), Exact(close, token=True)))


def _count(schema: JsonObject, keyword: str) -> int | None:
    value = schema.get(keyword)
    return int(value) if isinstance(value, int | float) and value >= 0 else None
