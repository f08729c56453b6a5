"""Words and stems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.index.words import split, stem, terms


@pytest.mark.parametrize(
    "written", ["getHTTPStatus", "get_http_status", "Get HTTP status", "get-http.status", "GetHTTPStatus"]
)
def test_a_name_has_the_same_words_however_it_is_written(written: str) -> None:
    assert split(written) == ["get", "http", "status"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("cities", "city"), ("sending", "send"), ("orders", "order"), ("calculated", "calculate"), ("classes", "class")],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("order", "border"), ("user", "use"), ("class", "clas"), ("bus", "bu")])
def test_other_words_have_other_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@given(st.text())
def test_words_are_of_the_text_alone_and_never_fail(text: str) -> None:
    assert terms(text) == terms(text)
    assert all(terms(text))
    assert split(" ".join(split(text))) == split(text)
