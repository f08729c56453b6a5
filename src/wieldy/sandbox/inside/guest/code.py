"""Code as it is run: compiled with `await` at its top, and with what its value will be.

The value is that of the last statement if it is an expression; else that of the name which was assigned last, read from
top to bottom, wherever outside functions and classes; else there is none.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import cast

RESULT = "__result__"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Code that can be run.

    Attributes:
        compiled: Evaluate it in a namespace; with `await` at its top that gives a coroutine.
        result: The name that has the value afterwards, if it has been assigned.
    """

    compiled: CodeType
    result: str | None


def prepare(source: str, filename: str) -> Prepared:
    """Reads the source; its lines are known to tracebacks under the filename.

    Raises:
        SyntaxError: It is no Python. Also ValueError, RecursionError and MemoryError, for text beyond the compiler's
            means.
    """
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    module = ast.parse(source, filename)
    result = _last_assigned(module.body)
    if module.body and isinstance(last := module.body[-1], ast.Expr):
        target = ast.copy_location(ast.Name(RESULT, ast.Store()), last)
        module.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
        result = RESULT
    compiled = compile(module, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return Prepared(cast("CodeType", compiled), result)


def _last_assigned(body: list[ast.stmt]) -> str | None:
    found: str | None = None
    for statement in _statements(body):
        if isinstance(statement, ast.Assign):
            found = _name_in(statement.targets[-1]) or found
        elif isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value):
            found = _name_in(statement.target) or found
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """In the order of the text, blocks included, without what stands in functions and classes."""
    waiting: list[ast.AST] = [*reversed(body)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            continue
        if isinstance(node, ast.stmt):
            yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _name_in(target: ast.expr) -> str | None:
    """The variable that an assignment changes: of `a.b[0] = 1` that is `a`, of `a, b = 1, 2` the last one."""
    while not isinstance(target, ast.Name):
        if isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
            target = target.value
        elif isinstance(target, ast.Tuple | ast.List) and target.elts:
            target = target.elts[-1]
        else:
            return None
    return target.id
