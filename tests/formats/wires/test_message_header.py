"""Headers: writing and reading undo each other, and reading is lenient."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.formats import get
from wieldy.formats.wires.message_header import Header

MARKS = get("harmony").wire.marks
words = st.text("abcXYZ019_-", min_size=1, max_size=12)


@given(recipient=st.just("") | words.map("functions.".__add__), channel=words)
def test_a_written_header_is_read_as_it_was(recipient: str, channel: str) -> None:
    header = Header(role="assistant", recipient=recipient, channel=channel)

    assert MARKS.parsed(MARKS.written(header).removesuffix("<|message|>")) == header


@pytest.mark.parametrize(
    "text",
    [
        "assistant to=functions.add<|channel|>commentary json",
        "assistant<|channel|>commentary to=functions.add <|constrain|>json",
        "assistant<|channel|>commentary to=functions.add<|constrain|>json",
        "assistant to=functions.add<|channel|>commentary",
    ],
)
def test_the_recipient_may_stand_before_or_behind_the_channel(text: str) -> None:
    header = MARKS.parsed(text)

    assert (header.recipient, header.channel, header.is_in_order) == ("functions.add", "commentary", True)


def test_of_two_channels_the_last_counts_and_the_header_is_not_in_order() -> None:
    header = MARKS.parsed("assistant<|channel|>commentary to=assistant<|channel|>analysis")

    assert (header.channel, header.is_in_order) == ("analysis", False)


@given(st.text("<|>channel:to=functions.x \n", max_size=40))
def test_no_text_is_too_odd_for_a_header(text: str) -> None:
    MARKS.parsed(text)


def test_a_known_tool_may_be_called_without_its_namespace() -> None:
    header = MARKS.parsed("assistant to=add<|channel|>commentary")

    assert MARKS.called(header, ["add"]) == "add"
    assert MARKS.called(header, ["subtract"]) is None
