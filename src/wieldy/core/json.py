"""JSON as Python sees it, and its one canonical text.

A digest of arguments must not depend on key order, spacing or process: `canonical_json` is that text.
"""

from __future__ import annotations

import hashlib
import json
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
JsonObject: TypeAlias = "dict[str, JsonValue]"


def canonical_json(value: object) -> str:
    """The same text for equal JSON values: sorted keys, no spaces, no escapes beyond what JSON requires."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(*parts: object) -> str:
    """The first 32 hexadecimal digits of the SHA-256 of the parts' canonical JSON."""
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
