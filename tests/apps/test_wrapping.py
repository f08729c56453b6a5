from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from wieldy.apps.cli.wrapping import WordWrap

texts = st.text("ab c\nd日本\t", max_size=120)
cuts = st.lists(st.integers(0, 120), max_size=6)


def wrapped(text: str, *, at: list[int], width: int | None) -> str:
    edges = [0, *sorted(min(cut, len(text)) for cut in at), len(text)]
    wrap = WordWrap(width)
    return "".join([wrap.feed(text[start:end]) for start, end in pairwise(edges)]) + wrap.close()


@example("aaaaaaaa\n \ta", [10], 5)
@given(texts, cuts, st.integers(5, 40))
def test_the_result_does_not_depend_on_where_the_text_was_cut(text: str, at: list[int], width: int) -> None:
    assert wrapped(text, at=at, width=width) == wrapped(text, at=[], width=width)


@given(texts, cuts, st.integers(5, 40))
def test_only_blanks_change(text: str, at: list[int], width: int) -> None:
    assert "".join(wrapped(text, at=at, width=width).split()) == "".join(text.split())
    assert wrapped(text, at=at, width=None) == text


@given(texts, cuts, st.integers(5, 40))
def test_a_line_is_longer_than_the_terminal_only_if_it_is_one_word(text: str, at: list[int], width: int) -> None:
    for line in wrapped(text, at=at, width=width).split("\n"):
        assert cell_len(line) <= width or " " not in line.strip()


def test_words_stay_whole_and_indents_stay() -> None:
    assert wrapped("one two three\n    four", at=[], width=9) == "one two\nthree\n    four"
    assert wrapped("日本語日本語", at=[], width=6) == "日本語\n日本語"


def test_a_word_is_held_back_only_until_it_ends() -> None:
    wrap = WordWrap(20)

    assert wrap.feed("Hello wor") == "Hello"
    assert wrap.feed("ld ") == " world"
