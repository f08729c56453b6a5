"""The results of tools in code, and parts of them, by the schemas that the tools declare: what is never there.

Results are taken for what the tool declares that it returns. Pure: the code is only parsed. Deliberately not here:
which expressions are reached (`certain`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
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


class Places:
    """The schemas of expressions that are results of tools, or parts of them; statements are entered in their order.

    Args:
        tree: The code.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._untouched = _only_looked_into(tree)
        self._names: dict[str, Place] = {}
        self._known: dict[int, Place] = {}

    def enter(self, reached: Sequence[ast.expr], calls: Mapping[ast.Call, Stub]) -> None:
        """These expressions of a statement, each before its parts, are looked at, with the tools that they call.

        Cost: linear.
        """
        self._known.clear()
        schemas = {id(call): stub.output_schema for call, stub in calls.items() if stub.output_schema is not None}
        for node in reversed(reached):
            call = node.value if isinstance(node, ast.Await) else node
            schema = schemas.get(id(call)) if node is not call or _needs_no_await(node) else None
            place = self._member(node) if schema is None else (schema, ())
            if place is not None:
                self._known[id(node)] = place

    def leave(self, statement: ast.stmt) -> None:
        """What the statement gives a name is known from here on, if the name is only ever looked into."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in self._untouched:
                if id(value) in self._known:
                    self._names[name] = self._known[id(value)]
            case _:
                pass

    def lacks(self, node: ast.Attribute | ast.Subscript) -> str | None:
        """What is wrong if the part is never there; None if it may be."""
        key = _key(node)
        match node.value:
            case ast.Name(id=name):
                place = self._names.get(name)
            case value:
                place = self._known.get(id(value))
        known = None if key is None or place is None else _keys(place)
        if known is None or key is None or key in known:
            return None
        near = nearest_names(key, list(known), most=1)
        hint = f" (did you mean `{near[0]}`?)" if near else ""
        return f"`{ast.unparse(node.value)[:_SHOWN]}` has no `{key}`{hint}; it has {', '.join(known) or 'nothing'}"

    def _member(self, node: ast.expr) -> Place | None:
        # Of a name only its own parts are known: what lies within them may have been changed by way of the name.
        if not isinstance(node, ast.Attribute | ast.Subscript):
            return None
        key, place = _key(node), self._known.get(id(node.value))
        if key is None or place is None or accepted_types(*place) != _OBJECT:
            return None
        document, location = place
        found = [each for at, schema in conjunction(document, location) for each in member_locations(at, schema, key)]
        return (document, found[0]) if len(found) == 1 else None


def _needs_no_await(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def _key(node: ast.Attribute | ast.Subscript) -> str | None:
    """The part that is read; None if it is none of a result's own, or not said."""
    match node:
        case ast.Attribute(attr=key, ctx=ast.Load()):
            return None if key in _OWN_ATTRIBUTES or key.startswith("_") else key
        case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load()):
            return key
        case _:
            return None


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
    once = {name for name, times in Counter(bound).items() if times == 1}
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
