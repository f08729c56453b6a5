"""What programs give to this room, checked at its doors: what is of a wrong kind is an error that says so.

Deliberately not here: what a notation or a schema says; who reads it checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, cast

from wieldy.core.errors import GrammarError, UsageError
from wieldy.core.json import canonical_json, is_json

_SHOWN_CHARACTERS = 80


def wrong(expected: str, found: object) -> UsageError:
    """The error for what is of a wrong kind."""
    return UsageError(f"Expected {expected}, found {shown(found)}.")


def shown(value: object) -> str:
    """A value in few words, whatever it is: nothing of a stranger's class is asked to print itself."""
    kind = type(value).__name__
    if value is not None and not isinstance(value, str | bytes | int | float):
        return f"the class {value.__name__}" if isinstance(value, type) else f"a value of the type {kind}"
    if isinstance(value, str | bytes) and len(value) > _SHOWN_CHARACTERS:
        return f"{value[:_SHOWN_CHARACTERS]!r}... (a {kind} of {len(value):,})"
    try:
        return repr(value)
    except ValueError:  # Python writes no whole numbers of more than some thousand digits
        return "a whole number of thousands of digits"


def check_text(what: str, value: object) -> None:
    """Raises UsageError unless it is text."""
    if not isinstance(value, str):
        raise wrong(f"{what} as text", value)


def check_count(what: str, value: object, *, least: int | None = 0, or_none: bool = False) -> None:
    """Raises UsageError unless it is a whole number, not too small and of a size that can be counted to."""
    if or_none and value is None:
        return
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or abs(value) >= 1 << 62
        or (least is not None and value < least)
    ):
        start = "" if least is None else f" from {least} on"
        raise wrong(f"{what} as a whole number{start}{' or None' if or_none else ''}", value)


def token_id(value: Any) -> int:
    """The token; whole numbers of other libraries are as good as Python's."""
    try:
        return index(value)
    except TypeError:
        raise wrong("a token by its id, a whole number", value) from None


def token_ids(values: Iterable[Any]) -> list[int]:
    """The tokens in their order."""
    try:
        return list(map(index, values))
    except TypeError:
        raise wrong("tokens by their ids, whole numbers", values) from None


def special_ids(value: Any) -> dict[str, int]:
    """The special tokens by their text; none for None."""
    if value is None:
        return {}
    given: object = value
    named = cast("Mapping[object, object]", value) if isinstance(value, Mapping) else None
    if named is None or not all(isinstance(key, str) and type(token) is int for key, token in named.items()):
        raise wrong("the special tokens by their text, each with its id", given)
    return {str(key): token_id(token) for key, token in named.items()}


def check_schema(document: object) -> None:
    """Raises unless it is a JSON object and JSON through and through.

    Raises:
        UsageError: It is none.
        GrammarError: It is nested too deeply.
    """
    if not isinstance(document, dict):
        raise wrong("a JSON Schema, a dict", document)
    whole = cast("dict[object, object]", document)
    try:
        canonical_json(whole)
    except RecursionError:
        raise GrammarError("The constraint cannot be compiled: its schema is nested too deeply.") from None
    except (TypeError, ValueError):
        pass
    else:
        if is_json(whole):
            return
    found = _no_json(whole)
    said = "a list or an object that contains itself" if found is whole else shown(found)
    raise UsageError(
        f"Expected a JSON Schema of JSON values only, found in it {said}. JSON has text, finite "
        "numbers, lists, true, false, None, and objects with text as keys."
    )


def _no_json(whole: object) -> object:
    """Something within the value that JSON has not; the value itself where that is only that it contains itself."""
    waiting, seen = [whole], set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list) and id(cast("object", value)) in seen:
            continue
        seen.add(id(cast("object", value)))
        if isinstance(value, dict):
            members = cast("dict[object, object]", value)
            for key in members:
                if not isinstance(key, str):
                    return key
            waiting += members.values()
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
        elif not is_json(value) or (isinstance(value, int) and abs(value) >= 10**4_300):
            return value
    return whole
