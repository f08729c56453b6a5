"""What a model is shown of a long text is its beginning and its end, and how the rest can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.run.results import with_note
from wieldy.run.results.caps import cut

LIMIT = 512


@given(st.text(max_size=20), st.sampled_from(["x", "é", "漢", "🙂", "x漢\n"]), st.integers(0, 3 * LIMIT))
def test_a_text_is_whole_or_has_its_beginning_and_its_end(start: str, filling: str, count: int) -> None:
    text = start + filling * count + start
    found = cut(text, limit_bytes=LIMIT)
    if len(text.encode()) <= LIMIT:
        assert found is None
        return
    assert found is not None
    assert text == found.head + text[found.start : found.end] + found.tail
    assert found.length == len(text)
    shown = len((found.head + found.tail).encode())
    assert LIMIT - 6 <= shown <= LIMIT


def test_the_sentence_says_where_the_rest_is_and_how_to_get_it() -> None:
    found = cut("a" * 1000, limit_bytes=512)
    assert found is not None
    assert found.sentence("call_7") == (
        "[Characters 384 to 872 of 1000 are left out here. "
        'To read them, call `read_result` with handle "call_7" and offset 384.]'
    )


@pytest.mark.parametrize("text", ["a" * 512, "é" * 256, "", "漢" * 170])
def test_a_text_that_just_fits_is_whole(text: str) -> None:
    assert cut(text, limit_bytes=512) is None
    assert cut(f"{text}aaa", limit_bytes=max(1, len(text.encode()) + 2)) is not None


def test_a_note_stands_below_the_content_and_alone_where_there_is_none() -> None:
    assert with_note("content", "Note.") == "content\n\n[Note.]"
    assert with_note("", "Note.") == "[Note.]"
