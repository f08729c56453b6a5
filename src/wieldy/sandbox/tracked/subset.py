"""Which code can be tracked: everything else is refused before it runs, with the line and what to write instead."""

from __future__ import annotations

import ast
import warnings
from typing import Any, Final

from wieldy.core.errors import ModelVisibleError
from wieldy.sandbox.tracked.analysis import names_bound
from wieldy.sandbox.tracked.foreseen import is_lacking
from wieldy.sandbox.tracked.limits import TrackedLimits

IMPORTS: Final = {
    "asyncio": frozenset({"gather", "run"}),
    "json": frozenset({"loads", "dumps"}),
    "re": frozenset(
        [
            "search",
            "match",
            "fullmatch",
            "findall",
            "finditer",
            "split",
            "sub",
            "I",
            "IGNORECASE",
            "M",
            "MULTILINE",
            "S",
            "DOTALL",
        ]
    ),
    "math": frozenset({"ceil", "exp", "floor", "isfinite", "log", "log10", "sqrt", "inf", "pi"}),
}
"""The modules that may be imported, and what there is in them."""

_FLAGS: Final = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_SIMPLE: Final = "Only plain functions, loops, conditions and data can be tracked."
_INSTEAD: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.ClassDef: ("class", "Use dicts and functions."),
    ast.With: ("with", "There are no files here; call the tools directly."),
    ast.AsyncWith: ("async with", "Call the tools directly."),
    ast.AsyncFor: ("async for", "Use `for` over a list, and `await` within it."),
    ast.Match: ("match", "Use `if` and `elif`."),
    ast.Yield: ("yield", "Collect the values in a list and return it."),
    ast.YieldFrom: ("yield from", "Collect the values in a list and return it."),
    ast.TryStar: ("except*", "Use `except`."),
    ast.MatMult: ("@", "There are no matrices here."),
}
_ALLOWED: Final[tuple[type[ast.AST], ...]] = (
    ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Delete,
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Raise, ast.Try, ast.ExceptHandler,
    ast.Assert, ast.Import, ast.ImportFrom, ast.alias, ast.Global, ast.Nonlocal, ast.Expr, ast.Pass, ast.Break,
    ast.Continue, ast.BoolOp, ast.boolop, ast.NamedExpr, ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop, ast.IfExp,
    ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Await,
    ast.Compare, ast.cmpop, ast.Call, ast.keyword, ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Attribute,
    ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice, ast.expr_context,
)  # fmt: skip


class UnsupportedCodeError(ModelVisibleError):
    """The code is not of the kind that can be tracked; it has not run.

    Attributes:
        line: Where, from 1; 0 where it is not known.
        construct: What is not supported there.
    """

    def __init__(self, message: str, *, line: int, construct: str) -> None:
        super().__init__(f"Line {line}: {message}")
        self.line = line
        self.construct = construct


def check_code(code: str, *, limits: TrackedLimits) -> None:
    """Ends with an error where the code cannot be tracked; nothing of it is run.

    Raises:
        UnsupportedCodeError: It is no Python, or something in it cannot be tracked.
    """
    read_code(code, nesting=limits.nesting, size=limits.code)


def read_code(code: str, *, nesting: int, size: int) -> ast.Module:
    """The tree of the code, all of which can be tracked.

    Raises:
        UnsupportedCodeError: It is no Python, or something in it cannot be tracked.
    """
    if len(code) > size:
        raise UnsupportedCodeError(f"the code has more than {size} characters.", line=0, construct="size")
    tree = _parsed(code, 0)
    bound = names_bound(tree)
    waiting: list[tuple[ast.AST, int, int]] = [(tree, 0, 0)]
    while waiting:
        node, depth, line = waiting.pop()
        line = getattr(node, "lineno", line)
        if depth > nesting:
            raise UnsupportedCodeError(f"more than {nesting} levels of nesting.", line=line, construct="nesting")
        _check(node, line)
        lacking = is_lacking(node, bound)
        if lacking:
            _refuse(line, *lacking)
        waiting += [(child, depth + 1, line) for child in ast.iter_child_nodes(node)]
    _parsed(code, 1)
    return tree


def _parsed(code: str, stage: int) -> ast.Module:
    # The second stage compiles, which finds what the grammar cannot: `break` outside of a loop, wrong `nonlocal`.
    # What it makes is thrown away.
    flags = _FLAGS | (0 if stage else ast.PyCF_ONLY_AST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(code, "<code>", "exec", flags=flags, dont_inherit=True)  # type: ignore[return-value]
    except SyntaxError as error:
        raise UnsupportedCodeError(f"{error.msg}.", line=error.lineno or 0, construct="syntax") from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        reason = str(error) or "it is nested too deeply"
        raise UnsupportedCodeError(f"the code cannot be read: {reason}.", line=0, construct="syntax") from None


def _refuse(line: int, construct: str, instead: str) -> None:
    raise UnsupportedCodeError(f"`{construct}` cannot be tracked. {instead}", line=line, construct=construct)


def _check(node: ast.AST, line: int) -> None:
    known = _INSTEAD.get(type(node))
    if known:
        _refuse(line, *known)
    if not isinstance(node, _ALLOWED):
        _refuse(line, type(node).__name__, _SIMPLE)
    check = _CHECKS.get(type(node))
    if check:
        check(node, line)


def _check_any_name(node: ast.AST, line: int) -> None:
    for field in ("id", "arg", "name", "asname"):
        name = getattr(node, field, None)
        if name and name.startswith("__"):
            _refuse(line, name, "Names with two underscores in front are not there.")


def _check_attribute(node: ast.Attribute, line: int) -> None:
    if node.attr.startswith("_"):
        _refuse(line, f".{node.attr}", "Only data and the usual methods are there.")
    if not isinstance(node.ctx, ast.Load):
        _refuse(line, f".{node.attr} =", f'Write `["{node.attr}"] = ...`.')


def _check_function(node: Any, line: int) -> None:
    _check_any_name(node, line)
    if node.decorator_list:
        _refuse(line, "@", "Call the function that should wrap it.")


def _check_constant(node: ast.Constant, line: int) -> None:
    if not isinstance(node.value, str | int | float | None):
        _refuse(line, repr(node.value), "Use text and real numbers.")


def _check_comprehension(node: ast.comprehension, line: int) -> None:
    if node.is_async:
        _refuse(line, "async for", "Use `for`.")


def _check_generator(node: ast.GeneratorExp, line: int) -> None:
    for part in ast.walk(node):
        if isinstance(part, ast.Await):
            _refuse(part.lineno, "await in a generator expression", "Use a list: `[...]` instead of `(...)`.")


def _check_import(node: ast.Import, line: int) -> None:
    for alias in node.names:
        if alias.name not in IMPORTS:
            _refuse(line, f"import {alias.name}", f"There are {', '.join(IMPORTS)}; for the rest, call tools.")


def _check_import_from(node: ast.ImportFrom, line: int) -> None:
    there = IMPORTS.get(node.module or "")
    if there is None or node.level:
        _refuse(line, f"from {node.module} import", f"There are {', '.join(IMPORTS)}; for the rest, call tools.")
    for alias in node.names:
        if alias.name not in (there or ()):
            _refuse(line, f"from {node.module} import {alias.name}", f"There are {', '.join(sorted(there or ()))}.")


_CHECKS: Final[dict[type[ast.AST], Any]] = {
    ast.Name: _check_any_name,
    ast.arg: _check_any_name,
    ast.keyword: _check_any_name,
    ast.ExceptHandler: _check_any_name,
    ast.alias: _check_any_name,
    ast.Attribute: _check_attribute,
    ast.FunctionDef: _check_function,
    ast.AsyncFunctionDef: _check_function,
    ast.Constant: _check_constant,
    ast.comprehension: _check_comprehension,
    ast.GeneratorExp: _check_generator,
    ast.Import: _check_import,
    ast.ImportFrom: _check_import_from,
}
