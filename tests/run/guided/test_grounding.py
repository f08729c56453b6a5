"""Whether arguments were taken from the conversation or made up."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.run.guided import Written
from wieldy.run.guided.grounding import UNSURE, choices_of, confidence, invented
from wieldy.testing import spelled

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def doubtful(text: str) -> tuple[Written, ...]:
    """The text as a model writes it that is sure of nothing."""
    return spelled(text, logprob=UNSURE - 1)


def made_up(arguments: object, conversation: str) -> set[str]:
    text = json.dumps(arguments, ensure_ascii=False)
    return set(invented(text, doubtful(text), conversation=conversation))


def test_numbers_and_names_that_stand_nowhere_are_invented() -> None:
    conversation = "How much warmer is it in Paris than in Oslo? It is 18 degrees in Oslo."
    assert made_up({"expression": "25 - 18.5"}, conversation) == {"25", "18.5"}
    assert made_up({"city": "Rome", "days": 7}, conversation) == {"Rome", "7"}
    assert made_up({"city": "Paris", "degrees": 18, "note": "warmer"}, conversation) == set()


def test_what_the_model_is_sure_of_is_knowledge_not_invention() -> None:
    text = '{"expression": "20 * 3.2808"}'
    knows = spelled(text, unsure={"20": -5.0})
    assert invented(text, knows, conversation="How many feet are 20 metres?") == ()
    assert invented(text, knows, conversation="How many feet is the tower?") == ("20",)


@pytest.mark.parametrize("number", ["15", "0.15", "85", "0.85", "1.15", "15.0"])
def test_a_percentage_may_be_written_in_every_usual_way(number: str) -> None:
    assert made_up({"expression": f"{number} * 2"}, "Take 15% off 2.") == set()


@pytest.mark.parametrize(("said", "written"), [("1,340", "1340"), ("1340", "1,340"), ("2.50", "2.5"), ("007", "7")])
def test_a_number_is_the_same_however_it_is_written(said: str, written: str) -> None:
    assert made_up({"n": written}, f"It costs {said} euros.") == set()


def test_names_count_in_any_case_and_any_script() -> None:
    assert made_up({"city": "ZÜRICH", "to": "Αθήνα"}, "from zürich to αθήνα") == set()
    assert made_up({"city": "Zürich", "to": "Αθήνα"}, "from Rome to Oslo") == {"Zürich", "Αθήνα"}


def test_keys_are_no_values_and_words_in_lower_case_are_no_names() -> None:
    assert made_up({"City7": "somewhere warm"}, "") == set()


def test_escapes_in_a_text_are_no_numbers() -> None:
    text = r'{"city": "Z\u00fcrich\u0007 \\u0041"}'
    assert set(invented(text, doubtful(text), conversation="nothing")) == {"0041"}


@given(words=st.lists(TEXT.filter(str.split), min_size=1, max_size=4), around=TEXT)
def test_what_is_copied_from_the_conversation_is_never_invented(words: list[str], around: str) -> None:
    conversation = " ".join([around, *words])
    assert made_up([part for word in words for part in word.split()], conversation) == set()
    assert made_up({"words": words}, conversation) == set()


@given(numbers=st.lists(st.integers(0, 10**12) | st.floats(0, 1e9, allow_nan=False).map(lambda x: round(x, 3))))
def test_numbers_that_a_result_holds_are_never_invented(numbers: list[float]) -> None:
    plain = [number for number in numbers if "e" not in repr(number)]
    assert made_up({"values": plain}, f"The result is {json.dumps(plain)}.") == set()


@given(
    value=st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), JSON, max_size=4),
    conversation=TEXT,
    indent=st.sampled_from([None, 1, 4]),
)
def test_order_and_spacing_of_the_json_do_not_matter(
    value: dict[str, Any], conversation: str, indent: int | None
) -> None:
    turned = dict(reversed(value.items()))
    one = json.dumps(value, ensure_ascii=False)
    other = json.dumps(turned, ensure_ascii=False, indent=indent, separators=(",", ":"))
    assert set(invented(one, doubtful(one), conversation=conversation)) == set(
        invented(other, doubtful(other), conversation=conversation)
    )


TOKENS = st.lists(st.builds(Written, text=TEXT, logprob=st.floats(max_value=0)), max_size=12)


@given(text=TEXT, tokens=TOKENS, conversation=TEXT)
def test_no_text_and_no_tokens_are_too_odd(text: str, tokens: list[Written], conversation: str) -> None:
    for found in invented(text, tokens, conversation=conversation):
        assert found in text
    assert confidence(text, tokens) <= 0.0
    assert confidence(text, []) == 0.0
    assert invented(text, [], conversation=conversation) == ()


@given(digits=st.integers(300, 6000), conversation=TEXT)
def test_numbers_without_end_are_numbers(digits: int, conversation: str) -> None:
    number = "9" * digits
    assert made_up({"n": number}, conversation) == {number}
    assert made_up({"n": number}, number) == set()


def test_confidence_is_that_of_the_values_alone() -> None:
    tokens = spelled('{"city": "Rome", "days": 7}', unsure={"city": -9.0, "days": -9.0, "Rome": -0.4, "7": -0.2})
    assert confidence('{"city": "Rome", "days": 7}', tokens) == pytest.approx(-0.3)
    assert confidence("{}", spelled("{}", logprob=-5.0)) == 0.0


def test_choices_are_what_a_schema_itself_names() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "description": "Like 99 Bottles",
        "properties": {
            "unit": {"enum": ["Celsius", "Kelvin"], "description": "one of two"},
            "days": {"type": "integer", "default": 5},
            "deep": {"anyOf": [{"const": "Never"}, {"type": "array", "items": {"enum": [1, None]}}]},
        },
        "examples": [{"days": 17}],
    }
    assert sorted(choices_of(schema)) == ["5", "Never", "['Celsius', 'Kelvin']", "[1, None]"]


@given(schema=st.dictionaries(st.sampled_from(["enum", "default", "properties", "items", "anyOf", "x"]), JSON))
def test_no_schema_is_too_odd_to_look_for_choices(schema: dict[str, Any]) -> None:
    assert all(isinstance(found, str) for found in choices_of(schema))


@given(text=TEXT)
def test_whether_a_number_stands_somewhere_does_not_depend_on_what_surrounds_it(text: str) -> None:
    around = re.sub(r"[\d.,]", "", text)
    assert made_up({"n": 42}, f"{around} 42 {around}") == set()
