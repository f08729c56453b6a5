"""Runs that are shown together, each with the runs that its calls started; equal definitions of tools stand there once.

A part of a report's file is one, and so is what a browser is given of a run that it watches. Deliberately not here:
what is told of a run (`trajectory`), and where chunks go (`writing`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from wieldy.core.errors import JournalError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.evals.reports.page.trajectory import trajectory_of
from wieldy.run.nested import nested_runs
from wieldy.run.state import fold

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal
    from wieldy.evals.reports.page.redaction import Redaction

DEEPEST: Final = 8
"""How deep runs within runs are followed; those below are named by their ids."""


class Chunk:
    """Runs as the page is given them.

    Args:
        redaction: Takes out what must not be shown.
        tell: Is told which runs cannot be shown, and why.

    Attributes:
        size_bytes: Of the runs as JSON.
    """

    def __init__(self, redaction: Redaction, *, tell: Callable[[str], None]) -> None:
        self.size_bytes = 0
        self._redaction = redaction
        self._tell = tell
        self._runs: list[JsonObject] = []
        self._tools: dict[str, tuple[int, JsonObject]] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, journal: Journal, run_id: str) -> tuple[int, Sequence[Entry]]:
        """The run is in the chunk, and so are those within it: where it stands there, and its entries.

        One that cannot be read is there without entries.
        """
        entries = self._read(journal, run_id)
        return self._add(journal, run_id, entries, depth=0), entries

    def to_json(self) -> dict[str, Any]:
        """`tools` and `runs`, in the order of their numbers."""
        return {"tools": [tool for _, tool in self._tools.values()], "runs": self._runs}

    def _read(self, journal: Journal, run_id: str) -> Sequence[Entry]:
        try:
            return journal.read(run_id)
        except JournalError as error:
            self._tell(f"Run {run_id} cannot be shown: {error}")
            return ()

    def _add(self, journal: Journal, run_id: str, entries: Sequence[Entry], *, depth: int) -> int:
        nested = dict[str, int]()
        if depth < DEEPEST:
            for call_id, inner in _nested(journal, entries):
                nested[call_id] = self._add(journal, inner, self._read(journal, inner), depth=depth + 1)
        run = trajectory_of(
            run_id,
            entries,
            redaction=self._redaction,
            tool_number=self._tool_number,
            nested=nested,
            is_going_on=_is_going_on(journal, run_id),
        )
        self._runs.append(self._redaction.shown(run))
        self.size_bytes += len(json.dumps(self._runs[-1]))
        return len(self._runs) - 1

    def _tool_number(self, definition: JsonObject) -> int:
        known = self._tools.setdefault(canonical_json(definition), (len(self._tools), definition))
        return known[0]


def _nested(journal: Journal, entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    if not entries:
        return
    with suppress(JournalError):  # a damaged run is shown entry by entry; what it started cannot be known
        yield from nested_runs(journal, fold(entries)).items()


def _is_going_on(journal: Journal, run_id: str) -> bool:
    try:
        return journal.holder(run_id) is not None
    except JournalError:
        return False
