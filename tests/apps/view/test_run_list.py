"""The list of runs: every run once, whatever entries say of their parents, however it is looked at."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.view.run_list import LOOKING_S, RunList, Wanted
from wieldy.core.json import JsonObject
from wieldy.core.ports import Draft
from wieldy.evals.reports.page import Redaction
from wieldy.run.journal import MemoryJournal, kinds


def begun(parent: int | None) -> Draft:
    data: JsonObject = {"model": "m", "messages": [], "tools": [], "limits": {}}
    return Draft(
        kinds.RUN_STARTED,
        data if parent is None else {**data, "parent": {"run_id": f"r{parent}", "call_id": "c"}},
    )


def looked(run_list: RunList, journal: MemoryJournal, limit: int) -> list[tuple[int, str]]:
    """All pages, each asked for until there was time for it."""
    found, after = list[tuple[int, str]](), ""
    while True:
        page = run_list.page(journal, Wanted(after=after, limit=limit))
        found += [(depth, row.run_id) for group in page.groups for depth, row in group.rows]
        if page.after is None:
            return found
        after = page.after


@given(
    parents=st.lists(st.none() | st.integers(0, 12), min_size=1, max_size=12),
    limit=st.integers(1, 4),
    hurried=st.booleans(),
)
def test_each_run_is_listed_once_below_the_run_that_it_is_within(
    parents: list[int | None], limit: int, hurried: bool
) -> None:
    journal = MemoryJournal(clock=lambda: 0.0)
    for at, parent in enumerate(parents):
        journal.append(f"r{at}", begun(parent))
    times = iter(range(10**6))
    run_list = RunList(redaction=Redaction(), clock=(lambda: next(times) * LOOKING_S / 3) if hurried else (lambda: 0.0))
    found = looked(run_list, journal, limit)
    assert sorted(run_id for _, run_id in found) == sorted(f"r{at}" for at in range(len(parents)))
    above: list[str] = []
    for depth, run_id in found:
        at = int(run_id[1:])
        parent = parents[at]
        assert depth == 0 or above[depth - 1] == f"r{parent}"
        assert (depth == 0) == (parent is None or parent >= at)
        above = [*above[:depth], run_id]
    roots = [int(run_id[1:]) for depth, run_id in found if depth == 0]
    assert roots == sorted(roots, reverse=True)
