"""Frames are read the same wherever they are cut, and bytes that are no frames never do more than end the peer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.sandbox.frames import DEEPEST, FRAME_BYTES, FrameReader, ProtocolError, frame_of

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), json_values, max_size=4)


def all_of(reader: FrameReader) -> list[Any]:
    found: list[Any] = []
    while (frame := reader.next()) is not None:
        found.append(frame)
    return found


@given(st.lists(objects, max_size=5), st.data())
def test_frames_come_out_as_they_went_in_wherever_the_bytes_are_cut(frames: list[Any], data: st.DataObject) -> None:
    content = b"".join(frame_of(frame) for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
    reader, found = FrameReader(), list[Any]()
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        reader.feed(content[start:end])
        found += all_of(reader)
    assert found == frames
    assert reader.is_empty


@given(st.binary(max_size=200))
def test_any_bytes_are_frames_or_wait_or_are_refused(content: bytes) -> None:
    reader = FrameReader()
    reader.feed(content)
    try:
        found = all_of(reader)
    except ProtocolError:
        return
    assert all(isinstance(frame, dict) for frame in found)


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"1",
        b"null",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": 1, "a": 2}',
        b'{"a": "\\ud800"}',
        b'{"a": "\xff"}',
        b'{"a": ' + b"9" * 100_000 + b"}",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"a":' + b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1) + b"}",
        b'{"a": 1} trailing',
    ],
)
def test_what_is_no_json_object_within_bounds_is_refused(content: bytes) -> None:
    reader = FrameReader()
    reader.feed(framed(content))
    with pytest.raises(ProtocolError):
        reader.next()


def test_a_length_beyond_the_limit_is_refused_before_its_bytes_come() -> None:
    reader = FrameReader()
    reader.feed((FRAME_BYTES + 1).to_bytes(4, "big"))
    with pytest.raises(ProtocolError):
        reader.next()


def test_what_is_longer_than_a_frame_is_not_sent() -> None:
    with pytest.raises(ValueError, match="more than"):
        frame_of({"a": "x" * FRAME_BYTES})


@given(objects)
def test_the_guest_reads_what_the_host_writes_and_the_other_way_round(frame: dict[str, Any]) -> None:
    import os

    from wieldy.sandbox.inside.guest.channel import Channel

    content = frame_of(frame)
    if len(content) > 30_000:  # what surely fits into a pipe
        return
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        received = Channel(reading).receive()
        Channel(writing).send(received)
        reader = FrameReader()
        reader.feed(os.read(reading, 1 << 20))
        assert json.dumps(reader.next(), sort_keys=True) == json.dumps(frame, sort_keys=True)
    finally:
        os.close(reading)
        os.close(writing)
