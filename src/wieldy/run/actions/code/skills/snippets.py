"""Code of one action as the source of a function, with what the user names as its parameters.

A parameter is given by its name and the value that it had in the action. It stands for a name that an earlier action
had left, for a name that the action gives that literal, or for every place where the literal stands. That the function
does the same is not proven here: `trial` runs it with the recorded values. Layout and comments are not kept.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Final, cast

from wieldy.core.errors import SkillError
from wieldy.core.json import JsonObject, JsonValue, canonical_json, is_json
from wieldy.run.actions.code.checking import names_missing
from wieldy.run.actions.code.skills.skill import check_skill_name

_PLAIN: Final = {str: "str", int: "int", float: "float", bool: "bool", type(None): "None"}


def function_from(
    code: str, *, name: str, description: str, parameters: JsonObject, value: JsonValue, tools: frozenset[str]
) -> str:
    """The source of a function that does what the code did.

    Args:
        code: Of the action; it ran to its end.
        name: Of the function.
        description: Its docstring.
        parameters: By name, the values that they had in the action.
        value: What the action brought.
        tools: The identifiers of the tools, which need not be parameters.

    Raises:
        SkillError: A parameter stands for nothing, or a name of an earlier action is none of the parameters.
    """
    if not description.strip():
        raise SkillError(f"Expected a description of `{check_skill_name(name)}`, found none: say what it does.")
    tree = ast.parse(code)
    missing = names_missing(code) - tools
    for parameter, meant in parameters.items():
        _check_parameter(parameter, tools)
        if parameter not in missing:
            tree = _with_parameter(tree, parameter, meant)
    if left := sorted(missing - set(parameters)):
        raise SkillError(
            f"The code uses {', '.join(f'`{each}`' for each in left)} of earlier actions. Make each a parameter with "
            "the value that it had, or write the function yourself, with its imports."
        )
    body: list[ast.stmt] = [ast.Expr(ast.Constant(description.strip())), *_returning(tree.body)]
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(each, _annotation(meant)) for each, meant in parameters.items()],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    function = ast.AsyncFunctionDef(
        name=check_skill_name(name), args=arguments, body=body, decorator_list=[], returns=_annotation(value)
    )
    cast("Any", function).type_params = []  # the version that runs this may know none
    return f"{ast.unparse(ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[])))}\n"


def _check_parameter(name: str, tools: frozenset[str]) -> None:
    if not name.isidentifier() or name in tools or name.startswith("_"):
        raise SkillError(f"Expected a name for a parameter that no tool has, found {name!r}.")


def _with_parameter(tree: ast.Module, name: str, value: JsonValue) -> ast.Module:
    """The code, where the parameter stands for what it is now."""
    rest = [node for node in tree.body if not _assigns(node, name, value)]
    if len(rest) < len(tree.body):
        return ast.Module(body=rest, type_ignores=[])
    if any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree)):
        raise SkillError(
            f"The code does not give `{name}` the value {_shown(value)} at its top: a parameter is a name of an "
            "earlier action, one that is given a literal, or a new name for a literal that stands in the code."
        )
    replacing = _Replacing(name, value)
    changed = replacing.visit(tree)
    if not replacing.count:
        raise SkillError(f"Expected {_shown(value)} to stand in the code for the parameter `{name}`; it does not.")
    return changed


def _assigns(node: ast.stmt, name: str, value: JsonValue) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=target)], value=given) if target == name:
            return _is_literal(given, value)
        case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as given) if target == name:
            return _is_literal(given, value)
        case _:
            return False


def _is_literal(node: ast.AST, value: JsonValue) -> bool:
    try:
        found: object = ast.literal_eval(cast("ast.expr", node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    # By their text, because to Python 1, 1.0 and True are equal.
    return is_json(found) and canonical_json(found) == canonical_json(value)


class _Replacing(ast.NodeTransformer):
    """Puts a name where a literal stands.

    Attributes:
        count: In how many places.
    """

    def __init__(self, name: str, value: JsonValue) -> None:
        self._name = name
        self._value = value
        self.count = 0

    def visit(self, node: ast.AST) -> Any:
        """The node, or the name in its place."""
        # Text within an f-string and what a pattern compares with can be no name.
        if isinstance(node, ast.JoinedStr):
            node.values = [each if isinstance(each, ast.Constant) else self.visit(each) for each in node.values]
            return node
        if isinstance(node, ast.MatchValue | ast.MatchMapping):
            return node
        if isinstance(node, ast.Constant | ast.List | ast.Dict | ast.UnaryOp) and _is_literal(node, self._value):
            self.count += 1
            return ast.Name(self._name, ast.Load())
        return self.generic_visit(node)


def _returning(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, of which the last gives back what an action brings: its last value, or what it assigned last."""
    if body and isinstance(last := body[-1], ast.Expr):
        return [*body[:-1], ast.Return(last.value)]
    name = _last_assigned(ast.Module(body=body, type_ignores=[]))
    return [*body, ast.Return(ast.Constant(None) if name is None else ast.Name(name, ast.Load()))]


def _last_assigned(node: ast.AST) -> str | None:
    found = None
    match node:
        case ast.Assign(targets=[*_, target]) | ast.AugAssign(target=target):
            found = _name_in(target)
        case ast.AnnAssign(target=target, value=ast.expr()):
            found = _name_in(target)
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            found = _last_assigned(child) or found
    return found


def _name_in(target: ast.expr) -> str | None:
    while not isinstance(target, ast.Name):
        match target:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                target = inner
            case ast.Tuple(elts=[*_, last]) | ast.List(elts=[*_, last]):
                target = last
            case _:
                return None
    return target.id


def _annotation(value: JsonValue) -> ast.expr:
    """The narrowest type that is written here for a value like this one."""
    return ast.parse(_kind(value), mode="eval").body


def _kind(value: JsonValue) -> str:
    if isinstance(value, list):
        return f"list[{_common(value)}]" if value else "list"
    if isinstance(value, dict):
        return f"dict[str, {_common(list(value.values()))}]" if value else "dict"
    return _PLAIN[type(value)]


def _common(values: list[JsonValue]) -> str:
    kinds = list(dict.fromkeys(map(_kind, values)))
    return kinds[0] if len(kinds) == 1 else "object"


def _shown(value: JsonValue) -> str:
    return f"`{canonical_json(cast('Mapping[str, JsonValue]', value))[:100]}`"
