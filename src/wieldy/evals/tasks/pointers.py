"""Places in a JSON value by their pointers, and what differs between two values. Source: RFC 6901.

Law: two values are the same exactly if no place differs. Deliberately not here: which differences are all right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeVar, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonValue, canonical_json

Missing = TypeVar("Missing")

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
"""A place in a list; no list here is longer than what so many digits count."""


def check_pointer(pointer: str) -> None:
    """The text is a JSON pointer: empty for the whole value, or steps that each begin with a slash.

    Raises:
        UsageError: Not so.
    """
    if (pointer and not pointer.startswith("/")) or re.search("~(?![01])", pointer):
        raise UsageError(f"expected a JSON pointer, such as '/orders/17' (~0 for ~, ~1 for /), found {pointer!r:.80}")


def check_steps(value: JsonValue, pointer: str) -> None:
    """The pointer's steps into lists of the value are numbers of items, or `*`.

    Raises:
        UsageError: One is not, and would lead to nothing.
    """
    missing, path = object(), ""
    for step in pointer.split("/")[1:]:
        if isinstance(value_at(value, path, missing), list) and step != "*" and not _INDEX.fullmatch(step):
            where = f"the list at {path!r}" if path else "the list"
            raise UsageError(f"expected the number of an item of {where}, such as 0 or 12, found {step!r:.80}")
        path = f"{path}/{step}"


def value_at(value: JsonValue, pointer: str, missing: Missing) -> JsonValue | Missing:
    """What the value has at the pointer; `missing` if it has nothing there."""
    here: Any = value
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and key in here:
            here = cast("dict[str, Any]", here)[key]
        elif isinstance(here, list) and _INDEX.fullmatch(key) and int(key) < len(cast("list[Any]", here)):
            here = cast("list[Any]", here)[int(key)]
        else:
            return missing
    return here


def set_at(value: JsonValue, pointer: str, new: JsonValue) -> None:
    """The value has this at the pointer from now on, beside what it had; objects on the way are made.

    Raises:
        ValueError: The pointer leads to nothing within the value, or through something that is neither an object nor an
            item of a list.
    """
    if not pointer.startswith("/"):
        raise ValueError(f"Expected a JSON pointer to something within the value, found {pointer!r}.")
    missing = object()
    path, _, last = pointer.rpartition("/")
    here: Any = value_at(value, path, missing)
    if here is missing:
        set_at(value, path, {})
        here = value_at(value, path, missing)
    key = last.replace("~1", "/").replace("~0", "~")
    if isinstance(here, dict):
        here[key] = new
    elif isinstance(here, list) and _INDEX.fullmatch(key) and int(key) < len(cast("list[Any]", here)):
        here[int(key)] = new
    else:
        raise ValueError(f"The pointer {pointer!r} leads to no place that could be set.")


def differences(one: JsonValue, other: JsonValue, at: str = "") -> Iterator[str]:
    """The pointers of what is not the same, each as deep as it can be told.

    Of something new, what it holds is told; something that is gone is gone as a whole.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            place = f"{at}/{_step(key)}"
            if key in one and key in other:
                yield from differences(one[key], other[key], place)
            elif key in other:
                yield from _ends(other[key], place)
            else:
                yield place
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            if index < min(len(one), len(other)):
                yield from differences(one[index], other[index], f"{at}/{index}")
            elif index < len(other):
                yield from _ends(other[index], f"{at}/{index}")
            else:
                yield f"{at}/{index}"
    elif canonical_json(one) != canonical_json(other):  # every sign of a text counts, and 1 is not true
        yield at


def _ends(value: JsonValue, at: str) -> Iterator[str]:
    """The pointers of what the value holds in the end; its own if that is nothing."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not members or not value:
        yield at
    for name, inner in members:
        yield from _ends(inner, f"{at}/{_step(str(name))}")


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def is_within(pointer: str, place: str) -> bool:
    """Whether the pointer is that place or lies within it; `*` in the place stands for any one step."""
    steps, wanted = pointer.split("/"), place.split("/")
    return len(steps) >= len(wanted) and all(want in ("*", step) for want, step in zip(wanted, steps, strict=False))
