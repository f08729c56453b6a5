"""Ids of calls on the wire."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import ToolCall
from wieldy.formats.turns.wire_ids import as_given, counted, function_index, nine_characters, ten_characters


def call(provider_id: str | None, name: str = "look") -> ToolCall:
    return ToolCall(id="ours", name=name, arguments={}, provider_id=provider_id)


def test_the_provider_s_id_is_kept_and_ours_stands_in() -> None:
    assert as_given(call("theirs"), 3) == "theirs"
    assert as_given(call(None), 3) == "ours"


@given(st.text())
def test_mistral_s_ids_are_nine_letters_and_digits_and_stay_the_same(provider_id: str) -> None:
    wire_id = nine_characters(call(provider_id), 0)
    assert re.fullmatch("[A-Za-z0-9]{9}", wire_id)
    assert wire_id == nine_characters(call(wire_id), 5) == nine_characters(call(provider_id), 7)


@given(st.text())
def test_solar_s_ids_are_ten_small_letters_and_digits_and_stay_the_same(provider_id: str) -> None:
    wire_id = ten_characters(call(provider_id), 0)
    assert re.fullmatch("[a-z0-9]{10}", wire_id)
    assert wire_id == ten_characters(call(wire_id), 5) == ten_characters(call(provider_id), 7)


@given(st.text(), st.integers(min_value=0, max_value=99))
def test_cohere_s_ids_are_small_numbers(provider_id: str, index: int) -> None:
    assert re.fullmatch("[0-9]{1,9}", counted(call(provider_id), index))
    assert counted(call("7"), index) == "7"


def test_kimi_s_ids_name_the_tool_and_count_through_the_conversation() -> None:
    assert function_index(call(None), 4) == "functions.look:4"
    assert function_index(call("functions.look:2"), 4) == "functions.look:2"
    assert function_index(call("functions.other:2"), 4) == "functions.look:4"
    assert function_index(call("call_abc"), 4) == "functions.look:4"
