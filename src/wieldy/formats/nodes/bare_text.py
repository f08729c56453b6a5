"""Arguments that a model wrote as bare text, without names: the only text that the tool takes."""

from __future__ import annotations

from wieldy.core.json import JsonObject
from wieldy.formats.values.expected import Expected


def only_text(schema: JsonObject | None) -> str | None:
    """The name of the argument that a bare text must be; None if there is none, or more than one that it could be.

    It is the only argument that the tool has, or the only one that it requires, and takes strings.
    """
    if schema is None:
        return None
    expected = Expected.of(schema)
    required = schema.get("required")
    names = expected.names
    if len(names) != 1 and isinstance(required, list) and len(required) == 1:
        names = tuple(map(str, required))
    return names[0] if len(names) == 1 and "string" in expected.member(names[0]).types else None
