"""What grammars allow for a value that stands as raw text: a string as it is, everything else as JSON.

By JSON type, because some wires name it. What a schema says beyond types and listed values holds for JSON only: lengths
and patterns of strings are left to the validator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from wieldy.core.json import JsonObject, JsonValue
from wieldy.formats.values.expected import Expected
from wieldy.formats.values.values import encode
from wieldy.grammar.shape import Exact, InOrder, Json, OneOf, Repeated, Shape, in_order, maybe
from wieldy.schema.resolve import type_of


def json_type(kind: str) -> str:
    """The type as JSON has it, which knows no integers."""
    return "number" if kind == "integer" else kind


def raw_shapes(
    expected: Expected, *, text: Shape, written: Callable[[str], str] = lambda string: string
) -> dict[str, Shape]:
    """What may stand for a value, by its JSON type.

    Args:
        expected: What the schema says of it.
        text: Any string.
        written: A string as it is written.
    """
    admitted = expected.admitted
    found: dict[str, list[Shape]] = {}
    for value in admitted.values:
        spelled = written(value) if isinstance(value, str) else encode(value, expected)
        found.setdefault(json_type(type_of(value)), []).append(Exact(spelled) if spelled else InOrder(()))
    kinds = sorted({json_type(kind) for kind in admitted.types})
    for kind in kinds:
        whole = len(kinds) == 1 and not admitted.values
        shape = text if kind == "string" else Json(expected.schema if whole else _narrowed(expected.schema, kind))
        found.setdefault(kind, []).append(shape)
    return {kind: one_of(shapes) for kind, shapes in found.items()} or {"string": text}


def arguments_in_order(parts: Sequence[tuple[Shape, bool]], *, between: str, after: str) -> Shape:
    """The arguments in order, those that are not required left out at will.

    Args:
        parts: Each argument's shape, and whether it is required.
        between: Layout between two that are there.
        after: Layout behind the last; where all are left out, it is left out with them.
    """
    body = in_order(parts, Exact(between) if between else None)
    if not after or not parts:
        return body
    if isinstance(body, Repeated):
        return maybe(InOrder((body.part, Exact(after))))
    return InOrder((body, Exact(after)))


def one_of(shapes: Iterable[Shape]) -> Shape:
    """Any of the shapes, of which there is at least one; each once."""
    distinct: list[Shape] = []
    for shape in shapes:
        if shape not in distinct:
            distinct.append(shape)
    return distinct[0] if len(distinct) == 1 else OneOf(tuple(distinct))


def _narrowed(schema: JsonObject, kind: str) -> JsonObject:
    named = schema.get("type")
    kinds: list[JsonValue] = ["integer", "number"] if kind == "number" else [kind]
    if isinstance(named, list):
        kinds = [known for known in kinds if known in named] or kinds
    only: JsonObject = {"type": kinds if len(kinds) > 1 else kinds[0]}
    if isinstance(named, str | list):
        return {**schema, **only}
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    own = {key: value for key, value in schema.items() if key not in shared}
    return {**shared, "allOf": [own, only]} if own else only
