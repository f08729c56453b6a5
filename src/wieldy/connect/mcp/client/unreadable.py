"""What a server sent that is no JSON as it should be: mended where that is safe, otherwise whose answer it was.

JSON can name one half of a surrogate pair, as a text has that was cut in the middle of an emoji; it stands for no
character, and readers that are strict refuse all of the message for it. Law: what can be read is not changed by
mending, and whoever waits for an answer that came and cannot be read hears so. Pure.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue

_HALF_OR_OTHER: Final = re.compile(
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_MAY_BE_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_CUT: Final = rb"\\(?:u[0-9a-fA-F]{0,3})?"
_IS_CUT: Final = re.compile(rb"(?:%b|\\u[dD][89abAB][0-9a-fA-F]{2}(?:%b)?)\Z" % (_CUT, _CUT))
_LONGEST_CUT: Final = 11
_VERSION: Final = rb'"jsonrpc"\s*:\s*"2\.0"'
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")'
_AT_THE_FRONT: Final = re.compile(
    rb"\{\s*(?:%b\s*,\s*)?%b\s*,\s*(?:%b\s*,\s*)?\"(?:result|error)\"" % (_VERSION, _ID, _VERSION)
)
_IS_ANSWER: Final = re.compile(rb"\{\s*(?:%b\s*,\s*)?\"(?:result|error)\"" % _VERSION)
_AT_THE_END: Final = re.compile(rb"%b\s*(?:,\s*%b\s*)?\}\s*$" % (_ID, _VERSION))
_END_BYTES: Final = 400


def mended(text: bytes) -> bytes:
    """JSON in which what stands for no character, halves of surrogate pairs and bytes that are no UTF-8, is U+FFFD."""
    return _without_halves(text.decode("utf-8", "replace").encode())


class Mending:
    """Mends halves of surrogate pairs in JSON that comes in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._left = b""

    def feed(self, piece: bytes) -> bytes:
        """The next of it; what may go on in the next piece is kept until that comes."""
        whole = self._left + piece
        end = _end_of_whole(whole)
        self._left = whole[end:]
        return _without_halves(whole[:end])

    def end(self) -> bytes:
        """The last of it."""
        return _without_halves(self._left)


def answered(line: bytes) -> list[int | str]:
    """The ids of the requests that a line which cannot be read as a message was meant to answer."""
    if not line.lstrip().startswith((b"{", b"[")):
        return []  # something that the server has printed
    try:
        said = cast("JsonValue", json.loads(mended(line)))
    except (ValueError, RecursionError):
        return _answered_in(line)
    return [
        number for each in (said if isinstance(said, list) else [said]) if (number := _answered_by(each)) is not None
    ]


def _end_of_whole(text: bytes) -> int:
    """Where an escape begins that may go on behind the end."""
    at = text.find(b"\\", max(0, len(text) - _LONGEST_CUT))
    while at >= 0:
        behind = at - len(text[:at].rstrip(b"\\"))
        if behind % 2 == 0 and _IS_CUT.match(text, at):
            return at  # a backslash behind an odd number of others is what these escape
        at = text.find(b"\\", at + 1)
    return len(text)


def _without_halves(text: bytes) -> bytes:
    if not _MAY_BE_HALF.search(text):
        return text
    return _HALF_OR_OTHER.sub(lambda found: found[1] or rb"\ufffd", text)


def _answered_by(message: JsonValue) -> int | str | None:
    if not isinstance(message, dict) or "method" in message or not message.keys() & {"jsonrpc", "result", "error"}:
        return None
    number = message.get("id")
    return number if isinstance(number, int | str) and not isinstance(number, bool) else None


def _answered_in(line: bytes) -> list[int | str]:
    """The ids in what is not even JSON: where JSON-RPC's fields stand before or behind the answer itself."""
    found = [match[1] for match in _AT_THE_FRONT.finditer(line)]
    if _IS_ANSWER.search(line) and (last := _AT_THE_END.search(line[-_END_BYTES:])) is not None:
        found.append(last[1])
    return [cast("int | str", json.loads(mended(number))) for number in found]
