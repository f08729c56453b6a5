"""How soon the list of a large journal is there: CPU times of what `wieldy view` does for its page.

An argument is the number of runs; 10,000 if it is left out.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from wieldy import Agent, ToolError, tool
from wieldy.apps.view.run_list import Page, RunList, Wanted
from wieldy.core.ports import Draft
from wieldy.evals.reports.page import Redaction
from wieldy.run.journal import MemoryJournal, SqliteJournal
from wieldy.testing import ScriptedModel, call, text


@tool(effect="read")
def find(order: str) -> str:
    """Find an order."""
    if order == "0":
        raise ToolError("there is no order 0")
    return "shipped"


def fill(file: Path, runs: int) -> None:
    """So many runs of 12 entries, each with a call that fails and one that does not."""
    memory = MemoryJournal()
    turns = [[call("find", {"order": "0"})], [call("find", {"order": "1"})], [text("It was shipped.")]]
    entries = memory.read(Agent(ScriptedModel(turns), [find], journal=memory).run_sync("Where is it?").run_id)
    with SqliteJournal(file) as journal:
        for number in range(runs):
            journal.append(f"run-{number:08}", *(Draft(entry.kind, entry.data) for entry in entries), length=0)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.db"
        fill(file, runs)
        with SqliteJournal(file, read_only=True) as journal:
            measure(journal)
    print(f"memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def measure(journal: SqliteJournal) -> None:
    # A clock that is asked before each run, and says that the time is over once the page is full.
    asked = iter([0.0] * 51)
    hurried = RunList(redaction=Redaction(), clock=lambda: next(asked, 1.0))
    timed("the first page, and no run more", hurried, journal, Wanted())
    whole = RunList(redaction=Redaction(), clock=lambda: 0.0)
    timed("all runs", whole, journal, Wanted())
    timed("the first page again, nothing being new", whole, journal, Wanted())
    timed("words that no run has", whole, journal, Wanted(text="nowhere"))


def timed(what: str, runs: RunList, journal: SqliteJournal, wanted: Wanted) -> None:
    began = time.process_time()
    page: Page = runs.page(journal, wanted)
    print(f"{what}: {time.process_time() - began:.3f} s, {page.looked_at:,} of {page.listed:,} runs looked at")


if __name__ == "__main__":
    main()
