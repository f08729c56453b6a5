"""Where the time of a run went: spans, and the gaps between them in which nothing was under way.

A span begins and ends where an entry says so. Gaps are told from `SMALLEST_GAP` of the whole on. Law: spans lie within
the run, and no gap overlaps a span. Deliberately not here: drawing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict, cast

from wieldy.core.ports import Entry
from wieldy.run.journal import kinds

SMALLEST_GAP: Final = 0.02
"""Of the run's duration."""

_ENDS: Final = (kinds.RUN_FINISHED, kinds.RUN_FAILED, kinds.RUN_INTERRUPTED, kinds.RUN_PAUSED)


_BEGUN_BY: Final[Mapping[str, tuple[str, str]]] = {
    kinds.TURN_STARTED: ("model", "turn {0}"),
    kinds.CALL_STARTED: ("tool", "{1}"),
    kinds.ATTEMPT_FAILED: ("wait", "before another attempt"),
    kinds.CALL_WAITING: ("person", "{1}"),
    kinds.RUN_PAUSED: ("rest", "until it was resumed"),
}
"""Which span begins with an entry, and its name, in which 0 is the turn and 1 the tool."""

_ENDED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    kinds.REPLY: ("model",),
    kinds.CALL_STARTED: ("wait", "person"),
    kinds.ATTEMPT_FAILED: ("tool",),
    kinds.CALL_FINISHED: ("wait", "tool", "person"),
    kinds.APPROVAL: ("person",),
    kinds.RUN_RESUMED: ("rest",),
}


class Span(TypedDict):
    """A stretch of a run.

    `what` is `model`, `tool`, `wait` (before another attempt), `person` (until somebody has decided), `rest` (until
    somebody went on) or `idle`; `at_s` is from the run's first entry, `entry` the one with which it began, or -1.
    """

    what: str
    name: str
    at_s: float
    took_s: float
    entry: int


def spans_of(entries: Sequence[Entry]) -> list[Span]:
    """All spans of the run, gaps among them, in the order in which they began."""
    if not entries:
        return []
    reader = _Reader(entries)
    for entry in entries:
        reader.read(entry)
    reader.close_all(entries[-1])
    found = [span for span in reader.spans if span["took_s"] >= 0]
    whole = max(entry.time for entry in entries) - reader.began
    return sorted([*found, *_gaps(found, whole)], key=lambda span: (span["at_s"], span["entry"]))


class _Reader:
    """Open spans by what they are of, closed by the entry that ends them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.began = min(entry.time for entry in entries)
        self.spans: list[Span] = []
        self._open: dict[tuple[str, str], tuple[Entry, str]] = {}

    def read(self, entry: Entry) -> None:
        """The entry ends spans, and begins one."""
        data = cast("dict[str, Any]", entry.data)
        if entry.kind in _ENDS:
            self.close_all(entry)
        for what in _ENDED_BY.get(entry.kind, ()):
            most_s = _seconds(data.get("duration_s")) if what == "tool" else None
            self._end(what, _of(what, data), entry, most_s=most_s)
        begun = _BEGUN_BY.get(entry.kind)
        if begun is not None:
            what, name = begun
            self._begin(what, _of(what, data), entry, name.format(data.get("turn"), data.get("tool_name")))

    def close_all(self, entry: Entry) -> None:
        """Nothing is under way any more; a rest at the very end is no part of the run."""
        for what, of in list(self._open):
            if what == "rest":
                del self._open[what, of]
            else:
                self._end(what, of, entry)

    def _begin(self, what: str, of: str, entry: Entry, name: str) -> None:
        self._end(what, of, entry)
        self._open[what, of] = entry, name

    def _end(self, what: str, of: str, entry: Entry, *, most_s: float | None = None) -> None:
        opened = self._open.pop((what, of), None)
        if opened is None:
            return
        began, name = opened
        took = entry.time - began.time
        # Results of one batch are written together: how long each took is said apart.
        took = took if most_s is None else min(took, max(most_s, 0.0))
        self.spans.append(
            {"what": what, "name": name, "at_s": began.time - self.began, "took_s": took, "entry": began.sequence}
        )


def _of(what: str, data: dict[str, Any]) -> str:
    """The call that a span is of; the empty text for those of the whole run."""
    if what in ("model", "rest"):
        return ""
    result = data.get("result")
    if isinstance(result, dict):
        return str(cast("dict[str, Any]", result).get("tool_call_id"))
    return str(data.get("call_id"))


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _gaps(spans: Sequence[Span], whole: float) -> list[Span]:
    gaps, covered = list[Span](), 0.0
    ends = {"at_s": whole, "took_s": 0.0}
    for span in [*sorted(spans, key=lambda span: span["at_s"]), ends]:
        gap = span["at_s"] - covered
        if gap > 0 and gap >= SMALLEST_GAP * whole:
            gaps.append({"what": "idle", "name": "nothing under way", "at_s": covered, "took_s": gap, "entry": -1})
        covered = max(covered, span["at_s"] + span["took_s"])
    return gaps
