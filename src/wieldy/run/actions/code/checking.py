"""What is wrong with code before any of it runs: syntax, names that nobody knows, calls of tools that cannot fit.

Pure, and nothing is run or compiled: the text is only parsed. Code that passes may fail all the same; code that is
refused could not have worked. Deliberately not here: what literals and results say about it (`certain`), and all other
values, which the tool's schema decides on, on the host.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wieldy.run.actions.code.certain import surely_wrong
from wieldy.run.actions.code.names import PRELUDE_NAMES
from wieldy.run.actions.code.uses import Uses
from wieldy.schema import nearest_names

if TYPE_CHECKING:
    from wieldy.run.actions.code.stubs import Stub, Stubs

MAX_CODE_BYTES: Final = 100_000
"""Of one action: what is longer holds data that should come from a tool."""

ANY_NAME: Final = "*"
"""Among the names that code has left: there may be others."""

_MOST_PROBLEMS: Final = 8
_BINDERS: Final = frozenset({"exec", "globals", "locals", "vars"})
_ALWAYS_KNOWN: Final = frozenset(
    {*dir(builtins), *PRELUDE_NAMES, "__name__", "__builtins__", "__doc__", "__file__", "__annotations__"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        line: Counted from 1.
        text: What was expected and what was found.
    """

    line: int
    text: str


def problems_of(
    code: str, stubs: Stubs, *, known: Iterable[str] = (), is_of_this_python: bool = True
) -> tuple[Problem, ...]:
    """What is wrong with the code, in the order of its lines; nothing if it may run.

    Args:
        code: Python; `await` may stand at the top.
        stubs: The tools that it may call.
        known: Names that earlier actions have left, as `names_left` says.
        is_of_this_python: Whether it runs in the version that runs this; if not, what cannot be read here may be right.

    Cost: linear in the code, which is bounded.
    """
    if len(code.encode("utf-8", "replace")) > MAX_CODE_BYTES:
        return (
            Problem(
                line=1,
                text=f"expected at most {MAX_CODE_BYTES} bytes of code, found more; get data from a tool instead",
            ),
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python would rather have written otherwise is no problem here
            tree = ast.parse(code)
            found = [*_names(code, tree, stubs, frozenset(known)), *_outside(tree), *_calls(tree, stubs)]
    except SyntaxError as error:
        if not is_of_this_python:
            return ()
        return (Problem(line=error.lineno or 1, text=_syntax(error)),)
    except (RecursionError, MemoryError):
        return (Problem(line=1, text="the code is nested too deeply to be read; write it flatter"),)
    except ValueError as error:  # null bytes, halves of characters
        return (Problem(line=1, text=f"the code cannot be read as Python: {error}"),)
    return tuple(sorted(found, key=lambda problem: problem.line))


def refusal(problems: Iterable[Problem]) -> str:
    """What a model is told of them."""
    problems = tuple(problems)
    lines = [f"line {problem.line}: {problem.text}" for problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        lines.append(f"and {len(problems) - _MOST_PROBLEMS} more")
    return "\n".join(["The code was not run, because it could not have worked:", *lines, "Correct it and call again."])


def names_left(code: str) -> frozenset[str]:
    """The names that the code binds at its top, as later actions may find them; `ANY_NAME` if there may be others."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table, tree = symtable.symtable(code, "<code>", "exec"), ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset({ANY_NAME})
    return frozenset({*_bound(table), *([ANY_NAME] if _binds_unseen(tree) else [])})


def names_missing(code: str) -> frozenset[str]:
    """The names that the code takes from elsewhere: from earlier actions, or from the tools.

    Raises:
        SyntaxError: It is no Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = symtable.symtable(code, "<code>", "exec")
    return frozenset(_free(table) - _bound(table) - _ALWAYS_KNOWN)


def _syntax(error: SyntaxError) -> str:
    shown = (error.text or "").strip()
    return f"{error.msg}: `{shown[:200]}`" if shown else error.msg


# Names


def _names(code: str, tree: ast.AST, stubs: Stubs, known: frozenset[str]) -> Iterator[Problem]:
    if ANY_NAME in known or _binds_unseen(tree):
        return
    table = symtable.symtable(code, "<code>", "exec")
    there = {*_ALWAYS_KNOWN, *stubs.by_identifier, *stubs.others, *known, *_bound(table)}
    unknown = _free(table) - there
    told = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in unknown and node.id not in told:
            told.add(node.id)
            yield Problem(line=node.lineno, text=_unknown(node.id, there))


def _binds_unseen(tree: ast.AST) -> bool:
    """Whether it may bind names that do not stand in it."""
    return any(
        (isinstance(node, ast.ImportFrom) and node.names[0].name == "*")
        or (isinstance(node, ast.Name) and node.id in _BINDERS)
        for node in ast.walk(tree)
    )


def _bound(table: symtable.SymbolTable) -> set[str]:
    """The names that become global: bound at the top, or declared global and bound anywhere."""
    is_top = table.get_type() == "module"
    bound = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace())
        and (is_top or symbol.is_declared_global())
    }
    return bound.union(*map(_bound, table.get_children()))


def _free(table: symtable.SymbolTable) -> set[str]:
    """The names that are looked up globally, anywhere."""
    is_top = table.get_type() == "module"
    free = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (is_top or symbol.is_global())
    }
    return free.union(*map(_free, table.get_children()))


def _unknown(name: str, there: Iterable[str]) -> str:
    near = nearest_names(name, [other for other in there if not other.startswith("_")], most=3)
    hint = f"; did you mean {' or '.join(f'`{other}`' for other in near)}?" if near else ""
    return f"the name `{name}` is not known: expected one that is assigned, imported or a tool{hint}"


def _outside(tree: ast.Module) -> Iterator[Problem]:
    """`return` and `yield` at the top, which only compiling would find."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Return):
            yield Problem(
                line=node.lineno,
                text="`return` outside a function: the value of the last line is what you get back; write that",
            )
        if isinstance(node, ast.Yield | ast.YieldFrom):
            yield Problem(line=node.lineno, text="`yield` outside a function")
        waiting.extend(ast.iter_child_nodes(node))


# Calls of tools


def _calls(tree: ast.Module, stubs: Stubs) -> Iterator[Problem]:
    seen = Uses()
    seen.read(tree)
    if not _binds_unseen(tree):
        for node, text in surely_wrong(tree, stubs, rebound=seen.rebound):
            yield Problem(line=node.lineno, text=text)
    for call in seen.calls:
        if seen.is_looked_into_too_early(call):
            yield Problem(line=call.lineno, text="`call(...)` needs `await` before it: `(await call(...))[...]`")
        stub, is_async = _called(call, stubs)
        if stub is None or stub.identifier in seen.rebound:
            continue
        if (problem := _misfit(call, stub)) is not None:
            yield Problem(line=call.lineno, text=f"{problem}; expected `{stub.signature}`")
        elif is_async and seen.is_lost(call):
            yield Problem(
                line=call.lineno, text=f"`{stub.identifier}(...)` needs `await` before it; `{stub.signature}`"
            )


def _called(call: ast.Call, stubs: Stubs) -> tuple[Stub | None, bool]:
    match call.func:
        case ast.Name(id=name):
            return stubs.by_identifier.get(name), True
        case ast.Attribute(value=ast.Name(id=name), attr="sync"):
            return stubs.by_identifier.get(name), False
        case _:
            return None, False


def _misfit(call: ast.Call, stub: Stub) -> str | None:
    name = f"`{stub.identifier}`"
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(not word.arg for word in call.keywords):
        return None  # what is in them is not known yet
    parameters = [parameter.identifier for parameter in stub.parameters]
    if len(call.args) > len(parameters):
        return f"{name} takes {len(parameters)} arguments, found {len(call.args)}"
    placed = parameters[: len(call.args)]
    words = [word.arg for word in call.keywords if word.arg]
    twice = [word for word in words if word in placed]
    if twice:
        return f"{name} is given {_listed(twice)} twice"
    foreign = [] if stub.takes_others else [word for word in words if word not in parameters]
    if foreign:
        near = nearest_names(foreign[0], parameters, most=1)
        return f"{name} has no parameter {_listed(foreign)}{f' (did you mean `{near[0]}`?)' if near else ''}"
    given = {*placed, *words}
    missing = [each.identifier for each in stub.parameters if each.is_required and each.identifier not in given]
    return f"{name} lacks {_listed(missing)}" if missing else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
