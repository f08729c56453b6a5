"""What a model reads of a result is never more than it can use, and says so."""

from hypothesis import given
from hypothesis import strategies as st

from wieldy.run.results.caps import CONTENT_LIMIT_BYTES, show, with_note


@given(st.text(max_size=20), st.sampled_from(["x", "é", "漢", "🙂", "x漢\n"]), st.integers(0, 3 * CONTENT_LIMIT_BYTES))
def test_content_is_whole_or_capped_with_its_beginning_and_end(start: str, filling: str, count: int) -> None:
    content = start + filling * count + start
    size = len(content.encode())
    shown = show(content)
    if size <= CONTENT_LIMIT_BYTES:
        assert (shown.content, shown.whole) == (content, None)
        return
    assert shown.whole == content
    assert len(shown.content.encode()) <= CONTENT_LIMIT_BYTES + 250
    head, sentence, tail = shown.content.rsplit("\n[", 1)[0], shown.content.rsplit("\n[", 1)[1], ""
    sentence, tail = sentence.split("]\n", 1)
    assert content.startswith(head)
    assert content.endswith(tail)
    assert f"of {size} bytes are left out" in sentence
    assert len(head.encode()) >= CONTENT_LIMIT_BYTES * 3 // 4 - 3
    assert len(tail.encode()) >= CONTENT_LIMIT_BYTES // 4 - 3


def test_a_note_stands_below_the_content_and_alone_where_there_is_none() -> None:
    assert with_note("content", "Note.") == "content\n\n[Note.]"
    assert with_note("", "Note.") == "[Note.]"
