"""The runs of a journal as a list that is looked at again and again: filtered, in pages, nested runs below their own.

Rows are kept. A request reads what is new, what is still open, and for a short time runs that nobody has looked at yet,
the newest first: so the first page needs no look at older runs, and whoever waits sees all of them soon. Law: a run is
below another one only if that one began before it, so each run that was read is in the list once, whatever entries say
of their parents. Deliberately not here: what a row says (`rows`).
Cost: a request reads `RECHECKED` runs and those for which there is time; memory is about 2 kB for each run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from wieldy.apps.view.rows import Row, row_of, unreadable_row
from wieldy.core.errors import JournalError
from wieldy.run.state import Fold

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal
    from wieldy.evals.reports.page import Redaction

MOST_RUNS: Final = 20_000
"""The newest ones are listed; an older one is found by its id."""
RECHECKED: Final = 200
"""How many runs that may still go on are looked at again for a request."""
LOOKING_S: Final = 0.25
"""How long a request looks at runs that were not read yet."""
MOST_NESTED: Final = 100
"""Below one run in the list."""
MOST_FOLDS: Final = 32
"""Of how many running runs the fold is kept, so that only their new entries are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which runs a page is to have.

    Attributes:
        status: A status, or `failures`: what went wrong, or had a call that did.
        text: A part of what is searched.
        tool: The name of a tool that was called.
        after: The run at which the page before has ended; empty for the first page.
        limit: How many runs that are below no other.
    """

    status: str = ""
    text: str = ""
    tool: str = ""
    after: str = ""
    limit: int = 50

    def fits(self, row: Row) -> bool:
        """Whether the run is one of those."""
        return (
            (not self.status or (row.is_failure if self.status == "failures" else row.status == self.status))
            and self.text.lower() in row.words
            and (not self.tool or self.tool in row.tools)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A run and those within it, in the order in which they began, each with how deep it is.

    Attributes:
        left_out: How many more there are.
    """

    rows: tuple[tuple[int, Row], ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What was found.

    Attributes:
        groups: The newest first.
        after: Where the next page begins; None if nothing may follow.
        is_partial: Whether the time was over before the page was full: the next one goes on.
        waiting: All runs that wait for a person, as far as they were looked at.
        looked_at: How many runs were, of `listed`.
        total: How many there are in the journal.
        tools: The names of all tools that were called in those.
    """

    groups: tuple[Group, ...] = ()
    after: str | None = None
    is_partial: bool = False
    waiting: tuple[Row, ...] = ()
    looked_at: int = 0
    listed: int = 0
    total: int = 0
    tools: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class RunList:
    """Rows of a journal's runs; usable from any thread.

    Attributes:
        redaction: Takes out what must not be shown.
        clock: Gives seconds that only ever go on.
    """

    redaction: Redaction
    clock: Callable[[], float] = time.monotonic
    _order: list[str] = field(default_factory=list[str])
    _total: int = 0
    _head: str | None = None
    _rows: dict[str, Row] = field(default_factory=dict[str, Row])
    _lengths: dict[str, int] = field(default_factory=dict[str, int])
    _folds: dict[str, Fold] = field(default_factory=dict[str, Fold])
    _turn: int = 0
    _lock: Lock = field(default_factory=Lock)

    def page(self, journal: Journal, wanted: Wanted) -> Page:
        """The runs that are wanted, as the journal has them now.

        Raises:
            JournalError: The journal cannot be read at all.
        """
        with self._lock:
            self._refresh(journal)
            deadline = self.clock() + LOOKING_S
            page = self._found(journal, wanted, deadline=deadline)
            self._look(journal, deadline=deadline)
            rows = [row for run_id in self._order if (row := self._rows.get(run_id)) is not None]
            tools = sorted({tool for row in rows for tool in row.tools})
            return Page(
                groups=page.groups,
                after=page.after,
                is_partial=page.is_partial,
                waiting=tuple(row for row in rows if row.waiting and row.status in ("waiting", "running", "died")),
                looked_at=len(self._rows),
                listed=len(self._order),
                total=self._total,
                tools=tuple(tools),
            )

    def _refresh(self, journal: Journal) -> None:
        head = journal.head()
        if head != self._head:
            known = [*dict.fromkeys(journal.run_ids())]  # a changed journal may name one twice
            self._order, self._total, self._head = known[:MOST_RUNS], len(known), head
            for gone in self._rows.keys() - set(self._order):
                del self._rows[gone], self._lengths[gone]
                self._folds.pop(gone, None)
        unfinished = [run_id for run_id, row in self._rows.items() if row.status != "finished"]
        unfinished.sort(key={run_id: at for at, run_id in enumerate(self._order)}.__getitem__)
        half = RECHECKED // 2
        older = unfinished[half:]
        self._turn = (self._turn + half) % max(len(older), 1)
        for run_id in (*unfinished[:half], *(older[self._turn :] + older[: self._turn])[:half]):
            self._renew(journal, run_id)

    def _found(self, journal: Journal, wanted: Wanted, *, deadline: float) -> Page:
        places = {run_id: at for at, run_id in enumerate(self._order)}
        start = places[wanted.after] + 1 if wanted.after in places else 0
        for run_id in self._order[:start]:  # what is below the runs of this page is among them
            if run_id not in self._rows and self.clock() >= deadline:
                return Page(after=wanted.after, is_partial=True)
            self._known(journal, run_id)
        groups, last = list[Group](), wanted.after
        below = self._below(places, self._order[:start])
        for run_id in self._order[start:]:
            if len(groups) == wanted.limit:
                return Page(groups=tuple(groups), after=last)
            if run_id not in self._rows and self.clock() >= deadline:
                return Page(groups=tuple(groups), after=last or None, is_partial=True)
            row, last = self._known(journal, run_id), run_id
            parent = self._parent(row, places)
            if parent is not None:
                below.setdefault(parent, []).append(run_id)
                continue
            group = self._group(row, below)
            if any(wanted.fits(each) for _, each in group):
                for _, each in group[: MOST_NESTED + 1]:
                    self._renew(journal, each.run_id)
                shown = self._group(self._rows[run_id], below)
                left_out = max(0, len(shown) - MOST_NESTED - 1)
                groups.append(Group(rows=tuple(shown[: MOST_NESTED + 1]), left_out=left_out))
        return Page(groups=tuple(groups))

    def _below(self, places: dict[str, int], run_ids: Sequence[str]) -> dict[str, list[str]]:
        below = dict[str, list[str]]()
        for run_id in run_ids:
            parent = self._parent(self._rows[run_id], places)
            if parent is not None:
                below.setdefault(parent, []).append(run_id)
        return below

    def _parent(self, row: Row, places: dict[str, int]) -> str | None:
        """The run that it stands below: one that began before it, and is listed."""
        is_older = row.parent in places and places[row.parent] > places[row.run_id]
        return row.parent if is_older else None

    def _group(self, row: Row, below: dict[str, list[str]]) -> list[tuple[int, Row]]:
        found, left = list[tuple[int, Row]](), [(0, row)]
        while left:
            depth, each = left.pop()
            found.append((depth, each))
            left += [(depth + 1, self._rows[inner]) for inner in below.get(each.run_id, ())]
        return found

    def _look(self, journal: Journal, *, deadline: float) -> None:
        for run_id in self._unread():
            if self.clock() >= deadline:
                return
            self._read(journal, run_id)

    def _unread(self) -> Iterator[str]:
        return (run_id for run_id in self._order if run_id not in self._rows)

    def _known(self, journal: Journal, run_id: str) -> Row:
        return self._rows.get(run_id) or self._read(journal, run_id)

    def _renew(self, journal: Journal, run_id: str) -> None:
        """The row is as the journal has it now."""
        row, folded = self._rows[run_id], self._folds.get(run_id)
        try:
            entries = journal.read(run_id, start=self._lengths[run_id])
            if not entries and row.status in ("running", "died"):
                status = "died" if journal.holder(run_id) is None else "running"
                self._rows[run_id] = replace(row, status=status)
            elif entries and folded is not None:
                self._keep(journal, folded, entries)
            elif entries:
                self._read(journal, run_id)
        except JournalError as error:
            self._give_up(run_id, error)

    def _read(self, journal: Journal, run_id: str) -> Row:
        try:
            return self._keep(journal, Fold(), journal.read(run_id))
        except JournalError as error:
            return self._give_up(run_id, error)

    def _give_up(self, run_id: str, error: JournalError) -> Row:
        """What is known of the run is that it cannot be read; the next time all of it is tried again."""
        row = self._rows[run_id] = unreadable_row(run_id, error, redaction=self.redaction)
        self._lengths[run_id] = 0
        self._folds.pop(run_id, None)
        return row

    def _keep(self, journal: Journal, folded: Fold, entries: Sequence[Entry]) -> Row:
        for entry in entries:
            folded.apply(entry)
        row = row_of(folded.state(), journal, redaction=self.redaction)
        self._rows[row.run_id], self._lengths[row.run_id] = row, folded.length
        self._folds.pop(row.run_id, None)
        if row.status == "running":
            self._folds[row.run_id] = folded
            if len(self._folds) > MOST_FOLDS:
                del self._folds[next(iter(self._folds))]
        return row
