"""What stands in a document, if it is of the kind that is expected there: documents are often wrong.

Law: nothing here raises, whatever the document holds.
"""

from __future__ import annotations

import re
from typing import Final, cast

from wieldy.core.json import JsonObject, JsonValue

_TAGS: Final = re.compile(
    r"</?(?:a|b|br|blockquote|code|dd|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|sub|sup|table|tbody|td|th|thead"
    r"|tr|u|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
"""Layout, of which a model has nothing; other words in angle brackets are a document's own."""


def object_of(value: object) -> JsonObject:
    """The object; an empty one where there is something else."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[JsonValue]:
    """The list; an empty one where there is something else."""
    return cast("list[JsonValue]", value) if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The text without spaces around it; an empty one where there is something else."""
    return value.strip() if isinstance(value, str) else ""


def texts_of(value: object) -> list[str]:
    """The texts in a list; a text alone is a list of one."""
    return [value] if isinstance(value, str) else [item for item in list_of(value) if isinstance(item, str)]


def one_line(text: object, *, limit: int) -> str:
    """The text on one line of so many characters at most, without the tags of HTML."""
    words = " ".join(_TAGS.sub(" ", text_of(text)).split())
    return words if len(words) <= limit else f"{words[: limit - 1].rstrip()}…"
