"""Names of properties that the keys of a Python dictionary are read from.

In JSON every key is text, so a key of another type is written as text; pydantic's own schema says nothing of it, or
asks for a name that is a number, which none is.
"""

from __future__ import annotations

from typing import Any, Final, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.texts import NUMBER

_INTEGER: Final = "^(0|-?[1-9][0-9]*)$"
_WRITTEN: Final[dict[str, JsonObject]] = {
    "int": {"pattern": _INTEGER},
    "float": {"pattern": NUMBER},
    "decimal": {"pattern": NUMBER},
    "bool": {"enum": ["true", "false"]},
}
"""How keys are written, by pydantic's name of their type: one way for each value, so that no key stands twice."""
_UNWRITTEN: Final = frozenset({"none", "tuple", "list", "set", "frozenset", "dict"})
_AROUND: Final = frozenset({"function-after", "nullable"})
"""What only refuses keys, or takes null, which no key is."""


def names_read(keys: Any, named: JsonValue) -> JsonObject | None:
    """The schema of the names from which such keys are read; None for what pydantic says.

    Args:
        keys: Pydantic's schema of the keys.
        named: The JSON Schema that pydantic has for the names, without references.

    Raises:
        UsageError: No name can be such a key.
    """
    kind = keys["type"]
    if kind in _AROUND:
        return names_read(keys["schema"], named)
    if kind in _UNWRITTEN:
        raise UsageError(f"a key of a dictionary is text in JSON, and cannot be read as a {kind}")
    if kind == "literal":
        texts = [value for value in keys["expected"] if isinstance(value, str)]
        if not texts:
            raise UsageError(f"a key of a dictionary is text in JSON, and none of {keys['expected']!r:.100} is")
        return {"enum": cast("list[JsonValue]", texts)} if len(texts) < len(keys["expected"]) else None
    return _WRITTEN.get(kind) or members_as_names(named)


def members_as_names(named: JsonValue) -> JsonObject | None:
    """The names of members of an enumeration of numbers; None where it is none."""
    members = named.get("enum") if isinstance(named, dict) else None
    if not isinstance(members, list) or not all(type(member) in (int, float) for member in members):
        return None
    return {"enum": [str(member) for member in members]}
