"""The data that tracked code works on: values with a label, and containers of our own that hold them.

A label is a set of sources as bits of an int, so that joining two is `|`. A value's label says who had a part in which
value stands there. A container has an `extent` besides: who had a part in its length, its order, its keys, and in that
it is a container at all. What an element is, is said by the label of the element.

No object of the host is among them: text, numbers and None are Python's own, everything else is a class of this module,
whose attributes the code cannot reach.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Label: TypeAlias = int
Scalar: TypeAlias = "str | int | float | None"
CLEAN: Final[Label] = 0


class Value:
    """Data and who had a part in it; never changed once made."""

    __slots__ = ("data", "label")

    def __init__(self, data: object, label: Label = CLEAN) -> None:
        self.data: Any = data  # what it is, is known only when the code runs
        self.label = label


PLAIN: Final = (str, int, float, type(None))
"""What holds nothing else; a tuple, since unions of types are slow to ask about."""


class ListObject:
    """A list; `extent` covers its length and order."""

    __slots__ = ("extent", "items")

    def __init__(self, items: list[Value], extent: Label = CLEAN) -> None:
        self.items = items
        self.extent = extent


class TupleObject:
    """A tuple; that it is one and how long is covered by the label of the value it stands in."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Value, ...]) -> None:
        self.items = items


class DictObject:
    """A mapping from `key_of` to key and value; `extent` covers which keys there are and their order."""

    __slots__ = ("entries", "extent")

    def __init__(self, entries: dict[Hashable, tuple[object, Value]], extent: Label = CLEAN) -> None:
        self.entries = entries
        self.extent = extent


class SetObject:
    """A set, in the order of insertion; `extent` covers all of it."""

    __slots__ = ("extent", "members")

    def __init__(self, members: dict[Hashable, object], extent: Label = CLEAN) -> None:
        self.members = members
        self.extent = extent


class IteratorObject:
    """Something that gives one value after the other; `extent` covers how far it has come.

    Attributes:
        source: A list, tuple, text or range that is gone through by index; or a suspended generator expression
            (`LazyObject`).
    """

    __slots__ = ("extent", "index", "source")

    def __init__(self, source: Value, extent: Label = CLEAN) -> None:
        self.source = source
        self.extent = extent
        self.index = 0


class LazyObject:
    """A generator expression that is not at its end: its code, its names, and the host generator that runs it."""

    __slots__ = ("effects", "frame", "running", "steps")

    def __init__(self, effects: Any, frame: Any, steps: Any) -> None:
        self.effects = effects
        self.frame = frame
        self.steps = steps
        self.running = False


class FunctionObject:
    """A function that the code defined: its code, the scope it was defined in, and its defaults."""

    __slots__ = ("code", "defaults", "env")

    def __init__(self, code: Any, env: Any, defaults: dict[str, Value]) -> None:
        self.code = code
        self.env = env
        self.defaults = defaults


class CoroutineObject:
    """A call that was written and not yet awaited: of an async function, of a tool, or of several at once."""

    __slots__ = ("arguments", "callee", "extent", "is_spent", "keywords", "line")

    def __init__(self, callee: object, arguments: list[Value], keywords: dict[str, Value], line: int) -> None:
        self.callee = callee
        self.arguments = arguments
        self.keywords = keywords
        self.line = line
        self.is_spent = False
        self.extent = CLEAN
        """Who had a part in whether it was awaited already."""


@dataclass(frozen=True, slots=True)
class MatchObject:
    """What a regular expression found: the text, where the match and its groups are in it, and the groups' names."""

    text: str
    places: tuple[int, ...]
    names: dict[str, int]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool by its name, and the names of its parameters as far as they may be given by position.

    Attributes:
        is_sync: It is called where others are awaited: `tool.sync`.
    """

    name: str
    parameters: tuple[str, ...]
    is_sync: bool = False


@dataclass(frozen=True, slots=True)
class Builtin:
    """One of the functions that code may call; types are functions too."""

    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value, taken and not yet called."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class Module:
    """One of the modules that code may import."""

    name: str


@dataclass(frozen=True, slots=True)
class ExceptionType:
    """A kind of exception by its name."""

    name: str


class ExceptionObject:
    """An exception: its kind, its arguments, and for a tool's failure the failure's kind."""

    __slots__ = ("arguments", "failure", "kind")

    def __init__(self, kind: str, arguments: tuple[Value, ...], failure: Value | None = None) -> None:
        self.kind = kind
        self.arguments = arguments
        self.failure = failure


class Raised(Exception):  # noqa: N818 - it carries the code's exception, it is none of ours
    """The code's own exception on its way to a handler of the code."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value
        self.line = 0


def raised(kind: str, message: str, label: Label = CLEAN) -> Raised:
    """An exception of that kind, to be raised."""
    return Raised(Value(ExceptionObject(kind, (Value(message, label),)), label))


TYPE_NAMES: Final[dict[type, str]] = {
    ListObject: "list",
    TupleObject: "tuple",
    DictObject: "dict",
    SetObject: "set",
    IteratorObject: "iterator",
    MatchObject: "match",
    FunctionObject: "function",
    CoroutineObject: "coroutine",
    Tool: "function",
    Builtin: "function",
    Method: "method",
    Module: "module",
    ExceptionType: "type",
}


def type_name(data: object) -> str:
    """What the code calls the type of the data."""
    if data is None:
        return "NoneType"
    if isinstance(data, ExceptionObject):
        return data.kind
    return TYPE_NAMES.get(type(data)) or type(data).__name__


_WITH_EXTENT: Final = (ListObject, DictObject, SetObject, IteratorObject, CoroutineObject)


def shallow(value: Value) -> Label:
    """Who had a part in which value it is, and in a container's length, order and keys."""
    data = value.data
    if isinstance(data, _WITH_EXTENT):
        return value.label | data.extent
    return value.label


_SMALL: Final = 1 << 24


def key_of(data: object) -> Hashable:
    """What a key is filed under: equal for equal keys, and with a hash that the code cannot choose.

    Text hashes by a secret of the process. Numbers hash by their value, so that code could make many that collide;
    all but small ones are filed under their text.

    Raises:
        Raised: The data cannot be a key.
    """
    if isinstance(data, str) or data is None:
        return data
    if isinstance(data, float):
        if not data.is_integer():
            if math.isnan(data):
                raise raised("ValueError", "nan cannot be a key, since it equals nothing")
            return ("f", repr(data))
        data = int(data)
    if isinstance(data, int):
        return int(data) if -_SMALL < data < _SMALL else ("i", hex(data))
    if isinstance(data, TupleObject):
        return ("t", _spelled(data, 0))
    raise raised("TypeError", f"a {type_name(data)} cannot be a key: text, numbers, None and tuples of them can")


def _spelled(data: object, depth: int) -> str:
    if isinstance(data, TupleObject):
        if depth > 8:
            raise raised("ValueError", "a key is a tuple of at most 8 levels")
        return "(" + "".join(_spelled(item.data, depth + 1) for item in data.items) + ")"
    text = repr(key_of(data))
    return f"{len(text)}:{text}"


def key_label(value: Value) -> Label:
    """Who had a part in a key."""
    label = value.label
    if isinstance(value.data, TupleObject):
        for item in value.data.items:
            label |= key_label(item)
    return label


def size_of(data: Any) -> int:
    """How many elements a container has."""
    if isinstance(data, ListObject | TupleObject):
        return len(data.items)
    return len(data.entries) if isinstance(data, DictObject) else len(data.members)
