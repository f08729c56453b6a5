"""The function that a skill's source is about, read without running anything.

A source is a Python module: imports, `TypedDict`s, helpers whose names begin with `_`, and one function that does not.
Deliberately not here: whether it works (`trial`).
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from wieldy.core.errors import SkillError
from wieldy.core.json import JsonObject, canonical_json, is_json
from wieldy.run.actions.code.checking import MAX_CODE_BYTES, problems_of
from wieldy.run.actions.code.names import INTERNAL
from wieldy.run.actions.code.skills.annotations import Types
from wieldy.run.actions.code.skills.skill import check_skill_name

if TYPE_CHECKING:
    from wieldy.run.actions.code.stubs import Stubs

RESULT: Final = "result"
"""The name that a check finds the value under."""

_CHECK: Final = 'Expected a check of the value, such as `result["total"] > 0` or `assert len(result) == 3`'


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A skill's function.

    Attributes:
        name: Its own, which is the skill's.
        signature: Its parameters, all of which can be given by name, with their types.
        documentation: Its docstring.
        is_async: Whether it is awaited.
    """

    name: str
    signature: inspect.Signature
    documentation: str
    is_async: bool

    def called(self, source: str, arguments: Mapping[str, Any]) -> str:
        """The source, and a call of the function as the last line, whose value it brings."""
        shown = ", ".join(f"{name}={INTERNAL}_result({value!r})" for name, value in arguments.items())
        return f"{source.rstrip()}\n\n{'await ' if self.is_async else ''}{self.name}({shown})\n"

    def check_arguments(self, arguments: JsonObject) -> None:
        """The function can be called with them; of what types they are, the tool's schema says.

        Raises:
            SkillError: It cannot.
        """
        if not is_json(arguments):
            raise SkillError(f"Expected the arguments of the example as JSON, found {arguments!r:.200}.")
        try:
            self.signature.bind(**arguments)
        except TypeError as error:
            raise SkillError(
                f"Expected arguments for `{self.name}{self.signature}`, found {canonical_json(arguments)[:200]}: "
                f"{error}."
            ) from error


def function_in(source: str) -> Function:
    """The one function that the source is about.

    Raises:
        SkillError: The source is no Python, is about none or several, or the function's parameters are not all given
            by name and annotated with types that JSON can carry.
    """
    tree = _tree(source)
    node = _only_function(tree)
    documentation = ast.get_docstring(node)
    if not documentation:
        raise SkillError(f"Line {node.lineno}: expected a docstring in `{node.name}` that says what it does.")
    return Function(
        name=check_skill_name(node.name),
        signature=_signature(node, Types(tree)),
        documentation=documentation,
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )


def tools_named_in(source: str, stubs: Stubs) -> tuple[str, ...]:
    """The tools whose names stand in the source, in the order of the stubs; those that are called by text as well.

    Raises:
        SkillError: The source is no Python.
    """
    nodes = list(ast.walk(_tree(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    asked = {
        node.args[0].value
        for node in nodes
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
    }
    return tuple(stub.tool for stub in stubs.by_identifier.values() if stub.identifier in names or stub.tool in asked)


def check_source(source: str, stubs: Stubs) -> None:
    """Nothing is known to be wrong with it.

    Raises:
        SkillError: Something is; the text has each line.
    """
    problems = problems_of(source, stubs)
    if problems:
        found = "\n".join(f"line {problem.line}: {problem.text}" for problem in problems)
        raise SkillError(f"The skill could not work:\n{found}")


def check_code(check: str) -> str:
    """The check as code whose value is whether it holds, or that raises where it does not.

    Raises:
        SkillError: It is no Python, or is not about the value.
    """
    try:
        tree: ast.AST = _parse(check, "exec")
    except SkillError as error:
        raise SkillError(f"{_CHECK}, found what is no Python: {error}") from None
    if not any(isinstance(node, ast.Name) and node.id == RESULT for node in ast.walk(tree)):
        raise looks_at_nothing(check)
    try:
        _parse(f"({check.strip()}\n)", "eval")
    except SkillError:
        return f"{check.rstrip()}\nTrue\n"
    return f"bool(\n{check.strip()}\n)\n"


def looks_at_nothing(check: str) -> SkillError:
    """What is said of a check that holds whatever the value is."""
    return SkillError(f"{_CHECK}, found one that does not look at `{RESULT}`: {check.strip()[:200]!r}.")


def _tree(source: str) -> ast.Module:
    tree = _parse(source, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def _parse(text: str, mode: str) -> ast.AST:
    if len(text) > MAX_CODE_BYTES:
        raise SkillError(f"Expected at most {MAX_CODE_BYTES} characters of code, found {len(text)}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode=mode)
    except SyntaxError as error:
        raise SkillError(f"line {error.lineno or 1}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SkillError(f"it cannot be read as Python: {error}") from error


def _only_function(tree: ast.Module) -> ast.FunctionDef | ast.AsyncFunctionDef:
    foreign = next((node for node in tree.body if not _may_stand_at_top(node)), None)
    if foreign is not None:
        raise SkillError(
            f"Line {foreign.lineno}: expected imports, types, names that are given a value, and functions at the top "
            f"of the source, found `{ast.unparse(foreign)[:80]}`. Put it into the function."
        )
    functions = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    ]
    if len(functions) != 1:
        found = ", ".join(f"`{node.name}`" for node in functions) or "none"
        raise SkillError(
            f"Expected one function at the top of the source, found {found}. Names of helpers begin with `_`."
        )
    [node] = functions
    if node.decorator_list:
        raise SkillError(f"Line {node.lineno}: expected a function without decorators, found one on `{node.name}`.")
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _own_nodes(node)):
        raise SkillError(f"Line {node.lineno}: expected `{node.name}` to return its value, found a generator.")
    return node


def _may_stand_at_top(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(
        node,
        ast.Import
        | ast.ImportFrom
        | ast.ClassDef
        | ast.FunctionDef
        | ast.AsyncFunctionDef
        | ast.Assign
        | ast.AnnAssign,
    )


def _own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterable[ast.AST]:
    """Those of its body, without the functions in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, types: Types) -> inspect.Signature:
    given = node.args
    if given.posonlyargs or given.vararg or given.kwarg:
        raise SkillError(f"Line {node.lineno}: expected `{node.name}` to take plain parameters, found /, * or **.")
    if node.returns is None:
        raise SkillError(f"Line {node.lineno}: expected `{node.name}` to say what it returns: `-> TYPE`.")
    of_last = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    pairs = [*zip(given.args, of_last, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    parameters = [_parameter(each, default, types) for each, default in pairs]
    names = [each.name for each in parameters]
    if len(set(names)) < len(names):
        raise SkillError(f"Line {node.lineno}: expected different names for all parameters of `{node.name}`.")
    return inspect.Signature(parameters, return_annotation=types.meant_by(node.returns))


def _parameter(node: ast.arg, default: ast.expr | None, types: Types) -> inspect.Parameter:
    if node.arg.startswith(("_", "wieldy")):
        raise SkillError(f"Line {node.lineno}: expected a parameter whose name does not begin so, found `{node.arg}`.")
    if node.annotation is None:
        raise SkillError(f"Line {node.lineno}: expected a type for the parameter `{node.arg}`: `{node.arg}: TYPE`.")
    return inspect.Parameter(
        node.arg,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is None else _default(node, default),
        annotation=types.meant_by(node.annotation),
    )


def _default(node: ast.arg, default: ast.expr) -> Any:
    try:
        value: object = ast.literal_eval(default)
    except (ValueError, TypeError, RecursionError, MemoryError):
        value = ...
    if not is_json(value):
        raise SkillError(
            f"Line {default.lineno}: expected the default of `{node.arg}` as a literal that JSON has, found "
            f"`{ast.unparse(default)[:80]}`."
        )
    return value
