"""The chain of digests that runs through the entries of a run, and the check that it is whole.

Law: an entry's digest is SHA-256 over the digest before it and everything that the entry says, so that whoever changes,
removes, adds or reorders an entry breaks the chain at that place. `journal_head` of `run_started` names the newest
entry of the whole journal at that moment, which ties runs to those before them.

What no check of the journal alone can find: an end that is missing of the newest run, or of a run that was still under
way when the last of the others began, as long as nobody kept the digest of what was cut; the newest runs, removed as a
whole; and a journal that was written anew from some entry on, all digests included. Whoever keeps the journal's head
elsewhere (`Journal.head`) finds each of these up to that head. Deliberately not here: signatures, and where a head is
kept.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from wieldy.core.errors import JournalConflictError, JournalError, JournalTamperedError
from wieldy.core.ports import Entry
from wieldy.run.journal.encoding import Settled, bytes_from_data, bytes_from_name, data_from_bytes
from wieldy.run.journal.kinds import RUN_STARTED

START: Final = bytes(32)
"""What stands before the first entry of a run."""

MOST_ENTRIES: Final = 2**63 - 1
"""Of one run, as databases count."""

# All of fixed length, the lengths of what follows included: no two different entries have the same bytes.
_FRAME: Final = struct.Struct(">32sQdQQQ")


class Head(Struct, frozen=True):
    """The end of a run: how many entries it has, and the digest of the last."""

    length: int
    digest: bytes


EMPTY: Final = Head(0, START)


Row: TypeAlias = tuple[str, int, str, float, bytes, bytes]
"""An entry as a journal stores it: run id, sequence, kind, time, data, digest."""


class Finding(NamedTuple):
    """What is wrong with a journal: the run, if it is still there to be named, and a sentence."""

    run_id: str | None
    message: str


_bytes_from_kind: Final = lru_cache(maxsize=64)(bytes_from_name)
"""There are few kinds, and every entry is of one."""


def link(previous: bytes, run_id: str, sequence: int, kind: str, time: float, data: bytes) -> bytes:
    """The digest of an entry.

    Raises:
        JournalError: The run's id or the kind is not text that every database can hold.
    """
    return _link(previous, bytes_from_name(run_id), sequence, bytes_from_name(kind), time, data)


def _link(previous: bytes, run: bytes, sequence: int, kind: bytes, time: float, data: bytes) -> bytes:
    frame = _FRAME.pack(previous, sequence, time, len(run), len(kind), len(data))
    return sha256(frame + run + kind + data).digest()


def extend(run_id: str, head: Head, drafts: Sequence[Settled], time: float) -> tuple[list[Row], list[Entry], Head]:
    """The drafts as the next entries of the run: to be stored, to be returned, and the end after them.

    Raises:
        JournalError: The time is no number, or a name is not text.
    """
    if math.isnan(time):
        raise JournalError("The journal's clock gave what is no number, expected seconds since the epoch.")
    time = float(time) + 0.0  # SQLite has no negative zero
    rows: list[Row] = []
    entries: list[Entry] = []
    sequence, digest = head.length, head.digest
    run = bytes_from_name(run_id)
    for draft in drafts:
        kind = draft.kind
        digest = _link(digest, run, sequence, _bytes_from_kind(kind), time, draft.encoded)
        rows.append((run_id, sequence, kind, time, draft.encoded, digest))
        entries.append(Entry(run_id, sequence, kind, time, draft.data, digest.hex()))
        sequence += 1
    return rows, entries, Head(sequence, digest)


def row_of(values: Sequence[object]) -> Row:
    """What a database gave as a row, looked at: a damaged file may hold anything.

    Raises:
        JournalError: It is nothing that a journal stores.
    """
    run_id, sequence, kind, when, data, digest = values
    if (
        isinstance(run_id, str)
        and isinstance(sequence, int)
        and isinstance(kind, str)
        and isinstance(when, float)
        and isinstance(data, bytes)
        and isinstance(digest, bytes)
        and len(digest) == len(START)
    ):
        return run_id, sequence, kind, when, data, digest
    raise JournalError(f"Entry {sequence} of run {run_id} cannot be read: expected an entry, found damaged data.")


def entry_of(values: Sequence[object]) -> Entry:
    """The entry that a row stands for.

    Raises:
        JournalError: It is damaged.
    """
    run_id, sequence, kind, when, data, digest = row_of(values)
    return Entry(
        run_id=run_id, sequence=sequence, kind=kind, time=when, data=data_from_bytes(data), digest=digest.hex()
    )


def head_of(run_id: str, values: Sequence[object] | None) -> Head:
    """The end of a run: how many entries it has and the last digest, as a database gave them; or nothing.

    Raises:
        JournalError: They are nothing that a journal stores.
    """
    if values is None:
        return EMPTY
    length, digest = values
    if isinstance(length, int) and isinstance(digest, bytes) and len(digest) == len(START):
        return Head(length, digest)
    raise JournalError(f"The last entry of run {run_id} cannot be read, so nothing can follow it: it is damaged.")


def conflict(run_id: str, *, expected: int, found: int) -> JournalConflictError:
    """The refusal, for a writer who knows less than there is."""
    return JournalConflictError(
        f"Run {run_id} has {found} entries, expected {expected}: somebody else added to it meanwhile. Nothing was "
        "written; read the run again."
    )


def verify(entries: Iterable[Entry], *, after: Entry | None = None) -> None:
    """Nothing was changed, removed, added or put elsewhere in these entries of a run.

    Args:
        entries: From the run's first on, or from the one that follows `after`.
        after: The entry before them, which was verified already.

    Raises:
        JournalTamperedError: Something was; the error says where.
    """
    finding = first_finding(entries, after=after)
    if finding is not None:
        raise JournalTamperedError(finding.message)


def verify_all(runs: Iterable[Iterable[Entry]], *, head: str | None = None) -> list[Finding]:
    """What is wrong with a whole journal, as far as it can be known (see the module); empty if nothing is.

    Args:
        runs: Every run of the journal, each from its first entry on.
        head: The journal's head at an earlier time, kept elsewhere: that entry must still be there.

    Cost: linear; one digest of each entry is held in memory.
    """
    findings, known, named = list[Finding](), set[str](), list[tuple[str, str]]()
    for run in runs:
        entries = list(run)
        finding = first_finding(entries)
        if finding is not None:
            findings.append(finding)
        known.update(entry.digest for entry in entries)
        named += _heads_named(entries[:1])
    for run_id, digest in named:
        if digest not in known:
            findings.append(Finding(run_id, _missing(digest, f"run {run_id} began")))
    if head is not None and head not in known:
        findings.append(Finding(None, _missing(head, "its head was noted")))
    return findings


def first_finding(entries: Iterable[Entry], *, after: Entry | None = None) -> Finding | None:
    """The first thing that is wrong with a run, read from its first entry on or from the one that follows `after`."""
    run_id, start, previous = None, 0, START
    if after is not None:
        run_id, start, previous = after.run_id, after.sequence + 1, bytes.fromhex(after.digest)
    for sequence, entry in enumerate(entries, start):
        run_id = entry.run_id if run_id is None else run_id
        wrong = _wrong(entry, run_id, sequence, previous)
        if wrong is not None:
            return Finding(run_id, f"Run {run_id} was tampered with: {wrong}.")
        previous = bytes.fromhex(entry.digest)
    return None


def _wrong(entry: Entry, run_id: str, sequence: int, previous: bytes) -> str | None:
    if entry.run_id != run_id:
        return f"entry {sequence} says that it is of run {entry.run_id}"
    if entry.sequence > sequence:
        return f"entry {sequence} is missing; the next one there is {entry.sequence}"
    if entry.sequence < sequence:
        return f"entry {entry.sequence} is there twice, or out of order"
    try:
        expected = link(previous, run_id, sequence, entry.kind, entry.time, bytes_from_data(entry.data)).hex()
    except (JournalError, struct.error) as error:
        return f"entry {sequence} was changed: it is nothing that was ever written ({error})"
    if entry.digest != expected:
        return (
            f"entry {sequence} ({entry.kind}) was changed after it was written, or does not follow the one before it "
            f"(its digest is {entry.digest[:12]}, that of what is there {expected[:12]})"
        )
    return None


def _heads_named(first: Sequence[Entry]) -> list[tuple[str, str]]:
    return [
        (entry.run_id, head)
        for entry in first
        if entry.kind == RUN_STARTED and isinstance(head := entry.data.get("journal_head"), str)
    ]


def _missing(digest: str, when: str) -> str:
    return f"The entry with the digest {digest[:12]} is missing, which was the journal's newest when {when}."
