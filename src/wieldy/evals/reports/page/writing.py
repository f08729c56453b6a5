"""The file itself: the page, and gzipped data in it, written whole or not at all.

Runs are packed in chunks of about `CHUNK_BYTES`, all trials of a task in one, so that a reader unpacks only what is
looked at. Data stands in base64, which has no character that ends an element; the policy in the file allows its own
script and style by their digests and nothing else, forbids every request, and lets no script make markup of text.
Source: Content Security Policy Level 3; Trusted Types. Deliberately not here: what the data says (`document`,
`trajectory`).
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from wieldy.core.errors import JournalError, UsageError
from wieldy.evals.reports.page.assembling import STYLE, assembled, part
from wieldy.evals.reports.page.chunk import Chunk
from wieldy.evals.reports.page.document import Place, Rows, StudyResults, in_order, index_of
from wieldy.evals.reports.page.redaction import Redaction
from wieldy.evals.reports.replacing import check_replaceable
from wieldy.run.journal import open_journal
from wieldy.run.state import fold

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal
    from wieldy.evals.cases.results import Trial

CHUNK_BYTES: Final = 512 * 1024
"""Of JSON, before it is packed."""
_PROMPT_CHARACTERS: Final = 400
"""Of a task's prompt in the index, for searching."""

PAGE: Final = "page.html"
SCRIPTS: Final = (
    "text",
    "keys",
    "data",
    "list",
    "matrix",
    "plots",
    "call",
    "timeline",
    "trial",
    "pairs",
    "compare",
    "start",
)
"""The parts of the script, in the order in which they stand in the page."""


def write_page(
    file: Path,
    studies: Sequence[StudyResults],
    rows: Rows,
    redaction: Redaction,
    *,
    clock: Callable[[], float] = time.time,
) -> list[str]:
    """The report is in the file, whole; an earlier one is replaced. Gives what a reader has to know besides.

    Args:
        file: Where.
        studies: With configurations that are told apart (`merged`).
        rows: Adds trials up.
        redaction: Takes out what must not be shown.
        clock: Gives the time, in seconds since the epoch.

    Raises:
        UsageError: The file cannot be written, or is something else than such a report.
    """
    check_replaceable(file, part(PAGE).partition("{{")[0], "such a report")
    try:
        with tempfile.NamedTemporaryFile(
            "w", dir=file.parent, prefix=f".{file.name}.", suffix=".tmp", delete=False, encoding="utf-8", newline="\n"
        ) as out:
            try:
                notes = _write(out, studies, rows, redaction, made=clock())
                out.flush()
                os.fsync(out.fileno())
            except BaseException:
                with suppress(OSError):
                    Path(out.name).unlink()
                raise
        Path(out.name).chmod(0o644 & ~_umask())
        Path(out.name).replace(file)
    except OSError as error:
        raise UsageError(f"{file}: the report cannot be written here: {error.strerror}. Name another file.") from error
    return notes


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def _write(
    out: IO[str], studies: Sequence[StudyResults], rows: Rows, redaction: Redaction, *, made: float
) -> list[str]:
    head, tail = shell()
    out.write(head)
    packer = _Packer(out=out, redaction=redaction, notes=[words for study in studies for words in study.notes])
    places = packer.pack(studies)
    index = redaction.shown(index_of(studies, places, rows, made=made, notes=packer.notes))
    counted = {"patterns": len(redaction.patterns), "count": redaction.count}
    _element(out, "index", {**index, "redaction": counted if redaction.patterns else None})
    out.write(tail)
    return packer.notes


@cache
def shell() -> tuple[str, str]:
    """The page before and after its data. It holds nothing of any study."""
    page = assembled(part(PAGE), style=part(STYLE), scripts=(part(f"{name}.js") for name in SCRIPTS))
    head, _, tail = page.html.partition("{{DATA}}\n")
    return head, tail


def _element(out: IO[str], name: str, value: object) -> None:
    packed = gzip.compress(json.dumps(value, separators=(",", ":"), allow_nan=False).encode(), compresslevel=6, mtime=0)
    out.write(f'<script type="application/gzip" id="{name}">{base64.b64encode(packed).decode()}</script>\n')


@dataclass(slots=True, kw_only=True)
class _Packer:
    """Writes the chunks, and knows of each trial where its runs are."""

    out: IO[str]
    redaction: Redaction
    notes: list[str] = field(default_factory=list[str])
    _number: int = 0
    _chunk: Chunk = field(init=False)

    def __post_init__(self) -> None:
        self._begin()

    def pack(self, studies: Sequence[StudyResults]) -> dict[int, Place]:
        places = dict[int, Place]()
        with ExitStack() as opened:
            journals = {id(study): self._journal(study, opened) for study in studies}
            last: object = None
            for at, (study, trial) in enumerate(in_order(studies)):
                task = trial.task, trial.digest
                if task != last and self._chunk.size_bytes >= CHUNK_BYTES:
                    self._flush()
                last = task
                places[at] = self._place(journals[id(study)], trial)
        self._flush()
        return places

    def _journal(self, study: StudyResults, opened: ExitStack) -> Journal | None:
        if not study.journal.exists():
            self.notes.append(f"{study.journal} is not there: the runs of its trials cannot be shown.")
            return None
        try:
            return opened.enter_context(open_journal(study.journal, read_only=True))
        except JournalError as error:
            self.notes.append(f"{study.journal} cannot be read, so the runs of its trials cannot be shown: {error}")
            return None

    def _place(self, journal: Journal | None, trial: Trial) -> Place:
        place = Place()
        if journal is None or not trial.runs:
            return place
        place.chunk = self._number
        for run_id in trial.runs:
            number, entries = self._chunk.add(journal, run_id)
            place.runs.append(number)
            if entries:
                place.prompt = place.prompt or _prompt(entries)
                place.began = min(filter(None, (place.began, entries[0].time)))
                place.ended = max(filter(None, (place.ended, entries[-1].time)))
        place.judges = [self._chunk.add(journal, each)[0] for each in trial.judges]
        return place

    def _flush(self) -> None:
        if len(self._chunk):
            _element(self.out, f"chunk-{self._number}", self._chunk.to_json())
            self._number += 1
        self._begin()

    def _begin(self) -> None:
        self._chunk = Chunk(self.redaction, tell=self.notes.append)


def _prompt(entries: Sequence[Entry]) -> str:
    with suppress(JournalError):
        return fold(entries[:1]).prompt[:_PROMPT_CHARACTERS]
    return ""
