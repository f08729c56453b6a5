"""JSON as Python sees it, and its one canonical text.

A digest of arguments must not depend on key order, spacing or process: `canonical_json` is that text.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Final, TypeAlias, cast

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"

_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_json(value: object) -> str:
    """The same text for equal JSON values: sorted keys, no spaces, no escapes beyond what JSON requires."""
    return _canonical.encode(value)


def is_json(value: object) -> bool:
    """Whether JSON has such a value: text as keys, finite numbers, and nothing that only Python knows."""
    waiting: list[object] = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            members = cast("dict[object, object]", value)
            if not all(isinstance(key, str) for key in members):
                return False
            waiting += members.values()
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
        elif isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif not isinstance(value, str | int | None):
            return False
    return True


def sha256(text: str) -> str:
    """The SHA-256 of the text in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(*parts: object) -> str:
    """The first 32 hexadecimal digits of the SHA-256 of the parts' canonical JSON."""
    return sha256(canonical_json(parts))[:32]
