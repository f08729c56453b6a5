"""What counts as a right answer from memory, by both rules, and what the memories are given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bfcl_memory_examples import memory_package, tasks_of
from hypothesis import given
from hypothesis import strategies as st

from wieldy.evals.bfcl.conversations.ranking import BM25Plus
from wieldy.evals.bfcl.conversations.worlds import MOST_CHARACTERS
from wieldy.evals.bfcl.memory import official, strict

RIGHT = (
    ("Michael", ["Michael"]),
    ("No, it's Michael.", ["Michael"]),
    ("Your name is Michael, not Bob.", ["Michael"]),
    ("You didn't tell me before, but it is Michael", ["Michael"]),
    ("Tony's", ["Tony"]),
    ("{'answer': 'Michael', 'context': 'You said: not Bob'}", ["Michael"]),
    ('```json\n{"answer": "Michael", "context": "You said so."}\n```', ["Michael"]),
    ("{'answer': Michael, 'context': he said so}", ["Michael"]),
    ("answer: Michael, context: it's known", ["Michael"]),
    ('{"answer": 35, "context": ""}', ["35"]),
    ('{"answer": ["adaptability", "discipline"], "context": ""}', ["Adaptability, Discipline"]),
    ("35", ["35", "thirty five"]),
    ("35 or thirty-five", ["35", "thirty five"]),
    ("thirty-five (35)", ["35"]),
    ("1,237", ["1237"]),
    ("$49.99", ["49.99"]),
    ("49.990", ["49.99"]),
    ("5:30 AM", ["05:30 AM"]),
    ("05:30AM", ["05:30 AM"]),
    ("1-20", ["1-20"]),
    ("Metformin 1000mg", ["Metformin 1000 mg"]),
    ("one hundred and thirty five", ["One hundred and thirty five"]),
    ("coffee_creations_1237", ["coffee_creations_1237"]),
)
WRONG = (
    ("not Michael", ["Michael"], "denied"),
    ("It isn't Michael", ["Michael"], "denied"),
    ("Michael is not the name", ["Michael"], "denied"),
    ("Michael is wrong", ["Michael"], "denied"),
    ("anyone rather than Michael", ["Michael"], "denied"),
    ("Michael or Bob", ["Michael"], "hedged"),
    ("Bob or Michael", ["Michael"], "hedged"),
    ("a notebook or the app", ["notebook"], "hedged"),
    ("either Michael, Bob, whoever", ["Michael"], "hedged"),
    ("{'answer': 'I do not know', 'context': 'Michael?'}", ["Michael"], "not-known"),
    ("I'm not sure; Michael", ["Michael"], "not-known"),
    ("{'answer': 'Bob', 'context': 'Michael'}", ["Michael"], "only-explained"),
    ("Michaelson", ["Michael"], "wrong-answer"),
    ("138", ["38"], "wrong-answer"),
    ("38.5", ["38"], "wrong-answer"),
    ("3.8", ["38"], "wrong-answer"),
    ("-5", ["5"], "wrong-answer"),
    ("10:30", ["10"], "wrong-answer"),
    ("6-7", ["7"], "wrong-answer"),
    ("thirty-five", ["five"], "wrong-answer"),
    ("one hundred and five", ["five"], "wrong-answer"),
    ("three hundred", ["three"], "wrong-answer"),
    ("seven hundred and five", ["seven hundred"], "wrong-answer"),
    ("35th", ["35"], "wrong-answer"),
    ("", ["Michael"], "wrong-answer"),
)


@pytest.mark.parametrize(("reply", "listed"), RIGHT)
def test_a_right_answer_is_one_however_it_is_written(reply: str, listed: list[str]) -> None:
    assert strict.check(reply, listed) is None


@pytest.mark.parametrize(("reply", "listed", "code"), WRONG)
def test_what_is_no_right_answer_says_why(reply: str, listed: list[str], code: str) -> None:
    reason = strict.check(reply, listed)
    assert reason is not None
    assert reason.partition(":")[0] == code


@pytest.mark.parametrize(
    ("reply", "listed", "error"),
    [
        ("It is Michael.", ["Bob", "michael"], None),
        ("not Michael", ["Michael"], None),
        ("{'answer': 'Bob', 'context': 'Michael'}", ["Michael"], None),
        ("3.8", ["38"], None),
        ("coffee creations", ["coffee_creations"], official.NOT_FOUND),
        ("Michaelson", ["Michael"], official.NOT_FOUND),
        ("", ["Michael"], official.NO_ANSWER),
    ],
)
def test_the_official_rule_is_kept_with_its_defects(reply: str, listed: list[str], error: str | None) -> None:
    assert official.check(reply, listed) == error


WORDS = st.lists(st.sampled_from(["ann", "lawn", "35", "1.8", "beach", "town", "ten", "x1"]), min_size=1, max_size=3)


@given(WORDS, st.text(max_size=20))
def test_what_is_given_as_the_answer_is_found_whatever_is_said_besides(words: list[str], besides: str) -> None:
    answer = " ".join(words)
    assert strict.check(repr({"answer": answer, "context": besides}), [answer]) is None


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_can_be_judged(reply: str, listed: list[str]) -> None:
    assert strict.check(reply, listed) != ""
    assert official.check(reply, listed) in (None, official.NOT_FOUND, official.NO_ANSWER)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1), min_size=1), st.lists(st.sampled_from("abcd")))
def test_a_text_without_any_word_of_the_query_scores_no_more_than_one_with_them(
    corpus: list[list[str]], query: list[str]
) -> None:
    scores = BM25Plus(corpus).get_scores(query)
    with_words = [score for score, words in zip(scores, corpus, strict=True) if set(words) & set(query)]
    without = [score for score, words in zip(scores, corpus, strict=True) if not set(words) & set(query)]
    assert not with_words or not without or min(with_words) >= max(without)


def test_memories_search_their_keys_and_open_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = tasks_of(memory_package(tmp_path, monkeypatch), "memory_kv")[0].scenario
    world = scenario.world({})
    for key in ("my_name", "my_age"):
        world.call("archival_memory_add", (), {"key": key, "value": "?"})
    found = json.loads(world.call("archival_memory_key_search", (), {"query": "age"}).text)
    assert [key for _, key in found["ranked"]] == ["my_age", "my_name"]
    assert scenario.kept(world) == {"core_memory": {}, "archival_memory": {"my_name": "?", "my_age": "?"}}
    with pytest.raises(NameError):
        world.services["MemoryAPI_kv"]._flush_memory_to_local_file()


def test_a_memory_does_not_grow_without_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = tasks_of(memory_package(tmp_path, monkeypatch), "memory_rec_sum")[0].scenario.world({})
    world.call("memory_append", (), {"text": "a" * 2_000})
    large = world.call("memory_replace", (), {"old_text": "a", "new_text": "b" * 2_000})
    assert large.is_error
    assert "too large" in large.text
    assert not world.call("memory_replace", (), {"old_text": "a", "new_text": "bb"}).is_error
    assert len(world.services["MemoryAPI_rec_sum"].memory) == 4_000 < MOST_CHARACTERS
