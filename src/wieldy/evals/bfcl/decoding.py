"""Calls that a model wrote as Python in text, read as the official checker reads them, and never run.

Only the syntax tree is looked at. Where the official reader evaluates an expression, only what consists of literals is
worked out here, within limits; one that would look something up or call something is refused (`WouldRunError`).
Source: the decoder of `bfcl_eval` 2026.3.23; that positional arguments are dropped and `not x` is a number is its rule.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

Decoded: TypeAlias = "dict[str, dict[str | None, Any]]"
"""One call: the function's name, and its arguments by name; None is the name of what `**` unpacks."""

MOST_BITS: Final = 4096
"""Of a number that an expression may come to."""
MOST_ITEMS: Final = 10_000
"""Of a text or a list that an expression may come to."""


class DecodingError(Exception):
    """The text is no call, or none that the official checker could read."""


class WouldRunError(DecodingError):
    """The official checker would run what the model wrote in order to read it; we do not."""


def literal_in(text: str) -> Any:
    """The Python literal that the text is, read from its syntax tree.

    Raises:
        ValueError: It is something else.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in a model's text are no matter of ours
            return ast.literal_eval(text)
    except (SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"Expected a literal, found {text[:80]!r}: {error}") from error


def decode(text: str) -> list[Decoded]:
    """The calls in the text.

    Raises:
        DecodingError: It is not a call or a list of calls and nothing else.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in a model's text are no matter of ours
            body = ast.parse(text.strip().strip("'"), mode="eval").body
        if isinstance(body, ast.Call):
            return [_call(body)]
        if not isinstance(body, ast.List | ast.Tuple | ast.Set):
            raise DecodingError(f"Expected a call or a list of calls, found {type(body).__name__}.")
        calls = [element for element in body.elts if isinstance(element, ast.Call)]
        if len(calls) != len(body.elts):
            raise DecodingError("Expected nothing but calls in the list.")
        return [_call(call) for call in calls]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, OverflowError, ArithmeticError) as error:
        raise DecodingError(f"{type(error).__name__}: {error}") from error


def literal_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls in the text, if all their arguments are literals with names.

    Raises:
        DecodingError: There is something else in it, even where the official checker would read calls.
    """
    decode(text)  # refuses all that is no list of calls
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(text.strip().strip("'"), mode="eval").body
    calls = [body] if isinstance(body, ast.Call) else cast("list[ast.Call]", cast("Any", body).elts)
    found = list[tuple[str, dict[str, Any]]]()
    for call in calls:
        names = [keyword.arg for keyword in call.keywords]
        if call.args or None in names or not re.fullmatch(r"\w+(\.\w+)*", ast.unparse(call.func)):
            raise DecodingError(f"Expected a name and named arguments, found {ast.unparse(call)[:80]!r}.")
        try:
            arguments = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        except (ValueError, TypeError, RecursionError, MemoryError) as error:
            raise DecodingError(f"Expected literals in {ast.unparse(call)[:80]!r}: {error}") from error
        found.append((ast.unparse(call.func), arguments))
    return found


def _call(call: ast.Call) -> Decoded:
    parts, place = list[str](), call.func
    while isinstance(place, ast.Attribute):
        parts.append(place.attr)
        place = place.value
    if isinstance(place, ast.Name):
        parts.append(place.id)
    return {".".join(reversed(parts)): {keyword.arg: _value(keyword.value) for keyword in call.keywords}}


def _value(node: ast.expr) -> Any:
    read = _READERS.get(type(node))
    if read is None:
        raise DecodingError(f"The official checker reads no {type(node).__name__}.")
    return read(node)


def _constant(node: ast.Constant) -> Any:
    return "..." if node.value is Ellipsis else node.value


def _negated(node: ast.UnaryOp) -> Any:
    # Whatever the operator is; a value that cannot be negated is a TypeError, there as here.
    if not isinstance(node.operand, ast.Constant):
        raise DecodingError("The official checker reads a sign before a literal only.")
    return -cast("Any", node.operand.value)


def _dictionary(node: ast.Dict) -> Any:
    keys = [key for key in node.keys if key is not None]
    if len(keys) != len(node.keys):
        raise DecodingError("The official checker reads no unpacked dictionaries.")
    return {_value(key): _value(value) for key, value in zip(keys, node.values, strict=True)}


def _nested_call(node: ast.Call) -> Any:
    return _call(node) if node.keywords else ast.unparse(node)


def _subscript(node: ast.Subscript) -> str:
    return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"


def _list(node: ast.List) -> list[Any]:
    return [_value(element) for element in node.elts]


def _tuple(node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(_value(element) for element in node.elts)


def _name(node: ast.Name) -> str:
    return node.id


def _expression(node: ast.BinOp) -> Any:
    return _worked_out(node)


_READERS: Final[dict[type[ast.AST], Callable[[Any], Any]]] = {
    ast.Constant: _constant,
    ast.UnaryOp: _negated,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Dict: _dictionary,
    ast.BinOp: _expression,
    ast.Name: _name,
    ast.Call: _nested_call,
    ast.Subscript: _subscript,
}


# Expressions of literals


def _named(name: str) -> Callable[..., Any]:
    return getattr(operator, name)


_OPERATORS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: _named("add"),
    ast.Sub: _named("sub"),
    ast.Mult: _named("mul"),
    ast.Div: _named("truediv"),
    ast.FloorDiv: _named("floordiv"),
    ast.Mod: _named("mod"),
    ast.Pow: _named("pow"),
    ast.LShift: _named("lshift"),
    ast.RShift: _named("rshift"),
    ast.BitOr: _named("or_"),
    ast.BitXor: _named("xor"),
    ast.BitAnd: _named("and_"),
}
_SIGNS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.USub: _named("neg"),
    ast.UAdd: _named("pos"),
    ast.Invert: _named("invert"),
    ast.Not: _named("not_"),
}


def _worked_out(node: ast.expr) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp():
            return _SIGNS[type(node.op)](_worked_out(node.operand))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _combined(node.op, _worked_out(node.left), _worked_out(node.right))
        case ast.List():
            return [_worked_out(element) for element in node.elts]
        case ast.Tuple():
            return tuple(_worked_out(element) for element in node.elts)
        case _:
            raise WouldRunError(f"Working out {type(node).__name__} would run what the model wrote.")


def _combined(sign: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(sign, ast.Pow | ast.LShift | ast.Mult) and _may_be_huge(sign, left, right):
        raise DecodingError(f"The expression comes to more than {MOST_BITS} bits or {MOST_ITEMS} items.")
    if isinstance(sign, ast.Mod) and isinstance(left, str | bytes):
        raise DecodingError("Texts are not formatted: a width in one may be of any size.")
    return _OPERATORS[type(sign)](left, right)


def _may_be_huge(sign: ast.operator, left: Any, right: Any) -> bool:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, str | bytes | list | tuple) and isinstance(other, int):
            return len(cast("list[Any]", one)) * max(other, 0) > MOST_ITEMS
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    if isinstance(sign, ast.Mult):
        return left.bit_length() + right.bit_length() > MOST_BITS
    times = left.bit_length() if isinstance(sign, ast.Pow) else 1
    return max(right, 0) * times > MOST_BITS
