"""What must hold of every journal, whatever is written to it."""

import itertools
import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import JournalConflictError
from wieldy.core.ports import Draft, Entry, Journal
from wieldy.run.journal import verify, verify_all

Pair = tuple[Journal, Journal]

_numbers = itertools.count()

names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=10,
)
drafts = st.builds(Draft, names, st.dictionaries(st.text(), json_values, max_size=3))
batches = st.lists(st.lists(drafts, max_size=4), max_size=6)


def new_run() -> str:
    return f"law-{next(_numbers)}"


@settings(max_examples=60)
@given(batches=batches)
def test_what_append_returns_is_what_read_gives_and_the_chain_is_whole(pair: Pair, batches: list[list[Draft]]) -> None:
    one, other = pair
    run_id, appended = new_run(), list[Entry]()
    for journal, batch in zip(itertools.cycle(pair), batches, strict=False):
        appended += journal.append(run_id, *batch)
    assert list(one.read(run_id)) == appended == list(other.read(run_id))
    assert [(entry.kind, entry.data) for entry in appended] == [tuple(draft) for batch in batches for draft in batch]
    assert [entry.sequence for entry in appended] == list(range(len(appended)))
    for start in range(len(appended) + 1):
        assert list(other.read(run_id, start=start)) == appended[start:]
    verify(other.read(run_id))
    if appended:
        assert one.head() == other.head() == appended[-1].digest


@settings(max_examples=60)
@given(tries=st.lists(st.tuples(st.booleans(), st.integers(-1, 2), st.integers(1, 3)), max_size=12))
def test_an_append_is_admitted_exactly_if_its_writer_knows_the_length(
    pair: Pair, tries: list[tuple[bool, int, int]]
) -> None:
    run_id, length = new_run(), 0
    for is_other, off_by, count in tries:
        batch = [Draft("k", {"of": length})] * count
        try:
            pair[is_other].append(run_id, *batch, length=length + off_by)
        except JournalConflictError:
            assert off_by != 0
        else:
            assert off_by == 0
            length += count
        assert [entry.sequence for entry in pair[not is_other].read(run_id)] == list(range(length))
    verify(pair[0].read(run_id))


def test_of_two_writers_who_know_the_same_length_exactly_one_is_admitted(pair: Pair) -> None:
    run_id = new_run()
    barrier = threading.Barrier(2, timeout=30)
    admitted: list[list[int]] = [[], []]

    def write(number: int) -> None:
        for length in range(40):
            barrier.wait()
            try:
                pair[number].append(run_id, Draft("k", {"by": number}), length=length)
            except JournalConflictError:
                continue
            admitted[number].append(length)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(admitted[0] + admitted[1]) == list(range(40))
    entries = pair[0].read(run_id)
    assert [entry.data["by"] for entry in entries] == [int(length in admitted[1]) for length in range(40)]
    verify(entries)


def test_a_whole_journal_has_no_findings(pair: Pair) -> None:
    journal = pair[0]
    assert verify_all((journal.read(run_id) for run_id in journal.run_ids()), head=journal.head()) == []
