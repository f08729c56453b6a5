"""JSON that every server can read, whatever a model or a tool has said.

Pure. Law: the text of any value can be read back by a strict reader. Numbers that are not finite become null, and
halves of surrogate pairs the replacement character; everything else is unchanged.
"""

from __future__ import annotations

import json
import math
from typing import Any, cast

from wieldy.core.errors import UsageError


def json_text(value: object) -> str:
    """The value as JSON without spaces.

    Raises:
        UsageError: It is nested so deeply that it cannot be written.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise UsageError("A request holds a value that is nested too deeply to be written as JSON.") from error


def json_bytes(value: object) -> bytes:
    """The value as JSON in UTF-8.

    Raises:
        UsageError: It is nested so deeply that it cannot be written.
    """
    text = json_text(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _finite(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: _finite(item) for key, item in cast("dict[Any, Any]", value).items()}
        case list() | tuple():
            return [_finite(item) for item in cast("list[Any]", value)]
        case _:
            return value
