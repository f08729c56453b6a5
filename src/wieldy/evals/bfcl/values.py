"""Whether a value is what a task means: alternatives, descriptions of parameters, and documented defaults.

Deliberately not here: when two values are equal (`wieldy.evals.verdicts.equality`), and calls (`strict`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, cast

from wieldy.evals.verdicts.equality import is_equal, matched


def is_meant(value: Any, alternative: Any, detail: Mapping[str, Any]) -> bool:
    """Whether the value is this alternative, in which the members of an object list alternatives of their own."""
    if isinstance(value, dict) and isinstance(alternative, dict):
        return _is_object_meant(cast("dict[str, Any]", value), cast("dict[str, Any]", alternative), detail)
    if isinstance(value, list) and isinstance(alternative, list):
        values, alternatives = cast("list[Any]", value), cast("list[Any]", alternative)
        items: Mapping[str, Any] = detail.get("items") or {}
        if len(values) != len(alternatives):
            return False
        if detail.get("uniqueItems") is True:
            fits = [[is_meant(each, one, items) for each in values] for one in alternatives]
            return len(matched(fits)) == len(values)
        return all(is_meant(each, one, items) for each, one in zip(values, alternatives, strict=True))
    return is_equal(value, alternative)


def _is_object_meant(value: dict[str, Any], alternative: dict[str, Any], detail: Mapping[str, Any]) -> bool:
    details: Mapping[str, Any] = detail.get("properties") or {}
    for key in value.keys() | alternative.keys():
        listed = alternative.get(key, [])
        # Data is not of one mind: a member may stand for itself instead of listing alternatives.
        options = cast("list[Any]", listed) if isinstance(listed, list) else [listed]
        if not is_allowed(value, key, options, details.get(key) or {}):
            return False
    return True


def is_allowed(values: Mapping[str, Any], name: str, options: list[Any], detail: Mapping[str, Any]) -> bool:
    """Whether what is given, or left out, under this name is one of the options.

    Leaving out is giving the documented default, and the other way round.
    """
    default = documented_default(detail)
    if name not in values:
        return "" in options or (default is not NO_DEFAULT and any(is_meant(default, each, detail) for each in options))
    value = values[name]
    may_be_left_out = not options or "" in options
    if may_be_left_out and default is not NO_DEFAULT and is_equal(value, default) and admits(detail, value):
        return True
    return any(
        is_meant(value, each, detail) for each in options if each != "" or not _is_only_omission(options, detail)
    )


def _is_only_omission(options: list[Any], detail: Mapping[str, Any]) -> bool:
    """Whether `""` among the options says that it may be left out, rather than that the text is empty."""
    return "" in options and (len(options) > 1 or detail.get("type") != "string")


# Schemas, in the benchmark's own words for types

_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == int(value),
    "float": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "tuple": lambda value: isinstance(value, list),
    "dict": lambda value: isinstance(value, dict),
}


def admits(detail: Mapping[str, Any], value: Any) -> bool:
    """Whether the parameter's description admits the value: its type, its options, its members."""
    check = _TYPES.get(detail.get("type") or "")
    if check is not None and not check(value):
        return False
    options = detail.get("enum")
    if options and not any(is_equal(value, option) for option in options):
        return False
    if isinstance(value, list) and detail.get("items"):
        return all(admits(detail["items"], each) for each in cast("list[Any]", value))
    return True


def admits_alternative(detail: Mapping[str, Any], alternative: Any) -> bool:
    """Whether some value that this alternative stands for is admitted."""
    if isinstance(alternative, dict):
        return _admits_object(detail, cast("dict[str, Any]", alternative))
    if isinstance(alternative, list) and detail.get("type") in ("array", "tuple", "any", None):
        items: Mapping[str, Any] = detail.get("items") or {}
        return all(admits_alternative(items, each) for each in cast("list[Any]", alternative))
    return admits(detail, alternative)


def _admits_object(detail: Mapping[str, Any], alternative: dict[str, Any]) -> bool:
    if detail.get("type") not in ("dict", "any", None):
        return False
    details = cast("Mapping[str, Any] | None", detail.get("properties"))
    if not details:
        return True
    if not set(detail.get("required") or ()) <= alternative.keys():
        return False
    # As in JSON Schema, a member that is not described may be there.
    return all(_admits_member(details.get(key) or {}, listed) for key, listed in alternative.items())


def _admits_member(detail: Mapping[str, Any], listed: Any) -> bool:
    options = cast("list[Any]", listed) if isinstance(listed, list) else [listed]
    return not options or any(each == "" or admits_alternative(detail, each) for each in options)


# Defaults


class _NoDefault:
    """Nothing is documented."""


NO_DEFAULT: Final = _NoDefault()

_TOLD: Final = re.compile(
    r"\bdefaults?(?:\s+value)?(?:\s+(?:is|to|are|of|being|set to))*\s*[:=]?\s+"
    r"(?P<value>'[^']*'|\"[^\"]*\"|\[\]|\{\}|-?\d+(?:\.\d+)?(?!\w)|"
    r"(?:empty\s+(?:array|list|string)|[\w-]+(?=\s*(?:[.,;)]|$))))",
    re.IGNORECASE,
)
_EMPTY: Final[dict[str, Any]] = {"empty array": [], "empty list": [], "empty string": "", "none": None, "null": None}


def documented_default(detail: Mapping[str, Any]) -> Any:
    """What the description says is taken where nothing is given; `NO_DEFAULT` where it says nothing."""
    if "default" in detail:
        return detail["default"]
    description = detail.get("description")
    if not isinstance(description, str) or "efault" not in description:
        return NO_DEFAULT
    return _told_default(description, detail.get("type"))


@lru_cache(maxsize=4096)
def _told_default(description: str, kind: str | None) -> Any:
    told = _TOLD.search(description)
    if told is None:
        return NO_DEFAULT
    text: str = told["value"]
    if text[0] in "'\"":
        return text[1:-1]
    if text.lower() in _EMPTY:
        return _EMPTY[text.lower()]
    try:
        return json.loads(text.lower())
    except ValueError:
        return text if kind == "string" else NO_DEFAULT
