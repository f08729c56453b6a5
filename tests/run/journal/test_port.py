"""All journals keep what they are given, in order, and refuse what they cannot keep."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from wieldy.core.errors import JournalConflictError, JournalError
from wieldy.core.json import JsonObject
from wieldy.core.ports import Draft, Journal
from wieldy.run.journal import verify

OpenWith = Callable[[Callable[[], float]], AbstractContextManager[Journal]]


def test_entries_are_numbered_within_their_run_and_read_in_order(journal: Journal) -> None:
    for run_id, kind in [("r1", "a"), ("r2", "a"), ("r1", "b")]:
        journal.append(run_id, Draft(kind, {"of": run_id}))
    entries = journal.read("r1")
    assert [(entry.run_id, entry.sequence, entry.kind, entry.time, entry.data) for entry in entries] == [
        ("r1", 0, "a", 7.5, {"of": "r1"}),
        ("r1", 1, "b", 7.5, {"of": "r1"}),
    ]
    assert list(journal.run_ids()) == ["r2", "r1"]
    assert list(journal.read("r3")) == []


def test_several_drafts_become_entries_in_their_order_and_are_read_from_where_one_likes(journal: Journal) -> None:
    first = journal.append("r", Draft("a", {}), Draft("b", {}), Draft("c", {}))
    second = journal.append("r", Draft("d", {}), is_intent=True)
    everything = [*first, *second]
    assert [entry.sequence for entry in everything] == [0, 1, 2, 3]
    for start in (*range(6), 2**70):
        assert list(journal.read("r", start=start)) == everything[start:]
    assert list(journal.read("r", start=-1)) == everything


def test_no_drafts_are_no_entries(journal: Journal) -> None:
    assert list(journal.append("r")) == []
    assert list(journal.read("r")) == []
    assert list(journal.run_ids()) == []
    assert journal.head() is None


def test_the_head_is_the_digest_of_the_newest_entry_of_all_runs(journal: Journal) -> None:
    for run_id in ("r1", "r2", "r1"):
        [entry] = journal.append(run_id, Draft("k", {}))
        assert journal.head() == entry.digest


def test_a_writer_who_knows_another_length_is_refused_and_nothing_is_written(journal: Journal) -> None:
    journal.append("r", Draft("k", {}), length=0)
    for length in (0, 2, -1):
        with pytest.raises(JournalConflictError, match=f"has 1 entries, expected {length}"):
            journal.append("r", Draft("k", {}), Draft("k", {}), length=length)
    journal.append("r", Draft("k", {}), length=1)
    with pytest.raises(JournalConflictError, match="has 0 entries, expected 3"):
        journal.append("other", Draft("k", {}), length=3)
    assert [entry.sequence for entry in journal.read("r")] == [0, 1]
    assert list(journal.run_ids()) == ["r"]


def test_data_are_given_back_as_they_were(journal: Journal) -> None:
    data: JsonObject = {
        "big": 2**80,
        "text": "naïve \x00 🙂",
        "none": None,
        "deep": [[{"": -0.5}]],
        "long": "x" * 100_000,
    }
    [appended] = journal.append("r", Draft("k", data))
    assert appended.data == data
    assert list(journal.read("r")) == [appended]


def test_half_a_surrogate_pair_and_a_number_that_is_none_are_replaced_and_nothing_fails(journal: Journal) -> None:
    [entry] = journal.append("r", Draft("k", {"a\udc80": "\ud800x", "pair": "\ud83d\ude42", "no": float("nan")}))
    assert entry.data == {"a\ufffd": "\ufffdx", "pair": "🙂", "no": None}
    assert list(journal.read("r")) == [entry]
    verify(journal.read("r"))


def test_keys_that_only_python_tells_apart_leave_an_entry_that_is_whole(journal: Journal) -> None:
    [entry] = journal.append("r", Draft("k", {1: "a", "1": "b"}))  # type: ignore[dict-item]
    assert entry.data == {"1": "b"}
    verify(journal.read("r"))


DEEP: list[object] = []
for _ in range(100_000):
    DEEP = [DEEP]


def test_data_that_are_no_object_are_refused_and_nothing_is_written(journal: Journal) -> None:
    with pytest.raises(JournalError, match="not JSON"):
        journal.append("r", Draft("k", [1]))  # type: ignore[arg-type]
    assert list(journal.read("r")) == []


@pytest.mark.parametrize("value", [object(), DEEP, 10**5000], ids=["an object", "too deep", "too many digits"])
def test_data_that_is_not_json_is_refused_and_nothing_is_written(journal: Journal, value: object) -> None:
    with pytest.raises(JournalError, match="not JSON"):
        journal.append("r", Draft("k", {}), Draft("k", {"a": value}))  # type: ignore[dict-item]
    assert list(journal.read("r")) == []


@pytest.mark.parametrize("name", ["a\0b", "\udcff"])
def test_a_name_that_is_no_text_is_refused_for_writing_and_has_no_run(journal: Journal, name: str) -> None:
    with pytest.raises(JournalError, match="text without NUL"):
        journal.append(name, Draft("k", {}))
    with pytest.raises(JournalError, match="text without NUL"):
        journal.append("r", Draft(name, {}))
    with pytest.raises(JournalError, match="text without NUL"):
        journal.lease(name)
    assert list(journal.read(name)) == []
    assert list(journal.read("r")) == []
    assert journal.holder(name) is None


@pytest.mark.parametrize("name", ["", " ", "'; DROP TABLE entries; --", "%s", "🙂", "a" * 2000])
def test_a_name_may_be_any_other_text(journal: Journal, name: str) -> None:
    [entry] = journal.append(name, Draft(name, {}))
    assert list(journal.read(name)) == [entry]
    assert list(journal.run_ids()) == [name]
    with_lease = journal.lease(name)
    assert journal.holder(name) is not None
    with_lease.release()


def test_data_that_is_changed_afterwards_does_not_change_the_entry(journal: Journal) -> None:
    data: JsonObject = {"items": [1]}
    [entry] = journal.append("r", Draft("k", data))
    data["items"] = "changed"
    entry.data["items"] = "changed"
    assert journal.read("r")[0].data == {"items": [1]}


def test_threads_append_to_one_run_without_losing_an_entry(journal: Journal) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: journal.append("r", Draft("k", {"number": number})), range(200)))
    entries = journal.read("r")
    assert [entry.sequence for entry in entries] == list(range(200))
    assert {entry.data["number"] for entry in entries} == set(range(200))
    verify(entries)


def test_a_run_is_written_on_after_very_many_others(journal: Journal, new_run: Callable[[], str]) -> None:
    from wieldy.run.journal.heads import MOST_RUNS

    runs = ["first", *(new_run() for _ in range(MOST_RUNS + 1)), "first"]
    for run_id in runs:
        journal.append(run_id, Draft("k", {}))
    assert [entry.sequence for entry in journal.read("first")] == [0, 1]
    verify(journal.read("first"))


@pytest.mark.parametrize("time", [0, -0.0, 7, -1.5, 1e308, float("inf")])
def test_an_entry_keeps_the_time_that_a_clock_gives(open_with: OpenWith, time: float) -> None:
    with open_with(lambda: time) as journal:
        [entry] = journal.append("r", Draft("k", {}))
        assert entry.time == time
        assert list(journal.read("r")) == [entry]
        verify(journal.read("r"))
        lease = journal.lease("r")
        assert journal.holder("r") is not None
        lease.release()


def test_a_clock_that_gives_no_number_is_refused(open_with: OpenWith) -> None:
    with open_with(lambda: float("nan")) as journal:
        with pytest.raises(JournalError, match="clock gave what is no number"):
            journal.append("r", Draft("k", {}))
        assert list(journal.read("r")) == []
