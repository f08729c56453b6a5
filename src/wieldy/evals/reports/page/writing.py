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
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from wieldy.core.errors import JournalError, UsageError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.evals.reports.page.document import Place, Rows, StudyResults, in_order, index_of
from wieldy.evals.reports.page.redaction import Redaction
from wieldy.evals.reports.page.trajectory import trajectory_of
from wieldy.evals.reports.replacing import check_replaceable
from wieldy.run.journal import open_journal
from wieldy.run.nested import nested_runs
from wieldy.run.state import fold

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal
    from wieldy.evals.cases.results import Trial

CHUNK_BYTES: Final = 512 * 1024
"""Of JSON, before it is packed."""
DEEPEST: Final = 8
"""How deep runs within runs are followed; those below are named by their ids."""
_PROMPT_CHARACTERS: Final = 400
"""Of a task's prompt in the index, for searching."""

SCRIPTS: Final = ("text", "data", "list", "matrix", "plots", "call", "trial", "compare", "start")
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
    check_replaceable(file, _page().partition("{{")[0], "such a report")
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
    folder = files("wieldy.evals.reports.page") / "shell"
    style = (folder / "report.css").read_text(encoding="utf-8")
    parts = "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    page = _page()
    for mark, text in (("STYLE_DIGEST", _source(style)), ("SCRIPT_DIGEST", _source(script))):
        page = page.replace(f"{{{{{mark}}}}}", text)
    page = page.replace("{{STYLE}}", style).replace("{{SCRIPT}}", script)
    head, _, tail = page.partition("{{DATA}}\n")
    return head, tail


def _page() -> str:
    return (files("wieldy.evals.reports.page") / "shell" / "page.html").read_text(encoding="utf-8")


def _source(text: str) -> str:
    """A text as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _element(out: IO[str], name: str, value: object) -> None:
    packed = gzip.compress(json.dumps(value, separators=(",", ":"), allow_nan=False).encode(), compresslevel=6, mtime=0)
    out.write(f'<script type="application/gzip" id="{name}">{base64.b64encode(packed).decode()}</script>\n')


@dataclass(slots=True)
class _Chunk:
    """Runs that are packed together; equal definitions of tools stand in it once."""

    runs: list[JsonObject] = field(default_factory=list[JsonObject])
    tools: dict[str, tuple[int, JsonObject]] = field(default_factory=dict[str, tuple[int, JsonObject]])
    size_bytes: int = 0

    def tool_number(self, definition: JsonObject) -> int:
        known = self.tools.setdefault(canonical_json(definition), (len(self.tools), definition))
        return known[0]

    def add(self, run: JsonObject) -> int:
        self.runs.append(run)
        self.size_bytes += len(json.dumps(run))
        return len(self.runs) - 1

    def to_json(self) -> dict[str, Any]:
        return {"tools": [tool for _, tool in self.tools.values()], "runs": self.runs}


@dataclass(slots=True, kw_only=True)
class _Packer:
    """Writes the chunks, and knows of each trial where its runs are."""

    out: IO[str]
    redaction: Redaction
    notes: list[str] = field(default_factory=list[str])
    _number: int = 0
    _chunk: _Chunk = field(default_factory=_Chunk)

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
            entries = self._read(journal, run_id)
            place.runs.append(self._add(journal, run_id, entries, depth=0))
            if entries:
                place.prompt = place.prompt or _prompt(entries)
                place.began = min(filter(None, (place.began, entries[0].time)))
                place.ended = max(filter(None, (place.ended, entries[-1].time)))
        place.judges = [self._add(journal, each, self._read(journal, each), depth=0) for each in trial.judges]
        return place

    def _read(self, journal: Journal, run_id: str) -> Sequence[Entry]:
        try:
            return journal.read(run_id)
        except JournalError as error:
            self.notes.append(f"Run {run_id} cannot be shown: {error}")
            return ()

    def _add(self, journal: Journal, run_id: str, entries: Sequence[Entry], *, depth: int) -> int:
        nested = dict[str, int]()
        if depth < DEEPEST:
            for call_id, inner in _nested(journal, entries):
                nested[call_id] = self._add(journal, inner, self._read(journal, inner), depth=depth + 1)
        run = trajectory_of(
            run_id, entries, redaction=self.redaction, tool_number=self._chunk.tool_number, nested=nested
        )
        return self._chunk.add(self.redaction.shown(run))

    def _flush(self) -> None:
        if self._chunk.runs:
            _element(self.out, f"chunk-{self._number}", self._chunk.to_json())
            self._number += 1
        self._chunk = _Chunk()


def _nested(journal: Journal, entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    if not entries:
        return
    with suppress(JournalError):  # a damaged run is shown entry by entry; what it started cannot be known
        yield from nested_runs(journal, fold(entries)).items()


def _prompt(entries: Sequence[Entry]) -> str:
    with suppress(JournalError):
        return fold(entries[:1]).prompt[:_PROMPT_CHARACTERS]
    return ""
