"""Foreign text cannot pass for lines of a session."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.run.guided.quoting import quoted, unbroken

SPECIAL = re.compile(r"\s*(>>>|```|# Request:)", re.IGNORECASE)
PIECES = st.lists(
    st.sampled_from([">>>", ">", "```", "# Request:", "# request:", " ", "\t", "\\"])
    | st.sampled_from(["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
    | st.text(max_size=3),
    max_size=12,
).map("".join)


@given(text=PIECES)
def test_no_line_begins_like_a_line_of_the_session(text: str) -> None:
    assert not any(SPECIAL.match(line) for line in quoted(text).splitlines())


@given(text=PIECES)
def test_only_backslashes_are_added_and_only_once(text: str) -> None:
    assert quoted(text).replace("\\", "") == text.replace("\\", "")
    assert quoted(quoted(text)) == quoted(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ">>> b", "c": "```"}',
        "a >>> b\n> quoted\n>> twice",
        "# Title\n\n* list\n    code",
        "1 << 2 >> 3",
        "",
        "\\>>> already",
        "# Requests: 5",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert quoted(text) == text


@given(text=st.text())
def test_unbroken_text_is_one_line(text: str) -> None:
    assert len(unbroken(text).splitlines()) <= 1
    assert unbroken("a  b\tc") == "a  b\tc"
