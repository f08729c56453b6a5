"""Annotations in the source of a skill as the types that they mean; nothing of the source is run.

Known are the types that JSON has and what is made of them: `list[...]`, `dict[str, ...]`, `Literal`, `Optional`,
unions, `Annotated` with a text, and `TypedDict` classes of the source itself. Anything else is refused, because what
it means could only be found out by running the source.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Annotated, Any, Final, Literal, NotRequired, Required, cast

from pydantic import Field
from typing_extensions import TypedDict  # below Python 3.12 pydantic reads no other

from wieldy.core.errors import SkillError

_PLAIN: Final[Mapping[str, Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "None": type(None),
    "Any": Any,
    "object": Any,
    "list": list[Any],
    "List": list[Any],
    "dict": dict[str, Any],
    "Dict": dict[str, Any],
}
_KNOWN: Final = "str, int, float, bool, None, Any, list[...], dict[str, ...], Literal, Optional, a union or a TypedDict"
_MOST_LEVELS: Final = 40


class Types:
    """The types that a source knows.

    Args:
        tree: The source.

    Raises:
        SkillError: A `TypedDict` in it has a field whose type is not known.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._classes: dict[str, Any] = {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and _is_typed_dict(node):
                self._classes[node.name] = self._typed_dict(node)

    def meant_by(self, node: ast.expr, *, nesting: int = 0) -> Any:
        """The type that this annotation means, as `typing` has it.

        Raises:
            SkillError: It is none of those that are known.
        """
        if nesting > _MOST_LEVELS:
            raise _unknown(node)
        match node:
            case ast.Constant(value=None):
                return type(None)
            case ast.Constant(value=str(text)):
                return self.meant_by(_parsed(text, node), nesting=nesting + 1)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self._named(name, node)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self._any_of([left, right], nesting)
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inside):
                return self._made_of(name, _listed(inside), node, nesting)
            case _:
                raise _unknown(node)

    def _named(self, name: str, node: ast.expr) -> Any:
        if name in self._classes:
            return self._classes[name]
        if name in _PLAIN:
            return _PLAIN[name]
        raise _unknown(node)

    def _made_of(self, name: str, inside: Sequence[ast.expr], node: ast.expr, nesting: int) -> Any:
        match name, inside:
            case (("list" | "List" | "Sequence" | "Iterable"), [item]):
                return list[self.meant_by(item, nesting=nesting + 1)]
            case (("dict" | "Dict" | "Mapping"), [ast.Name(id="str"), value]):
                return dict[str, self.meant_by(value, nesting=nesting + 1)]
            case "Literal", [_, *_]:
                return Literal[tuple(_choice(each) for each in inside)]
            case "Optional", [item]:
                return self.meant_by(item, nesting=nesting + 1) | None
            case "Union", [_, *_]:
                return self._any_of(inside, nesting)
            case "Annotated", [item, *said]:
                return self._annotated(item, said, nesting)
            case _:
                raise _unknown(node)

    def _any_of(self, nodes: Sequence[ast.expr], nesting: int) -> Any:
        return reduce(_or, [self.meant_by(each, nesting=nesting + 1) for each in nodes])

    def _annotated(self, item: ast.expr, said: Sequence[ast.expr], nesting: int) -> Any:
        meant = self.meant_by(item, nesting=nesting + 1)
        texts = [each.value for each in said if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return Annotated[meant, Field(description=" ".join(texts))] if texts else meant

    def _typed_dict(self, node: ast.ClassDef) -> Any:
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)]
        is_total = not any(
            word.arg == "total" and isinstance(word.value, ast.Constant) and word.value.value is False
            for word in node.keywords
        )
        meant = {cast("ast.Name", each.target).id: self._field(each.annotation) for each in fields}
        made: Any = TypedDict(node.name, meant, total=is_total)  # pyright: ignore[reportArgumentType] - made as read
        # Where pydantic looks its names up: they are all resolved already.
        made.__module__, made.__doc__ = __name__, ast.get_docstring(node)
        return made

    def _field(self, node: ast.expr) -> Any:
        match node:
            case ast.Subscript(value=ast.Name(id="NotRequired") | ast.Attribute(attr="NotRequired"), slice=inside):
                return NotRequired[self.meant_by(inside)]
            case ast.Subscript(value=ast.Name(id="Required") | ast.Attribute(attr="Required"), slice=inside):
                return Required[self.meant_by(inside)]
            case _:
                return self.meant_by(node)


def _or(one: Any, other: Any) -> Any:
    return one | other


def _is_typed_dict(node: ast.ClassDef) -> bool:
    return any(
        isinstance(base, ast.Name | ast.Attribute) and ast.unparse(base).rpartition(".")[2] == "TypedDict"
        for base in node.bases
    )


def _listed(inside: ast.expr) -> Sequence[ast.expr]:
    return inside.elts if isinstance(inside, ast.Tuple) else [inside]


def _choice(node: ast.expr) -> str | int | bool | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        raise _unknown(node) from None
    if value is None or isinstance(value, str | int):
        return value
    raise _unknown(node)


def _parsed(text: str, node: ast.expr) -> ast.expr:
    try:
        return ast.copy_location(ast.parse(text.strip(), mode="eval").body, node)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unknown(node) from None


def _unknown(node: ast.expr) -> SkillError:
    shown = ast.unparse(node)
    line = getattr(node, "lineno", 1)
    return SkillError(f"Line {line}: expected a type that JSON can carry ({_KNOWN}), found `{shown[:80]}`.")
