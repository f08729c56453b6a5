"""The names that code takes from earlier actions: those that it looks up before it surely gave them a value itself.

Pure, and on the safe side: a name that may have been given a value, on some ways through the code, counts as taken.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterable, Sequence

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def names_taken(code: str) -> frozenset[str]:
    """The names, those of tools and of what Python has among them; none of code that cannot be read here.

    Args:
        code: Python, perhaps of another version.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree, table = ast.parse(code), symtable.symtable(code, "<code>", "exec")
        reading = _Reading(_global_names(table))
        reading.block(tree.body, set())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(reading.taken)


def _global_names(table: symtable.SymbolTable) -> set[str]:
    """The names that are looked up or bound globally somewhere."""
    is_top = table.get_type() == "module"
    found = {symbol.get_name() for symbol in table.get_symbols() if is_top or symbol.is_global()}
    return found.union(*map(_global_names, table.get_children()))


class _Reading:
    """Goes through statements in the order in which they run, with the names that surely have a value."""

    def __init__(self, global_names: set[str]) -> None:
        self._global = global_names
        self.taken = set[str]()

    def block(self, statements: Sequence[ast.stmt], given: set[str]) -> set[str]:
        """The names that have a value after these statements."""
        given = set(given)
        for statement in statements:
            given |= self._statement(statement, given)
        return given

    def _statement(self, node: ast.stmt, given: set[str]) -> set[str]:
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
            case _:
                self._read([node], given)
                return {node.name} if isinstance(node, _SCOPES) else _stored([node])
        return set()

    def _try(self, node: ast.Try, given: set[str]) -> set[str]:
        after = self.block(node.orelse, self.block(node.body, given))
        for handler in node.handlers:
            self._read([] if handler.type is None else [handler.type], given)
            after &= self.block(handler.body, given | {handler.name or ""})
        return after | self.block(node.finalbody, given)

    def _read(self, nodes: Iterable[ast.AST], given: set[str]) -> None:
        for node in nodes:
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load | ast.Del):
                    self._see(part.id, given)
                elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                    self._see(part.target.id, given)

    def _see(self, name: str, given: set[str]) -> None:
        if name in self._global and name not in given:
            self.taken.add(name)


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
