"""The JSON of an answer: the answer itself or, where it begins with words, what stands in its only code fence.

A model that nothing holds to JSON often puts a fence around it, with words before and behind. Nothing else is passed
over: what has two readings, such as words around JSON without a fence, a second fence or a key that stands twice, is
refused. Law: where the JSON begins is decided by the text up to there, so a text that is read as it comes is read as it
will be in the end.
"""

from __future__ import annotations

import json
import re
from typing import Final, cast

from wieldy.core.json import STRICT_DECODER, JsonValue

_FENCE: Final = "```"
_BLANK: Final = " \t\r\n"
_BEGINNINGS: Final = frozenset('{["-0123456789')
"""Characters with which JSON begins; words that are JSON (`true`) begin like any other word."""
_INFO: Final = re.compile(r"[\w+-]*[ \t\r\n]*")
"""What stands behind a fence before the text in it: the name of a language."""
_SHOWN_CHARACTERS: Final = 40


class NotJsonError(ValueError):
    """The text holds no JSON that could be read; the error says why, as the end of a sentence about an answer."""


def start_of(text: str, *, is_whole: bool) -> int | None:
    """Where the JSON begins; None if that is not clear yet.

    Args:
        text: The answer as far as it has come.
        is_whole: Whether nothing will follow.
    """
    first = len(text) - len(text.lstrip(_BLANK))
    beginning = text[first : first + 1]
    if beginning in _BEGINNINGS:
        return first
    fence = text.find(_FENCE)
    if fence < 0:
        return first if is_whole else None
    info = _INFO.match(text, fence + len(_FENCE))
    start = len(text) if info is None else info.end()
    return start if start < len(text) or is_whole else None


def read_document(text: str) -> tuple[str, JsonValue]:
    """The text of the JSON, and its value.

    Raises:
        NotJsonError: There is none, or something that does not belong there.
    """
    start = start_of(text, is_whole=True) or 0
    if not text[start:].strip(_BLANK):
        raise NotJsonError("is empty" if not text.strip() else "holds no JSON")
    try:
        value, end = STRICT_DECODER.raw_decode(text, start)
    except RecursionError:
        raise NotJsonError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise NotJsonError(f"is not JSON ({error.msg} at character {error.pos + 1})") from None
    except ValueError as error:  # a key that stands twice, a value that JSON does not have, a number beyond Python's
        raise NotJsonError(f"is not JSON that can be read ({error})") from None
    rest = text[end:].strip(_BLANK)
    if rest and not (rest.startswith(_FENCE) and _FENCE in text[:start]):
        raise NotJsonError(f"has something behind its JSON: {rest[:_SHOWN_CHARACTERS]!r}")
    if _FENCE in rest.removeprefix(_FENCE):
        raise NotJsonError("has a second code fence, so that it is not clear what is meant")
    return text[start:end], cast("JsonValue", value)
