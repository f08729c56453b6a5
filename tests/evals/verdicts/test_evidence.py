"""Verdicts name entries that are there: their own, or what was said last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.ports import Draft, Entry
from wieldy.evals.verdicts.evidence import with_evidence
from wieldy.evals.verdicts.verdict import PASS, abstained, failed, invalid_task, unscored
from wieldy.run.journal import MemoryJournal
from wieldy.run.journal.kinds import REPLY, RUN_STARTED, TURN_STARTED

KINDS = st.lists(st.lists(st.sampled_from([RUN_STARTED, TURN_STARTED, REPLY]), max_size=4), max_size=4)
VERDICTS = st.sampled_from([failed("a: b"), abstained("no-call"), unscored("judge", "no-majority: x")])


def entries_of(kinds: list[list[str]]) -> list[list[Entry]]:
    journal = MemoryJournal()
    for number, own in enumerate(kinds):
        for length, kind in enumerate(own):
            journal.append(f"run-{number}", Draft(kind, {}), length=length)
    return [list(journal.read(f"run-{number}")) if own else [] for number, own in enumerate(kinds)]


@given(KINDS, VERDICTS)
def test_evidence_is_the_last_reply_or_else_the_last_entry(kinds: list[list[str]], verdict: object) -> None:
    assert isinstance(verdict, type(PASS))
    runs = entries_of(kinds)
    found = with_evidence(verdict, runs)
    if not any(runs):
        assert found == verdict
        return
    (sequence,) = found.evidence
    (entry,) = (each for each in runs[found.run] if each.sequence == sequence)
    behind = [
        each for own in runs[found.run :] for each in own if (own is not runs[found.run]) or each.sequence > sequence
    ]
    has_reply = any(each.kind == REPLY for own in runs for each in own)
    assert entry.kind == REPLY if has_reply else not behind
    assert not any(each.kind == REPLY for each in behind)


def test_what_has_evidence_or_needs_none_stays_as_it_is() -> None:
    runs = entries_of([[RUN_STARTED, REPLY]])
    for verdict in (PASS, invalid_task("x"), failed("x", evidence=(7,))):
        assert with_evidence(verdict, runs) == verdict
