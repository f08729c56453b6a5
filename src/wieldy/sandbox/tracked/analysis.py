"""What parts of the code could do, read off the code: the ground on which branches that are not taken are judged.

Where data decides which way code goes, everything that *either* way could change is changed by that data. Which names
are assigned is in the code. Which containers are changed is not quite: a name may have been bound to another container
meanwhile. A part is *entangled* if it changes a container by a name that it binds to something that is not new, or by
an expression; then every container that it can reach counts as changed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Final, cast

MUTATING: Final = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "intersection_update",
        "difference_update",
    ]
)
"""Methods that change what they are called on."""

_NEW: Final = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.JoinedStr, ast.Constant)
_NEW_FROM: Final = frozenset({"list", "dict", "set", "sorted", "str", "int", "float", "len", "range"})
_CANNOT_FAIL: Final = (
    ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.Return, ast.Assign, ast.Expr, ast.If, ast.expr_context,
    ast.Global, ast.Nonlocal,
)  # fmt: skip
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS: Final = (ast.For, ast.While)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Effects:
    """What a part of the code could do.

    Attributes:
        assigned: Names that it binds or unbinds; those of comprehensions, which end with them, are not among them.
        deleted: Those of them that it unbinds.
        declared: Names that it, or a function in it, says are of a scope further out.
        mutated: Names of containers that it changes.
        loads: All names that it reads.
        rebound: Names that it may bind to a container that is not new.
        made_by: Names that are bound to something new, if the name of a builtin beside it means what it usually does.
        is_entangled: It may change any container that it can reach, whatever it is called.
        can_fail: It may raise.
        can_wait: It may itself wait for a call.
    """

    assigned: frozenset[str]
    deleted: frozenset[str]
    declared: frozenset[str]
    mutated: frozenset[str]
    loads: frozenset[str]
    rebound: frozenset[str]
    made_by: frozenset[tuple[str, str]]
    is_entangled: bool
    can_fail: bool
    can_wait: bool


class Analysis:
    """Effects of the parts of one piece of code, and where the ways of its branches meet again."""

    def __init__(self, tree: ast.AST) -> None:
        self._effects: dict[ast.AST, Effects] = {}
        self._joins: dict[ast.AST, ast.AST] = {}
        self._jumps: dict[ast.AST, bool] = {}
        self._bound = names_bound(tree)
        self._place(tree, tree, None)

    def effects(self, node: ast.AST) -> Effects:
        """What the node could do, with all that is in it."""
        found = self._effects.get(node)
        if found is None:
            found = self._effects[node] = _collect(node, self._bound)
        return found

    def join(self, node: ast.AST) -> ast.AST:
        """That at whose end the ways of a branch meet: further out, if it leaves a loop or a function."""
        return self._joins.get(node, node)

    def jumps(self, node: ast.AST) -> bool:
        """Whether the node may leave its loop or its function."""
        return self._jumps.get(node, False)

    def _place(self, node: ast.AST, function: ast.AST, loop: ast.AST | None) -> set[str]:
        """Notes for every statement where its ways meet; gives the ways in which the node is left."""
        left: set[str] = set()
        if isinstance(node, _FUNCTIONS):
            function, loop = node, None
        for name, child in _children(node):
            inner = node if isinstance(node, _LOOPS) and name == "body" else loop
            ways = self._place(child, function, inner)
            left |= ways - {"loop"} if inner is node else ways
        if isinstance(node, ast.Return):
            left.add("function")
        elif isinstance(node, ast.Break | ast.Continue):
            left.add("loop")
        elif isinstance(node, _FUNCTIONS):
            left.clear()
        self._joins[node] = function if "function" in left else (loop or node) if "loop" in left else node
        self._jumps[node] = bool(left)
        return left


def _children(node: ast.AST) -> list[tuple[str, ast.AST]]:
    found: list[tuple[str, ast.AST]] = []
    for name, value in ast.iter_fields(node):
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        found += [(name, child) for child in several if isinstance(child, ast.AST)]
    return found


class _Collector:
    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.deleted: set[str] = set()
        self.declared: set[str] = set()
        self.mutated: set[str] = set()
        self.loads: set[str] = set()
        self.rebound: set[str] = set()
        self.made_by: set[tuple[str, str]] = set()
        self.is_entangled = False

    def visit(self, node: ast.AST) -> None:
        visit = _VISITS.get(type(node))
        if visit:
            visit(self, node)

    def name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.loads.add(node.id)
            return
        self.assigned.add(node.id)
        if isinstance(node.ctx, ast.Del):
            self.deleted.add(node.id)

    def changes(self, container: ast.expr) -> None:
        if isinstance(container, ast.Name):
            self.mutated.add(container.id)
        elif not isinstance(container, _NEW):
            self.is_entangled = True

    def assign(self, node: Any) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            if node.value is None or isinstance(node.value, _NEW):
                return
            maker = _builtin_that_makes(node.value)
            if maker:
                self.made_by.add((targets[0].id, maker))
                return
        self.binds(*targets)

    def binds(self, *targets: ast.AST) -> None:
        for target in targets:
            self.rebound |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}

    def goes_through(self, node: Any) -> None:
        self.binds(node.target)

    def augment(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.mutated.add(node.target.id)
            self.loads.add(node.target.id)

    def attribute(self, node: ast.Attribute) -> None:
        # The method may be called at once, or be handed to who calls it.
        if node.attr in MUTATING:
            self.changes(node.value)

    def subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.changes(node.value)

    def argument(self, node: ast.arg) -> None:
        self.rebound.add(node.arg)

    def define(self, node: Any) -> None:
        self.assigned.add(node.name)

    def handler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.assigned.add(node.name)
            self.deleted.add(node.name)

    def imports(self, node: Any) -> None:
        self.assigned |= {alias.asname or alias.name for alias in node.names}

    def declare(self, node: Any) -> None:
        self.declared |= set(node.names)


def _builtin_that_makes(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _NEW_FROM:
        return value.func.id
    return ""


_VISITS: Final[dict[type[ast.AST], Any]] = {
    ast.Name: _Collector.name,
    ast.Assign: _Collector.assign,
    ast.AnnAssign: _Collector.assign,
    ast.NamedExpr: _Collector.assign,
    ast.For: _Collector.goes_through,
    ast.comprehension: _Collector.goes_through,
    ast.AugAssign: _Collector.augment,
    ast.Attribute: _Collector.attribute,
    ast.Subscript: _Collector.subscript,
    ast.arg: _Collector.argument,
    ast.FunctionDef: _Collector.define,
    ast.AsyncFunctionDef: _Collector.define,
    ast.ExceptHandler: _Collector.handler,
    ast.Import: _Collector.imports,
    ast.ImportFrom: _Collector.imports,
    ast.Global: _Collector.declare,
    ast.Nonlocal: _Collector.declare,
}


def _collect(node: ast.AST, bound: frozenset[str]) -> Effects:
    seen = _Collector()
    can_fail = can_wait = False
    within = _targets_of_comprehensions(node)
    for part in ast.walk(node):
        if part not in within:
            seen.visit(part)
        is_stored = isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        can_fail = can_fail or not (is_stored or isinstance(part, _CANNOT_FAIL))
        can_wait = can_wait or _waits(part)
    rebound = seen.rebound | {name for name, maker in seen.made_by if maker in bound}
    return Effects(
        assigned=frozenset(seen.assigned),
        deleted=frozenset(seen.deleted),
        declared=frozenset(seen.declared),
        mutated=frozenset(seen.mutated),
        loads=frozenset(seen.loads),
        rebound=frozenset(rebound),
        made_by=frozenset(seen.made_by),
        is_entangled=seen.is_entangled,
        can_fail=can_fail,
        can_wait=can_wait,
    )


def _waits(part: ast.AST) -> bool:
    """Whether it awaits, or takes what waits when it is called: `asyncio.run`, or `sync` of a tool."""
    if isinstance(part, ast.ImportFrom):
        return any(alias.name == "run" for alias in part.names)
    return isinstance(part, ast.Await) or (isinstance(part, ast.Attribute) and part.attr in ("run", "sync"))


def _names(target: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}


def _targets_of_comprehensions(node: ast.AST) -> set[ast.AST]:
    """The places of names that comprehensions bind for themselves."""
    targets = [part.target for part in ast.walk(node) if isinstance(part, ast.comprehension)]
    parts = (part for target in targets for part in ast.walk(target))
    return {part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def names_bound(tree: ast.AST) -> frozenset[str]:
    """Every name that is bound somewhere in the code, in whatever scope."""
    return frozenset(name for part in ast.walk(tree) for name in _bound_by(part))


def _bound_by(part: ast.AST) -> set[str]:
    seen = _Collector()
    seen.visit(part)
    return seen.assigned | ({part.arg} if isinstance(part, ast.arg) else set())


def encloses(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether the inner one stands within the outer one, or is it; both are of one piece of code."""
    if not isinstance(outer, ast.stmt | ast.expr) or not isinstance(inner, ast.stmt | ast.expr):
        return True
    begin, end = (outer.lineno, outer.col_offset), (outer.end_lineno or 0, outer.end_col_offset or 0)
    return begin <= (inner.lineno, inner.col_offset) and (inner.end_lineno or 0, inner.end_col_offset or 0) <= end


def local_names(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The names of a function's or comprehension's own scope, and those that it says are of the module."""
    found: set[str] = set()
    outer: set[str] = set()
    module: set[str] = set()
    waiting = [child for _, child in _children(node)]
    if isinstance(node, _COMPREHENSIONS):
        names = {name for part in node.generators for name in _names(part.target)}
        return frozenset(names), frozenset()
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Global):
            module |= set(part.names)
        elif isinstance(part, ast.Nonlocal):
            outer |= set(part.names)
        elif isinstance(part, ast.arg):
            found.add(part.arg)
        seen = _Collector()
        if not isinstance(part, ast.comprehension):
            seen.visit(part)
        found |= seen.assigned
        if isinstance(part, _FUNCTIONS):
            continue
        skipped = "target" if isinstance(part, ast.comprehension) else ""
        waiting += [child for name, child in _children(part) if name != skipped]
    return frozenset(found - outer - module), frozenset(module)
