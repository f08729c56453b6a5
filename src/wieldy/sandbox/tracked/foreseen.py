"""What code, read before it runs, says of calls that tracked code does not have: by the method, or by a keyword.

Only what the code shows by itself: methods that data of Python has and tracked data has not, methods of what is written
out, and the keywords of builtins. What types come of it is known only when the code runs; that fails there.
"""

from __future__ import annotations

import ast
from typing import Final

from wieldy.sandbox.tracked.methods import has_method
from wieldy.sandbox.tracked.objects import DictObject, ListObject, MatchObject, SetObject, TupleObject

_DATA: Final = ("", ListObject([]), TupleObject(()), DictObject({}), SetObject({}), MatchObject("", (), {}))
_PYTHON: Final = (str, list, tuple, dict, set, int, float)
_LACKING: Final = frozenset(
    name
    for kind in _PYTHON
    for name in dir(kind)
    if not name.startswith("_") and name != "sort" and not any(has_method(data, name) for data in _DATA)
)
"""Methods that Python's data has and no data here."""

_WRITTEN: Final[dict[type[ast.expr], object]] = {
    ast.JoinedStr: "",
    ast.List: ListObject([]),
    ast.ListComp: ListObject([]),
    ast.Tuple: TupleObject(()),
    ast.Dict: DictObject({}),
    ast.DictComp: DictObject({}),
    ast.Set: SetObject({}),
    ast.SetComp: SetObject({}),
}
_POSITIONAL: Final = [
    "abs", "bool", "chr", "float", "format", "int", "isinstance", "len", "ord", "repr", "round", "str", "list",
    "tuple", "set", "range", "reversed", "next", "iter", "any", "all", "map", "filter", "json.loads", "asyncio.gather",
]  # fmt: skip
_KEYWORDS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(_POSITIONAL, frozenset[str]()),
    "print": frozenset({"sep", "end"}),
    "sum": frozenset({"start"}),
    "enumerate": frozenset({"start"}),
    "zip": frozenset({"strict"}),
    "sorted": frozenset({"key", "reverse"}),
    "min": frozenset({"key", "default"}),
    "max": frozenset({"key", "default"}),
    "json.dumps": frozenset({"indent", "sort_keys", "ensure_ascii"}),
}
"""The keywords of functions of ours."""


def is_lacking(node: ast.AST, bound: frozenset[str]) -> tuple[str, str] | None:
    """The construct and what to write instead, where it can be seen that tracked code does not have it.

    Args:
        node: A part of the code.
        bound: The names that the code itself gives a meaning.
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _written(node.left) == "":
        return "% with text", "Write an f-string."
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute):
        found = _method(node, node.func)
        if found:
            return found
    return _keyword(node, bound)


def _written(node: ast.expr) -> object:
    """Data of the kind that is written out there, if any."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return ""
    return _WRITTEN.get(type(node))


def _method(node: ast.Call, function: ast.Attribute) -> tuple[str, str] | None:
    name, data = function.attr, _written(function.value)
    is_there = data is None or has_method(data, name) or isinstance(data, DictObject)
    if name in _LACKING or not (is_there or (name == "sort" and isinstance(data, ListObject))):
        return f".{name}()", "Do it with the usual methods of text, lists, dicts and sets, or in a tool."
    if name == "update" and node.keywords:
        return ".update(name=...)", 'Write `["name"] = ...`, or give it a dict.'
    return None


def _keyword(node: ast.Call, bound: frozenset[str]) -> tuple[str, str] | None:
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        name, root = f"{function.value.id}.{function.attr}", function.value.id
    elif isinstance(function, ast.Name):
        name = root = function.id
    else:
        return None
    known = _KEYWORDS.get(name)
    if known is None or (name == root and root in bound):
        return None
    for keyword in node.keywords:
        if keyword.arg and keyword.arg not in known:
            return f"{name}({keyword.arg}=...)", f"By name it takes {', '.join(sorted(known)) or 'nothing'}."
    return None
