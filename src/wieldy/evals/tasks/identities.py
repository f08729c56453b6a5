"""What makes a task what it is, code included: told as JSON, so that a change of it is seen.

A function is told by its bytecode and constants, what it has closed over, and the functions, classes, plain values and
instances of its own module that it names; so comments and layout do not count. Code of Wieldy is told by its name: the
version stands for it. Law: the same in every process of the same Python. Deliberately not here: what other modules
define, and the state of objects that are no records, of which only the class is told.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Struct, structs

from wieldy.core.errors import UsageError
from wieldy.core.json import canonical_json, digest
from wieldy.tools import Tool

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue

_OURS: Final = "wieldy."
_NUMBERS: Final = bool, int, float, complex, Decimal, Fraction, range
_AS_WRITTEN: Final[tuple[type, ...]] = (
    types.NoneType,
    str,
    bytes,
    *_NUMBERS,
    date,
    time,
    timedelta,
    PurePath,
    re.Pattern,
    Enum,
)
_CACHED: Final[type[Any]] = type(functools.cache(lambda: None))
_CONTAINERS: Final[tuple[type, ...]] = list, tuple, Mapping, Set, types.CodeType


def identity_of(*values: object) -> str:
    """A digest of the values: plain ones, records of them, tools, functions and classes.

    Cost: linear in what the values hold and name.

    Raises:
        UsageError: A value holds itself, or is nested too deeply.
    """
    telling = _Telling()
    try:
        return digest([telling.told(value) for value in values], list(telling.rest()))
    except RecursionError:
        raise UsageError("Expected a task whose values do not hold themselves, found one that does.") from None


class _Telling:
    """One telling. Code is told behind all the rest, each part once, so it may be as entangled as it likes."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._code: list[object] = []

    def told(self, value: object) -> JsonValue:
        if _is_as_written(value):
            return f"{type(value).__qualname__} {value!r}"
        if isinstance(value, _CONTAINERS):
            return list(self._parts(value))
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._code)
            self._code.append(value)
        return ["part", self._numbers[id(value)]]

    def rest(self) -> Iterator[JsonValue]:
        """What was told by its number only."""
        for value in self._code:  # grows meanwhile
            yield list(self._parts(value))

    def _parts(self, value: Any) -> Iterator[JsonValue]:
        yield type(value).__qualname__
        match value:
            case list() | tuple():
                yield from map(self.told, cast("Iterable[object]", value))
            case Mapping():
                items = cast("Mapping[object, object]", value).items()
                yield from map(self.told, sorted(items, key=lambda item: _place(item[0])))
            case Set():
                yield from map(self.told, sorted(cast("Set[object]", value), key=_place))
            case types.CodeType():
                yield from self._of_code(value)
            case types.FunctionType():
                yield from self._of_function(value)
            case types.MethodType():
                yield from map(self.told, (value.__func__, type(value.__self__), value.__self__))
            case functools.partial():
                yield from map(self.told, (value.func, value.args, value.keywords))
            case type():
                yield from self._of_class(cast("type[Any]", value))
            case Tool():
                yield from self._of_tool(value)
            case _:
                yield from self._of_object(value)

    def _of_code(self, code: types.CodeType) -> Iterator[JsonValue]:
        yield from (code.co_code.hex(), code.co_exceptiontable.hex(), code.co_flags)
        yield from (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        yield from map(self.told, (code.co_names, code.co_varnames, code.co_freevars, code.co_consts))

    def _of_function(self, function: types.FunctionType) -> Iterator[JsonValue]:
        closed_over = [_content(cell) for cell in function.__closure__ or ()]
        if _is_ours(function.__module__):
            yield from (function.__module__, function.__qualname__, self.told(closed_over))
            return
        yield from map(self.told, (function.__code__, function.__defaults__, function.__kwdefaults__, closed_over))
        for name in sorted(_names(function.__code__) & function.__globals__.keys()):
            value = function.__globals__[name]
            yield from (name, self.told(value) if _is_of(value, function.__module__) else _name_of(value))
            if _is_instance_of(value, function.__module__):
                yield self.told(cast("object", type(value)))

    def _of_class(self, kind: type[Any]) -> Iterator[JsonValue]:
        yield from (kind.__module__, kind.__qualname__)
        if _is_ours(kind.__module__) or kind.__module__ == "builtins":
            return
        for name, member in sorted(vars(kind).items()):
            code = _function_of(member)
            # Plain members with such names are Python's own, among them the number of the class's first line.
            if code is not None or (_is_plain(member) and not name.startswith("__")):
                yield from (name, self.told(member if code is None else code))
        yield from (self.told(base) if _is_of(base, kind.__module__) else _name_of(base) for base in kind.__bases__)

    def _of_tool(self, tool: Tool) -> Iterator[JsonValue]:
        named = {
            each.name: getattr(tool, each.name) for each in fields(tool) if each.name not in ("signature", "schema")
        }
        yield self.told(named)

    def _of_object(self, value: Any) -> Iterator[JsonValue]:
        if isinstance(value, _CACHED):
            yield self.told(value.__wrapped__)
            return
        if is_dataclass(value):
            yield self.told({each.name: getattr(value, each.name) for each in fields(value)})
        elif isinstance(value, Struct):
            yield self.told(structs.asdict(value))
        if callable(value) or is_dataclass(value) or isinstance(value, Struct):
            yield self.told(cast("object", type(value)))
        yield _name_of(value)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and f"{module}.".startswith(_OURS)


def _is_of(value: object, module: object) -> bool:
    """Whether it is a plain value, or was written in this module, or is an instance of what was."""
    match value:
        case functools.partial():
            return _is_of(cast("functools.partial[object]", value).func, module)
        case types.MethodType():
            return _is_of(type(value.__self__), module)
        case types.FunctionType() | type() | Tool():
            return _module_of(value) == module
        case _ if isinstance(value, _CACHED):
            return _is_of(cast("Any", value).__wrapped__, module)
        case _:
            return _is_plain(value) or _is_instance_of(value, module)


def _is_instance_of(value: object, module: object) -> bool:
    return type(value).__module__ == module


def _module_of(value: types.FunctionType | type | Tool) -> object:
    return getattr(value.function if isinstance(value, Tool) else value, "__module__", None)


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_plain, cast("Iterable[object]", value)))
    if isinstance(value, dict):
        return all(_is_plain(each) for item in cast("dict[object, object]", value).items() for each in item)
    return _is_as_written(value)


def _is_as_written(value: object) -> bool:
    return isinstance(value, _AS_WRITTEN)


def _place(value: object) -> str:
    """Where the value stands among those of a set, which has no order that is the same in every process."""
    return canonical_json(_Telling().told(value) if _is_plain(value) else _name_of(value))


def _name_of(value: object) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', '')}:{getattr(named, '__qualname__', '')}"


def _function_of(member: object) -> object:
    """The code of a member of a class; None for what is none."""
    if isinstance(member, staticmethod | classmethod):
        return getattr(cast("object", member), "__func__", None)
    if isinstance(member, property):
        return [member.fget, member.fset, member.fdel]
    if isinstance(member, functools.cached_property | functools.partialmethod):
        return cast("functools.cached_property[object]", member).func
    return member if isinstance(member, (types.FunctionType, Tool, _CACHED)) else None


def _names(code: types.CodeType) -> set[str]:
    """The names that the code and what is defined in it mention."""
    within = (_names(each) for each in code.co_consts if inspect.iscode(each))
    return set(code.co_names).union(*within)


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
