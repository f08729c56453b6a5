"""Whatever is done to entries afterwards, the chain of digests tells."""

import hashlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import JournalTamperedError
from wieldy.core.json import JsonObject
from wieldy.core.ports import Draft, Entry
from wieldy.run.journal import MemoryJournal, verify, verify_all
from wieldy.run.journal.chain import link

names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)
bodies = st.dictionaries(
    st.text(max_size=4), st.none() | st.booleans() | st.integers() | st.text(max_size=4), max_size=3
)


@st.composite
def runs(draw: st.DrawFn) -> list[Entry]:
    """A run of at least two entries that differ in more than their place."""
    journal = MemoryJournal(clock=iter(range(100)).__next__)
    run_id = draw(names)
    for kind, data in draw(st.lists(st.tuples(names, bodies), min_size=2, max_size=6)):
        journal.append(run_id, Draft(kind, data))
    return list(journal.read(run_id))


def changed(entry: Entry, field: str, draw: st.DrawFn) -> Entry:
    old = getattr(entry, field)
    new: st.SearchStrategy[Any] = {
        "run_id": names,
        "sequence": st.integers(-2, 10),
        "kind": names,
        "time": st.floats(allow_nan=True),
        "data": bodies,
        "digest": st.binary(min_size=32, max_size=32).map(bytes.hex),
    }[field]
    # 0 and False are equal to Python, and are not to a reader of JSON.
    return entry._replace(**{field: draw(new.filter(lambda value: repr(value) != repr(old)))})


@given(entries=runs(), field=st.sampled_from(Entry._fields), data=st.data())
def test_a_changed_field_of_any_entry_is_found(entries: list[Entry], field: str, data: st.DataObject) -> None:
    verify(entries)
    place = data.draw(st.integers(0, len(entries) - 1))
    entries[place] = data.draw(st.composite(lambda draw: changed(entries[place], field, draw))())
    with pytest.raises(JournalTamperedError):
        verify(entries)


@given(entries=runs(), data=st.data())
def test_an_entry_that_is_missing_is_found_unless_it_was_the_last(entries: list[Entry], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(entries) - 2))
    del entries[place]
    with pytest.raises(JournalTamperedError, match=f"entry {place} is missing"):
        verify(entries)


@given(entries=runs(), is_renumbered=st.booleans(), data=st.data())
def test_entries_in_another_order_are_found(entries: list[Entry], is_renumbered: bool, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(entries))).filter(lambda order: order != sorted(order)))
    shuffled = [entries[place] for place in order]
    if is_renumbered:
        shuffled = [entry._replace(sequence=place) for place, entry in enumerate(shuffled)]
    with pytest.raises(JournalTamperedError):
        verify(shuffled)


@given(entries=runs(), data=st.data())
def test_an_entry_that_was_put_in_is_found(entries: list[Entry], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(entries) - 1))
    copied = entries[data.draw(st.integers(0, len(entries) - 1))]
    later = [entry._replace(sequence=entry.sequence + 1) for entry in entries[place:]]
    with pytest.raises(JournalTamperedError):
        verify([*entries[:place], copied._replace(sequence=place), *later])


def test_two_entries_that_read_alike_put_together_have_different_digests() -> None:
    once = link(bytes(32), "ab", 0, "c", 1.0, b"{}")
    assert once != link(bytes(32), "a", 0, "bc", 1.0, b"{}")
    assert once != link(bytes(32), "ab", 0, "c{}", 1.0, b"")


def test_a_digest_is_what_another_program_would_compute() -> None:
    [entry] = MemoryJournal(clock=lambda: 7.5).append("run", Draft("kind", {"a": 1}))
    framed = bytes(32) + struct.pack(">Qd3Q", 0, 7.5, 3, 4, 7) + b"run" + b"kind" + b'{"a":1}'
    assert entry.digest == hashlib.sha256(framed).hexdigest()


def test_what_is_wrong_is_told_so_that_it_can_be_looked_up() -> None:
    journal = MemoryJournal()
    journal.append("r", Draft("call_finished", {"paid": 10}), Draft("run_finished", {}))
    first, last = journal.read("r")
    with pytest.raises(JournalTamperedError, match=r"Run r was tampered with: entry 0 \(call_finished\) was changed"):
        verify([first._replace(data={"paid": 1}), last])
    with pytest.raises(JournalTamperedError, match="entry 0 is missing; the next one there is 1"):
        verify([last])
    with pytest.raises(JournalTamperedError, match="entry 1 says that it is of run s"):
        verify([first, last._replace(run_id="s")])


def test_nothing_is_wrong_with_no_entries() -> None:
    verify([])
    assert verify_all([]) == []


# Several runs


def three_runs() -> MemoryJournal:
    """Runs one after the other, the second begun while the first was under way."""
    journal = MemoryJournal()

    def begin(run_id: str) -> None:
        head: JsonObject = {"journal_head": journal.head()}
        journal.append(run_id, Draft("run_started", head), Draft("turn_started", {}))

    begin("r1")
    begin("r2")
    journal.append("r1", Draft("run_finished", {}))
    begin("r3")
    journal.append("r2", Draft("run_finished", {}))
    return journal


def everything(journal: MemoryJournal) -> dict[str, list[Entry]]:
    return {run_id: list(journal.read(run_id)) for run_id in journal.run_ids()}


def test_a_journal_that_is_whole_has_no_findings() -> None:
    journal = three_runs()
    assert verify_all(everything(journal).values(), head=journal.head()) == []


@pytest.mark.parametrize(("run_id", "tells"), [("r1", "r2"), ("r1", "r3")])
def test_a_run_that_was_removed_is_found_by_those_that_began_after_it(run_id: str, tells: str) -> None:
    runs = everything(three_runs())
    del runs[run_id]
    findings = verify_all(runs.values())
    assert tells in [finding.run_id for finding in findings]
    assert all("is missing" in finding.message for finding in findings)


def test_an_end_that_was_cut_off_is_found_if_a_later_run_names_it() -> None:
    runs = everything(three_runs())
    runs["r1"].pop()
    verify(runs["r1"])
    [finding] = verify_all(runs.values())
    assert finding.run_id == "r3"
    assert "when run r3 began" in finding.message


def test_what_no_later_run_names_is_found_by_a_head_that_was_kept_elsewhere() -> None:
    journal = three_runs()
    runs = everything(journal)
    runs["r2"].pop()
    assert verify_all(runs.values()) == []
    [finding] = verify_all(runs.values(), head=journal.head())
    assert finding.run_id is None
    assert "when its head was noted" in finding.message


def test_each_run_that_was_changed_is_named() -> None:
    runs = everything(three_runs())
    for run_id in ("r1", "r3"):
        runs[run_id][1] = runs[run_id][1]._replace(kind="forged")
    assert {finding.run_id for finding in verify_all(runs.values())} == {"r1", "r3"}


def test_a_head_that_is_no_text_names_nothing() -> None:
    journal = MemoryJournal()
    journal.append("r", Draft("run_started", {"journal_head": 5}))
    assert verify_all([journal.read("r")]) == []
