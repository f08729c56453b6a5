"""Standard typed dictionaries, made readable for pydantic on Python 3.11.

Before Python 3.12, classes from `typing.TypedDict` do not keep what pydantic needs, and it refuses them; the ones from
typing_extensions do. This makes the latter from the former, wherever they stand in an annotation. From 3.12 on nothing
is changed. Not reached: typed dictionaries inside dataclasses and models, which pydantic resolves on its own.
"""

from __future__ import annotations

import sys
import types
import typing
from typing import Any, NotRequired, Required

import typing_extensions

# Called with members that are known only now, which type checkers do not follow.
_TYPED_DICT: Any = typing_extensions.TypedDict
_UNION: Any = typing.Union


def readable(annotation: Any, *, within: tuple[Any, ...] = ()) -> Any:
    """The annotation, with every standard typed dictionary in it replaced; one within itself stays as it is."""
    if sys.version_info >= (3, 12) or annotation in within:
        return annotation
    if typing.is_typeddict(annotation) and type(annotation).__module__ == "typing":
        return _extended(annotation, (*within, annotation))
    arguments = typing.get_args(annotation)
    changed = tuple(readable(argument, within=within) for argument in arguments)
    if all(new is old for new, old in zip(changed, arguments, strict=True)):
        return annotation
    if isinstance(annotation, types.UnionType):
        return _UNION[changed]
    if typing.get_origin(annotation) is typing.Annotated:
        return typing.Annotated[changed]
    return annotation.copy_with(changed) if hasattr(annotation, "copy_with") else typing.get_origin(annotation)[changed]


def _extended(typed_dict: Any, within: tuple[Any, ...]) -> Any:
    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(typed_dict, include_extras=True).items():
        said = typing.get_origin(hint)
        plain = typing.get_args(hint)[0] if said in {Required, NotRequired} else hint
        is_required = said is Required or (said is not NotRequired and name in typed_dict.__required_keys__)
        fields[name] = (Required if is_required else NotRequired)[readable(plain, within=within)]
    extended = _TYPED_DICT(typed_dict.__name__, fields)
    extended.__doc__ = typed_dict.__doc__
    return extended
