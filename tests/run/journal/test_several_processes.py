"""Processes that write at once."""

from collections.abc import Callable
from typing import Any

from wieldy.core.ports import Draft
from wieldy.run.journal import open_journal, verify, verify_all

WRITER = """
import json, sys
from wieldy.core.ports import Draft
from wieldy.run.journal import open_journal
journal = open_journal(sys.argv[1])
print("0", flush=True)
for line in sys.stdin:
    name, count = line.split()
    for number in range(int(count)):
        drafts = [Draft("k", {"by": name, "number": number, "part": part}) for part in range(1 + number % 3)]
        journal.append("shared", *drafts)
        journal.append(name, *drafts, length=len(journal.read(name)))
    print("1", flush=True)
"""


def test_processes_that_append_at_once_keep_every_chain_whole(stored: str, start: Callable[..., Any]) -> None:
    writers, each = [start(WRITER, stored) for _ in range(3)], 40
    for writer in writers:
        writer.answer()
    for name, writer in enumerate(writers):
        writer.tell(f"writer-{name} {each}")
    assert [writer.answer() for writer in writers] == [1, 1, 1]

    with open_journal(stored) as journal:
        entries = journal.read("shared")
        verify(entries)
        for name in range(3):
            written = [
                (entry.data["number"], entry.data["part"]) for entry in entries if entry.data["by"] == f"writer-{name}"
            ]
            assert written == [(number, part) for number in range(each) for part in range(1 + number % 3)]
            places = [entry.sequence for entry in entries if entry.data["by"] == f"writer-{name}"]
            # What was appended together stands together.
            assert all(
                place - entries[place].data["part"] == places[index - entries[place].data["part"]]  # type: ignore[operator]
                for index, place in enumerate(places)
            )
        assert verify_all([journal.read(run_id) for run_id in journal.run_ids()]) == []
        journal.append("shared", Draft("k", {}), length=len(entries))
