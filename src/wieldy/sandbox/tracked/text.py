"""Values as text: `str`, `repr`, f-strings and `format`, without the host's formatting of anything but plain data."""

from __future__ import annotations

import re
import string
from typing import Final

from wieldy.sandbox.tracked.comparisons import unawaited
from wieldy.sandbox.tracked.limits import LimitReachedError, Meter
from wieldy.sandbox.tracked.objects import (
    CLEAN,
    CoroutineObject,
    DictObject,
    ExceptionObject,
    Label,
    ListObject,
    SetObject,
    TupleObject,
    Value,
    raised,
    type_name,
)
from wieldy.sandbox.tracked.operators import deep, failed

_SPECIFICATION: Final = re.compile(
    r"(?:.?[<>=^])?[-+ ]?z?#?0?(\d{0,9})[,_]?(?:\.(\d{1,9}))?[bcdeEfFgGnosxX%]?", re.DOTALL
)


def text_of(data: object, meter: Meter) -> str:
    """The data as `str` gives it."""
    if isinstance(data, str):
        return data
    if isinstance(data, ExceptionObject):
        if data.kind != "KeyError" and len(data.arguments) == 1:
            return text_of(data.arguments[0].data, meter)
        return ", ".join(representation(item.data, meter) for item in data.arguments)
    return representation(data, meter)


def representation(data: object, meter: Meter, depth: int = 0) -> str:
    """The data as `repr` gives it.

    Raises:
        LimitReachedError: It is too deep, or contains itself.
    """
    if depth > meter.limits.nesting:
        raise LimitReachedError(f"data of more than {meter.limits.nesting} levels")
    meter.charge(1)
    if isinstance(data, str | int | float | range | None):
        return meter.text(repr(data))
    if isinstance(data, ListObject):
        return meter.text("[" + ", ".join(_each(data.items, meter, depth)) + "]")
    if isinstance(data, TupleObject):
        inner = _each(data.items, meter, depth)
        return meter.text("(" + ", ".join(inner) + (",)" if len(inner) == 1 else ")"))
    if isinstance(data, SetObject):
        inner = [representation(item, meter, depth + 1) for item in data.members.values()]
        return meter.text("{" + ", ".join(inner) + "}" if inner else "set()")
    if isinstance(data, DictObject):
        members = data.entries.values()
        pairs = [
            f"{representation(name, meter, depth + 1)}: {representation(item.data, meter, depth + 1)}"
            for name, item in members
        ]
        return meter.text("{" + ", ".join(pairs) + "}")
    if isinstance(data, ExceptionObject):
        return meter.text(f"{data.kind}({', '.join(_each(data.arguments, meter, depth))})")
    if isinstance(data, CoroutineObject):
        raise raised("TypeError", f"{unawaited(data)} was not awaited: write `await` before it")
    return f"<{type_name(data)}>"


def _each(items: list[Value] | tuple[Value, ...], meter: Meter, depth: int) -> list[str]:
    return [representation(item.data, meter, depth + 1) for item in items]


def formatted(data: object, specification: str, meter: Meter) -> str:
    """The data as a format specification wants it.

    Raises:
        Raised: There is no such specification for such data.
    """
    if not specification:
        return text_of(data, meter)
    if not isinstance(data, str | int | float):
        raise raised("TypeError", f"a {type_name(data)} takes no format specification")
    found = _SPECIFICATION.fullmatch(specification)
    if found is None:
        raise raised("ValueError", "there is no such format specification")
    for number in found.groups():
        if number and int(number) > meter.limits.size:
            raise LimitReachedError(f"a text of more than {meter.limits.size} characters")
    # Both count, and a float may bring 309 digits of its own.
    meter.make(sum(int(number or 0) for number in found.groups()) + 400)
    try:
        return meter.text(format(data, specification))
    except (ValueError, OverflowError) as error:
        raise failed(error, CLEAN) from None


def format_template(template: str, positional: list[Value], named: dict[str, Value], meter: Meter) -> tuple[str, Label]:
    """`str.format`, with names and positions alone: nothing is looked up within a value.

    Raises:
        Raised: The template wants more than that, or what is not given.
    """
    made: list[str] = []
    label = CLEAN
    count = 0
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise failed(error, CLEAN) from None
    for literal, name, specification, conversion in parts:
        made.append(literal)
        if name is None:
            continue
        if "{" in (specification or ""):
            raise raised("ValueError", "a format specification within one: use an f-string")
        key, count = (str(count), count + 1) if not name else (name, count)
        value = named.get(key)
        if value is None and key.isascii() and key.isdigit() and len(key) < 9 and int(key) < len(positional):
            value = positional[int(key)]
        if value is None:
            raise raised("KeyError", f"format has nothing for {key[:100]!r}; it looks up whole values only")
        label |= deep(value, meter)
        shown = converted(value.data, conversion, meter)
        made.append(formatted(shown, specification or "", meter))
    meter.make(sum(len(part) for part in made))
    return "".join(made), label


def converted(data: object, conversion: str | None, meter: Meter) -> object:
    """The data, or its text where `!r` or `!s` wants that."""
    if not conversion:
        return data
    if conversion == "r":
        return representation(data, meter)
    if conversion == "s":
        return text_of(data, meter)
    raise raised("ValueError", "a conversion is !r or !s")
