"""Where in code calls stand and names are used, and what is taken for a result before it was waited for.

Pure: the code is only parsed. Deliberately not here: what is called (`checking`).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Final

_OF_COROUTINES: Final = frozenset(dir(CoroutineType))


@dataclass(slots=True)
class Uses:
    """What the checks of calls need to know of the whole code.

    Attributes:
        calls: All of them.
        rebound: Names that are given another value somewhere.
    """

    calls: list[ast.Call] = field(default_factory=list[ast.Call])
    rebound: set[str] = field(default_factory=set[str])
    _parents: dict[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])
    _uses: dict[str, list[ast.Name]] = field(default_factory=dict[str, list[ast.Name]])

    def read(self, tree: ast.Module) -> None:
        """Takes in the code."""
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            if isinstance(node, ast.Call):
                self.calls.append(node)
            self._see_name(node)

    def _see_name(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._uses.setdefault(name, []).append(node)
            case ast.Name(id=name) | ast.arg(arg=name):
                self.rebound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.rebound.add(name)
            case ast.alias(name=name, asname=other):
                self.rebound.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self.rebound.add(name)
            case _:
                pass

    def is_lost(self, call: ast.Call) -> bool:
        """Whether what the call gives is surely taken for the result, or for nothing, and not waited for."""
        if self._is_taken_for_result(call):
            return True
        match self._parents.get(call):
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                uses = self._uses.get(name, [])
                return bool(uses) and all(map(self._is_taken_for_result, uses)) and self._is_bound_once(name)
            case _:
                return False

    def is_looked_into_too_early(self, call: ast.Call) -> bool:
        """Whether it is `call(...)[...]`: what `call` gives before it is awaited has no parts."""
        match call.func, self._parents.get(call):
            case ast.Name(id="call"), ast.Subscript(value=value):
                return value is call and "call" not in self.rebound
            case _:
                return False

    def _is_taken_for_result(self, node: ast.AST) -> bool:
        match self._parents.get(node):
            case ast.Expr():
                return isinstance(node, ast.Call)
            case ast.Attribute(value=value, attr=attribute):
                return value is node and attribute not in _OF_COROUTINES
            case ast.Subscript(value=value):
                return value is node
            case ast.BinOp() | ast.Compare() | ast.FormattedValue() | ast.UnaryOp():
                return True
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated):
                return iterated is node
            case _:
                return False

    def _is_bound_once(self, name: str) -> bool:
        bound = [node for node in self._parents if isinstance(node, ast.Name) and node.id == name]
        return sum(not isinstance(node.ctx, ast.Load) for node in bound) == 1
