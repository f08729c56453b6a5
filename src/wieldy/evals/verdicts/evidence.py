"""The entries that show a verdict, where whoever judged has named none: what the model said last.

Deliberately not here: better evidence, which only those have who judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from wieldy.run.journal.kinds import REPLY

if TYPE_CHECKING:
    from wieldy.core.ports import Entry
    from wieldy.evals.verdicts.verdict import Verdict


def with_evidence(verdict: Verdict, runs: Sequence[Sequence[Entry]]) -> Verdict:
    """The verdict with the last reply of these runs, or their last entry; a pass and an invalid task need none.

    Args:
        verdict: Kept as it is where it names entries.
        runs: The entries of each run, in order; none for those of which nothing can be evidence.
    """
    if verdict.kind in ("pass", "invalid-task") or verdict.evidence:
        return verdict
    places = [(at, entry) for at, entries in enumerate(runs) for entry in entries]
    replies = [(at, entry) for at, entry in places if entry.kind == REPLY]
    if not places:
        return verdict
    at, entry = (replies or places)[-1]
    return structs.replace(verdict, evidence=(entry.sequence,), run=at)
