"""The results of tools in code, and parts of them, by the schemas that the tools declare: what is never there.

Results are taken for what the tool declares that it returns. Pure: the code is only parsed. Deliberately not here:
which expressions are reached (`certain`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from wieldy.core.json import JsonObject
from wieldy.schema import nearest_names
from wieldy.schema.resolve import Location, accepted_types, conjunction, member_locations

if TYPE_CHECKING:
    from wieldy.run.actions.code.stubs import Stub

Place: TypeAlias = tuple[JsonObject, Location]
"""The schema of a value: the document, and where in it the schema lies."""

_OBJECT: Final = frozenset({"object"})
_OWN_ATTRIBUTES: Final = frozenset(dir(dict))
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assigned:
    """A name that is given the result of a call once, and only ever looked into.

    Attributes:
        place: The schema of what it is given.
        position: Line and column of where that is over; before, it may be a name that an earlier action has left.
    """

    place: Place
    position: tuple[int, int]


class Places:
    """Of expressions that are results of tools, or parts of them, the schemas.

    Args:
        tree: The code.
        calls: Those that bring results, with their tools.
    """

    def __init__(self, tree: ast.Module, calls: Mapping[ast.Call, Stub]) -> None:
        self._calls = {id(call): stub for call, stub in calls.items()}
        self._names: dict[str, _Assigned] = {}
        untouched = _only_looked_into(tree)
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in untouched:
                    place, end = self.of(value), (value.end_lineno or 0, value.end_col_offset or 0)
                    if place is not None:
                        self._names[name] = _Assigned(place=place, position=end)
                case _:
                    pass

    def of(self, node: ast.expr) -> Place | None:
        """The schema of the expression's value, if it is one of those."""
        match node:
            case ast.Await(value=ast.Call() as call):
                return self._returned(call)
            case ast.Call(func=ast.Attribute(attr="sync")):
                return self._returned(node)
            case ast.Name(id=name) if name in self._names:
                assigned = self._names[name]
                return assigned.place if (node.lineno, node.col_offset) >= assigned.position else None
            case ast.Attribute(value=base, attr=key):
                return None if key in _OWN_ATTRIBUTES else self._member(base, key)
            case ast.Subscript(value=base, slice=ast.Constant(value=str(key))):
                return self._member(base, key)
            case _:
                return None

    def lacks(self, node: ast.Attribute | ast.Subscript) -> str | None:
        """What is wrong if the part is never there; None if it may be."""
        if not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(node, ast.Attribute):
            key = node.attr
            if key in _OWN_ATTRIBUTES or key.startswith("_"):
                return None
        elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            key = node.slice.value
        else:
            return None
        place = self.of(node.value)
        known = None if place is None else _keys(place)
        if known is None or key in known:
            return None
        near = nearest_names(key, list(known), most=1)
        hint = f" (did you mean `{near[0]}`?)" if near else ""
        return f"`{ast.unparse(node.value)[:_SHOWN]}` has no `{key}`{hint}; it has {', '.join(known) or 'nothing'}"

    def _returned(self, call: ast.Call) -> Place | None:
        stub = self._calls.get(id(call))
        return None if stub is None or stub.output_schema is None else (stub.output_schema, ())

    def _member(self, base: ast.expr, key: str) -> Place | None:
        place = self.of(base)
        if place is None or accepted_types(*place) != _OBJECT:
            return None
        document, location = place
        found = [each for at, schema in conjunction(document, location) for each in member_locations(at, schema, key)]
        return (document, found[0]) if len(found) == 1 else None


def _keys(place: Place) -> tuple[str, ...] | None:
    """All keys that the value can have; None if that is not known."""
    if accepted_types(*place) != _OBJECT:
        return None
    for _, schema in conjunction(*place):
        properties = schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
        if is_closed and isinstance(properties, dict):
            return tuple(properties)
    return None


def _only_looked_into(tree: ast.Module) -> frozenset[str]:
    """The names that are bound once, and otherwise only stand where a part of their value is read."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = [node.id for node in names if not isinstance(node.ctx, ast.Load)]
    bound += [name for node in ast.walk(tree) for name in _bound_otherwise(node)]
    once = {name for name in bound if bound.count(name) == 1}
    others = {node.id for node in names if isinstance(node.ctx, ast.Load) and not _is_read(node, parents.get(node))}
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    return frozenset(once - others - declared)


def _bound_otherwise(node: ast.AST) -> Sequence[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.alias(name=name, asname=other):
            return [other or name.partition(".")[0]]
        case _:
            return []


def _is_read(node: ast.Name, parent: ast.AST | None) -> bool:
    match parent:
        case ast.Attribute(value=value, attr=attribute, ctx=ast.Load()):
            return value is node and attribute not in _OWN_ATTRIBUTES
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is node
        case _:
            return False
