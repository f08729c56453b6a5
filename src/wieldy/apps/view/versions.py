"""Answers with a version of their own, so that a browser that has one already is told just that.

Deliberately not here: what the answers say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from wieldy.core.json import sha256

Answer = Mapping[str, Any]


def versioned(told: Answer) -> Answer:
    """The data as JSON can have it, with `version`: the same for the same data."""
    told = _finite(told)
    return {"version": sha256(json.dumps(told))[:16], **told}


def _finite(value: Any) -> Any:
    """The data without numbers that JSON has no word for, such as the time of an entry that nobody wrote so."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {name: _finite(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType] - JSON of any kind
        case list() | tuple():
            return [_finite(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - JSON of any kind
        case _:
            return value
