"""Where a tool's code comes from, in words that are the same in every process and under whatever name it is offered.

`module:qualname` is a function that is all there is to its code. What has a state of its own, such as a method of an
object, a closure or a decorated function, is told apart by the name under which it was declared:
`module:qualname#name`. Two functions that do the same are two origins: nobody can know. Deliberately not here: what
follows from an equal origin (`run.repeats`).
"""

from __future__ import annotations

import inspect

from wieldy.core.foreign import attribute, plain
from wieldy.tools.callables import AnyFunction, is_method_of_class, written_function


def origin_of(function: AnyFunction, *, name: str) -> str:
    """The origin of the tool that is declared under this name."""
    written = written_function(function)
    module, path = attribute(written, "__module__"), attribute(written, "__qualname__")
    if not isinstance(module, str) or not isinstance(path, str):
        return f"{type(written).__module__}:{type(written).__qualname__}#{name}"
    place = f"{plain(module)}:{plain(path)}"
    return place if written is function and _is_all_there_is(function, path) else f"{place}#{name}"


def is_same_code(one: str, other: str) -> bool:
    """Whether two tools run the same function, though perhaps with different states of it."""
    if one == other:
        return bool(one)
    (place, _, name), (other_place, _, other_name) = one.partition("#"), other.partition("#")
    return place == other_place and not (name and other_name)


def is_same_tool(one: str, other: str) -> bool:
    """Whether two tools do certainly the same with the same arguments."""
    return one == other != "" and "#" not in one


def _is_all_there_is(function: AnyFunction, path: str) -> bool:
    if not inspect.isfunction(function) or "<" in path or is_method_of_class(function):
        return False
    return function.__closure__ is None
