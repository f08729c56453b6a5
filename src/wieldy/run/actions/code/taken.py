"""The names that code takes from earlier actions: those that it looks up before it surely gave them a value itself.

The body of a function is read where the function's name is looked up, since it runs no earlier; it is read with the
names that have a value there. Pure, and on the safe side: a name that may have been given a value, on some ways through
the code, counts as taken.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Place: TypeAlias = tuple[str, int]
"""A function by its name and its line; two of one name in one line are read as one."""


def names_taken(code: str) -> frozenset[str]:
    """The names, those of tools and of what Python has among them; none of code that cannot be read here.

    Args:
        code: Python, perhaps of another version.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree, table = ast.parse(code), symtable.symtable(code, "<code>", "exec")
        reading = _Reading(_needs(table, _changed(tree)))
        given = reading.block(tree.body, set())
        reading.functions(given)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(reading.taken)


def _changed(tree: ast.Module) -> set[str]:
    """The names that need a value where they are bound anew or unbound."""
    names = (part for part in ast.walk(tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del))
    augmented = (part.target for part in ast.walk(tree) if isinstance(part, ast.AugAssign))
    return {part.id for part in (*names, *augmented) if isinstance(part, ast.Name)}


def _needs(table: symtable.SymbolTable, changed: set[str]) -> dict[_Place, set[str]]:
    """The names of the module that every function, with those in it, looks up."""
    found: dict[_Place, set[str]] = {}

    def read(table: symtable.SymbolTable) -> set[str]:
        names = {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_global() and (symbol.is_referenced() or symbol.get_name() in changed)
        }
        for child in table.get_children():
            names |= read(child)
        found.setdefault((table.get_name(), table.get_lineno()), set()).update(names)
        return names

    for child in table.get_children():
        read(child)
    return found


class _Reading:
    """Goes through statements in the order in which they run, with the names that surely have a value."""

    def __init__(self, needs: Mapping[_Place, set[str]]) -> None:
        self._needs = needs
        self._bodies: dict[str, set[str]] = {}
        self.taken = set[str]()

    def functions(self, given: set[str]) -> None:
        """Reads the bodies of all functions, which later code may call."""
        for name in self._bodies:
            self._see(name, given | {name})

    def block(self, statements: Sequence[ast.stmt], given: set[str]) -> set[str]:
        """The names that have a value after these statements."""
        given = set(given)
        for statement in statements:
            given |= self._statement(statement, given)
        return given

    def _statement(self, node: ast.stmt, given: set[str]) -> set[str]:
        """The names that the statement gives a value; those that its expressions do are added to `given`."""
        match node:
            case ast.If(test=test, body=body, orelse=other):
                self._read([test], given)
                return self.block(body, given) & self.block(other, given)
            case ast.While(test=test, body=body, orelse=other):
                self._read([test], given)
                self.block(body, given)
                self.block(other, given)
            case ast.For(target=target, iter=through, body=body, orelse=other):
                self._read([through], given)
                self.block(body, given | _stored([target]))
                self.block(other, given)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                self._read(items, given)
                return self.block(body, given | _stored(items))
            case ast.Try():
                return self._try(node, given)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self._define(name, node, (name, node.lineno), given)
                return {name}
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                self._define(name, function, ("lambda", function.lineno), given)
                return {name}
            case _:
                self._read([node], given)
                return {node.name} if isinstance(node, ast.ClassDef) else _stored([node])
        return set()

    def _try(self, node: ast.Try, given: set[str]) -> set[str]:
        after = self.block(node.orelse, self.block(node.body, given))
        for handler in node.handlers:
            self._read([] if handler.type is None else [handler.type], given)
            after &= self.block(handler.body, given | {handler.name or ""})
        return after | self.block(node.finalbody, given)

    def _define(self, name: str, node: ast.AST, place: _Place, given: set[str]) -> None:
        self._bodies.setdefault(name, set()).update(self._needs.get(place, ()))
        self._read_head(node, given)

    def _read_head(self, node: ast.AST, given: set[str]) -> None:
        """What of a function is looked up where it is defined: defaults, decorators and annotations."""
        self._read((part for part in ast.iter_child_nodes(node) if isinstance(part, ast.arguments)), given)
        if isinstance(node, _FUNCTIONS):
            self._read([*node.decorator_list, *([node.returns] if node.returns else [])], given)

    def _read(self, nodes: Iterable[ast.AST], given: set[str]) -> None:
        for node in nodes:
            match node:
                case ast.Name(id=name):
                    if not isinstance(node.ctx, ast.Store):
                        self._see(name, given)
                case ast.NamedExpr(target=target, value=value):
                    self._read([value], given)
                    given.add(target.id)
                case ast.Lambda():
                    self._read_head(node, given)
                    self._see_all(self._needs.get(("lambda", node.lineno), ()), given)
                case ast.BoolOp(values=[first, *others]):
                    self._read([first], given)
                    self._read(others, set(given))
                case ast.Compare(left=left, comparators=[first, *others]):
                    self._read([left, first], given)
                    self._read(others, set(given))
                case ast.Assert(test=test) | ast.IfExp(test=test):
                    self._read([test], given)
                    for part in ast.iter_child_nodes(node):
                        self._read([part] if part is not test else [], set(given))
                case _:
                    self._read_other(node, given)

    def _read_other(self, node: ast.AST, given: set[str]) -> None:
        if isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, set(given))
        elif isinstance(node, _FUNCTIONS):
            # Of a class: its methods are not known by a name of the module.
            self._read_head(node, given)
            self._see_all(self._needs.get((node.name, node.lineno), ()), given)
        elif isinstance(node, ast.ClassDef):
            self._read([*node.bases, *node.keywords, *node.decorator_list], given)
            self.block(node.body, given)
        else:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self._see(node.target.id, given)
            self._read(ast.iter_child_nodes(node), given)

    def _comprehension(self, node: ast.AST, given: set[str]) -> None:
        generators: list[ast.comprehension] = getattr(node, "generators", [])
        for part in generators:
            self._read([part.iter], given)
            given |= _names([part.target])
            self._read([part.target, *part.ifs], given)
        self._read((part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.comprehension)), given)

    def _see_all(self, names: Iterable[str], given: set[str]) -> None:
        for name in names:
            self._see(name, given)

    def _see(self, name: str, given: set[str]) -> None:
        """The name is looked up, and with it, if a function has it, the names that its body looks up."""
        seen: set[str] = set()
        waiting = {name}
        while waiting:
            each = waiting.pop()
            seen.add(each)
            if each not in given:
                self.taken.add(each)
            waiting |= self._bodies.get(each, set()) - seen


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are given a value where this is reached, whatever way is taken within it."""
    found = set[str]()
    for node in nodes:
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in names}
            case ast.Assign(targets=targets):
                found |= _names(targets)
            case ast.AnnAssign(target=target, value=value):
                found |= _names([target]) if value is not None else set()
            case ast.withitem(optional_vars=target):
                found |= _names([] if target is None else [target])
            case ast.expr():
                found |= _names([node])
            case _:
                pass
    return found


def _names(targets: Iterable[ast.expr]) -> set[str]:
    return {
        part.id
        for target in targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
