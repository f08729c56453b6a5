"""The host's side of the channel: frames from a peer that may send anything.

Length first, four bytes; then JSON of at most 4 MB, read strictly and not deeper than the guest writes. What is wrong
is a `ProtocolError`, and the peer is not listened to any more. No waiting here.
"""

from __future__ import annotations

import json
from typing import Any, Final, cast

from wieldy.core.json import JsonObject, parse_json
from wieldy.sandbox.inside.guest.channel import FRAME_BYTES, ITEM_BYTES

DEEPEST: Final = 120  # the guest nests a hundred deep, within a frame

_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_escaping = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class ProtocolError(Exception):
    """The peer sent what the guest never sends."""


class FrameReader:
    """Takes bytes as they come and gives frames.

    Attributes:
        last_size_bytes: Of the frame that was given last.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.last_size_bytes = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was sent beyond the frames that were taken."""
        return not self._buffer

    def feed(self, piece: bytes) -> None:
        """Takes more bytes."""
        self._buffer += piece

    def next(self) -> JsonObject | None:
        """The next frame, or None while its end is not here.

        Raises:
            ProtocolError: It is too long, no JSON object, or nested too deeply.
        """
        if len(self._buffer) < 4:
            return None
        size = int.from_bytes(self._buffer[:4], "big")
        if size > FRAME_BYTES:
            raise ProtocolError(f"a frame of {size:,} bytes")
        if len(self._buffer) < 4 + size:
            return None
        content = bytes(self._buffer[4 : 4 + size])
        del self._buffer[: 4 + size]
        self.last_size_bytes = size
        return _read(content)


def frame_of(content: JsonObject) -> bytes:
    """The frame as bytes.

    Raises:
        ValueError: The content is no JSON, or too long for a frame.
        TypeError: The same, where it holds other objects.
    """
    encoded = _encoded(content, FRAME_BYTES)
    return len(encoded).to_bytes(4, "big") + encoded


def item_of(content: JsonObject) -> bytes:
    """The content as it stands in a frame beside others (`in_frames` of the guest's channel).

    Raises:
        ValueError, TypeError: As `frame_of`.
    """
    return _encoded(content, ITEM_BYTES)


def _encoded(content: JsonObject, most_bytes: int) -> bytes:
    try:
        encoded = _encoder.encode(content).encode()
    except UnicodeEncodeError:  # half a character, which UTF-8 does not have and an escape has
        encoded = _escaping.encode(content).encode()
    if len(encoded) > most_bytes:
        raise ValueError(f"{len(encoded):,} bytes are more than the {most_bytes:,} that can be sent at once")
    return encoded


def _read(content: bytes) -> JsonObject:
    try:
        value = parse_json(content.decode())
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"a frame that is no JSON: {type(error).__name__}") from None
    may_be_deep = content.count(b"[") + content.count(b"{") > DEEPEST
    if not isinstance(value, dict) or (may_be_deep and _is_deeper(value, DEEPEST)):
        raise ProtocolError("a frame that is no object, or nested too deeply")
    return value


def _is_deeper(value: object, deepest: int) -> bool:
    level: list[object] = [value]
    for _ in range(deepest):
        level = [inner for outer in level for inner in _within(outer)]
        if not level:
            return False
    return True


def _within(value: object) -> list[Any]:
    """The arrays and objects that stand directly in a value."""
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).values())
    elif isinstance(value, list):
        items = cast("list[Any]", value)
    else:
        return []
    return [item for item in items if isinstance(item, dict | list)]
