"""What in code surely fails as soon as it is run: literals that a tool refuses, and parts that its results never have.

Law: code that would come to its end is not refused. So only what is reached whatever happens, and caught by nobody, is
looked at: expressions at the top of the code, outside loops, branches, functions, `try` and `with`. Formats of texts
are left to the tool. Pure: the code is only parsed.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue, canonical_json, is_json
from wieldy.run.actions.code.parts_of_results import Places
from wieldy.schema import CompiledSchema, Violation, coerce

if TYPE_CHECKING:
    from wieldy.run.actions.code.stubs import Stub, Stubs

_FORMATS: Final = frozenset(
    {"date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6"}
    | {"uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer"}
    | {"regex"}
)
_PLAIN_ROOT: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "$defs", "title", "description", "$schema"}
)
"""Keywords of a schema in which each property is judged by its own part alone."""

_SHOWN: Final = 80

Found: TypeAlias = tuple[ast.expr, str]
"""A place in the code, and what is wrong there."""


def surely_wrong(tree: ast.Module, stubs: Stubs, *, rebound: Collection[str]) -> Iterator[Found]:
    """What surely fails.

    Args:
        tree: The code.
        stubs: The tools.
        rebound: Names that the code itself gives a value, which are no tools any more.
    """
    schemas: dict[str, CompiledSchema | None] = {}
    places = Places(tree)
    for statement in tree.body:
        reached = _reached(statement)
        calls = dict(_tool_calls(reached, stubs, rebound))
        for call, stub in calls.items():
            yield from _refused_literals(call, stub, schemas)
        places.enter(reached, calls)
        for node in reached:
            if isinstance(node, ast.Attribute | ast.Subscript) and (text := places.lacks(node)) is not None:
                yield node, text
        places.leave(statement)


# What is reached


def _reached(statement: ast.stmt) -> list[ast.expr]:
    """The expressions that are evaluated, whatever their values, unless one before them has ended the code.

    Each stands before its parts.
    """
    match statement:
        case ast.Expr(value=first) | ast.Assign(value=first) | ast.AugAssign(value=first):
            waiting = [first]
        case ast.AnnAssign(value=ast.expr() as first):
            waiting = [first]
        case ast.If(test=first) | ast.While(test=first) | ast.For(iter=first):
            waiting = [first]
        case _:
            return []
    found: list[ast.expr] = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += _first_parts(node)
    return found


def _first_parts(node: ast.expr) -> Sequence[ast.expr]:
    """The parts that are evaluated whenever the expression is."""
    match node:
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first):
            return [first]
        case ast.Compare(left=left, comparators=[right, *_]):
            return [left, right]
        case ast.ListComp(generators=[first, *_]) | ast.SetComp(generators=[first, *_]):
            return [first.iter]
        case ast.DictComp(generators=[first, *_]):
            return [first.iter]
        case ast.Lambda() | ast.GeneratorExp() | ast.Yield() | ast.YieldFrom():
            return []
        case ast.Call(func=func, args=args, keywords=keywords):
            return [func, *args, *(word.value for word in keywords)]
        case _:
            return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]


def _tool_calls(reached: Sequence[ast.expr], stubs: Stubs, rebound: Collection[str]) -> Iterator[tuple[ast.Call, Stub]]:
    """The calls of tools that are made, and whose failure ends the code: those that are awaited, or need not be."""
    awaited = [node.value for node in reached if isinstance(node, ast.Await)]
    gathered = [part for node in awaited if _is_gather(node, rebound) for part in cast("ast.Call", node).args]
    waited_for = {id(node) for node in (*awaited, *gathered)}
    for node in reached:
        match node:
            case ast.Call(func=ast.Name(id=name)) if id(node) in waited_for:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="sync")):
                pass
            case _:
                continue
        stub = stubs.by_identifier.get(name)
        if stub is not None and name not in rebound:
            yield node, stub


def _is_gather(node: ast.expr, rebound: Collection[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio"), attr="gather"), keywords=[]):
            return "asyncio" not in rebound
        case _:
            return False


# Literals that are refused


def _refused_literals(call: ast.Call, stub: Stub, schemas: dict[str, CompiledSchema | None]) -> Iterator[Found]:
    given = _given(call, stub)
    if not given:
        return
    if stub.tool not in schemas:
        schemas[stub.tool] = _judging(stub.input_schema)
    schema = schemas[stub.tool]
    if schema is None:
        return
    for name, (node, value) in given.items():
        # Alone: what else is given changes nothing about what this property may be.
        fitted, _ = coerce(schema, {name: value})
        violation = next((each for each in schema.violations(fitted) if each.path[:1] == (name,)), None)
        if violation is not None and isinstance(fitted, dict) and name in fitted:
            yield node, f"`{stub.identifier}` refuses {_shown(value)} for `{name}`: {_words(violation, name)}"


def _given(call: ast.Call, stub: Stub) -> Mapping[str, tuple[ast.expr, JsonValue]]:
    """The literals among the arguments, by the tool's names of the parameters."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return {}
    nodes = dict(zip((each.identifier for each in stub.parameters), call.args, strict=False))
    nodes |= {word.arg: word.value for word in call.keywords if word.arg}
    found: dict[str, tuple[ast.expr, JsonValue]] = {}
    for parameter in stub.parameters:
        node = nodes.get(parameter.identifier)
        is_literal, value = (False, None) if node is None else _literal(node)
        # None stands for an argument that is left out, where it is no value.
        if node is not None and is_literal and (value is not None or parameter.takes_null or parameter.is_required):
            found[parameter.name] = node, value
    return found


def _literal(node: ast.expr) -> tuple[bool, JsonValue]:
    try:
        value: object = _as_sent(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False, None
    return (True, cast("JsonValue", value)) if is_json(value) else (False, None)


def _as_sent(value: Any) -> Any:
    """As code's arguments go to the host."""
    if isinstance(value, dict):
        return {str(name): _as_sent(item) for name, item in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_as_sent(item) for item in cast("Sequence[object]", value)]
    return value


def _judging(document: JsonObject) -> CompiledSchema | None:
    """The schema, if each property of it can be judged alone."""
    if not set(document) <= _PLAIN_ROOT:
        return None
    try:
        return CompiledSchema(document, formats=dict.fromkeys(_FORMATS, _is_any))
    except UsageError:  # told elsewhere, to whoever brought the tool
        return None


def _is_any(text: str) -> bool:
    del text
    return True


def _words(violation: Violation, name: str) -> str:
    place = ".".join(map(str, violation.path[1:]))
    expected = violation.reason or f"expected {violation.expected}"
    return f"{expected}{f' at `{name}.{place}`' if place else ''}"


def _shown(value: JsonValue) -> str:
    text = canonical_json(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
