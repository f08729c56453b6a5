"""Ids and names of calls on the wire."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.models.identifiers import ANY_ID, SHORT_ID, unique_id, wire_ids, wire_name
from wieldy.core.calls import ToolCall
from wieldy.core.messages import Message

IDS = st.none() | st.text(max_size=3) | st.sampled_from(["call_1", "call_2", "call_3", "x" * 50])


@given(provider_ids=st.lists(IDS, max_size=8), pattern=st.sampled_from([ANY_ID, SHORT_ID]))
def test_no_two_calls_are_sent_under_one_id_and_every_id_fits(provider_ids, pattern):
    calls = [
        ToolCall(id=f"c{number}", name="f", arguments={}, provider_id=provider_id)
        for number, provider_id in enumerate(provider_ids)
    ]
    ids = wire_ids([Message.assistant(calls=calls[:3]), Message.assistant(calls=calls[3:])], pattern=pattern)
    assert set(ids) == {call.id for call in calls}
    assert len(set(ids.values())) == len(calls)
    assert all(pattern.fullmatch(wire_id) for wire_id in ids.values())


def test_a_providers_own_id_is_sent_back_and_one_that_comes_twice_only_once():
    calls = [ToolCall(id=f"c{number}", name="f", arguments={}, provider_id="p") for number in range(2)]
    assert wire_ids([Message.assistant(calls=calls)], pattern=ANY_ID) == {"c0": "p", "c1": "c1"}


@given(wanted=IDS, taken=st.sets(st.text(max_size=3) | st.sampled_from(["call_1", "call_2", "a_3"])))
def test_a_unique_id_is_not_taken(wanted, taken):
    assert unique_id(wanted, taken) not in taken
    assert unique_id(wanted, taken)


@given(name=st.none() | st.text())
def test_every_name_becomes_one_that_providers_take(name):
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", wire_name(name))


@pytest.mark.parametrize("name", ["get_weather", "a-b", "X" * 64])
def test_a_good_name_is_unchanged(name):
    assert wire_name(name) == name
