"""What `wieldy export` was asked for, checked and done, and what it says of that.

Deliberately not here: what becomes a row (`wieldy.evals.export`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

from wieldy.apps.cli.eval_progress import QUIET_S
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.journals import open_for_reading
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.terminal import err, out
from wieldy.apps.cli.untrusted import neutralise
from wieldy.core.errors import UsageError
from wieldy.evals.export import (
    INCLUDABLE,
    OTHERS,
    VIEWS,
    WHERE,
    Counts,
    Sources,
    TokenColumns,
    Wanted,
    check_new,
    passes_only,
    selected,
    write_rows,
)
from wieldy.evals.export.advantages import ADVANTAGES
from wieldy.evals.export.row import SPLITS
from wieldy.evals.reports.page import Redaction
from wieldy.formats import get

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.evals.export.row import Row
    from wieldy.evals.export.views import View

_FORMS: Final = ("object", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options as they were given."""

    folders: Sequence[Path]
    journal: str | None
    out: Path
    to: str
    where: Sequence[str]
    min_reward: float | None
    include: Sequence[str]
    dedupe: bool
    split: float
    part: str | None
    advantage: str | None
    arguments: str
    format: str | None
    tokenizer: Path | None
    license: str | None
    redact: Sequence[str]


def export_rows(asked: Asked, *, json: bool) -> None:
    """The rows are in the file, and what was left out is told.

    Raises:
        UsageError: An option has a value that cannot be meant, or the file cannot be written.
        JournalError: A journal cannot be opened.
    """
    if not asked.folders and asked.journal is None:
        raise UsageError("Expected the folder of a study, or --journal with runs, found neither.")
    wanted = _wanted(asked)
    check_new(asked.out)
    counts = Counts()
    sources = Sources(folders=asked.folders, journal=None if asked.journal is None else open_for_reading(asked.journal))
    rows = _watched(selected(sources, wanted, counts), counts, sources.total)
    write_rows(asked.out, rows, wanted.view, as_text=asked.arguments == "text")
    for words in sources.notes:
        note(neutralise(words))
    if json:
        print_json(_to_json(asked, counts, wanted.redaction))
    else:
        _show(asked, counts, wanted)


def _wanted(asked: Asked) -> Wanted:
    view = VIEWS[_one_of(asked.to, VIEWS, "--to")]
    for reason in asked.include:
        _one_of(reason, INCLUDABLE, "--include")
    if asked.part is not None:
        _one_of(asked.part, SPLITS, "--part")
    _one_of(asked.arguments, _FORMS, "--arguments")
    if not 0 <= asked.split <= 1:
        raise UsageError(f"Expected --split with a share from 0 to 1, found {asked.split}.")
    if asked.advantage is not None:
        _one_of(asked.advantage, ADVANTAGES, "--advantage")
        if view.purpose != "reinforcement":
            raise UsageError(f"--advantage is of groups of trials, which --to {asked.to} does not write.")
    include = frozenset(asked.include)
    where = _where(asked.where)
    if view.purpose == "imitation" and "verdict" not in where and asked.min_reward is None:
        where |= passes_only(include)
    return Wanted(
        view=view,
        where=where,
        min_reward=asked.min_reward,
        include=include,
        dedupe=asked.dedupe,
        share=asked.split,
        part=asked.part,
        advantage=asked.advantage,
        license=asked.license,
        redaction=Redaction(asked.redact),
        tokens=_tokens(asked, view),
    )


def _tokens(asked: Asked, view: View) -> TokenColumns | None:
    if asked.tokenizer is None and asked.format is None:
        return None
    if asked.tokenizer is None or asked.format is None:
        raise UsageError("Expected --format and --tokenizer together: the one says the text, the other its tokens.")
    if not view.takes_tokens:
        raise UsageError(f"--to {asked.to} writes no tokens: its trainer does not read them. Try trl, sft or rows.")
    return TokenColumns(get(asked.format), asked.tokenizer)


def _one_of(value: str, known: Iterable[str], option: str) -> str:
    if value not in known:
        raise UsageError(f"Expected {option} with one of {', '.join(known)}, found {value!r}.")
    return value


def _where(conditions: Sequence[str]) -> dict[str, frozenset[str]]:
    found = dict[str, frozenset[str]]()
    for condition in conditions:
        name, equals, values = condition.partition("=")
        if not equals or name not in WHERE:
            raise UsageError(f"Expected --where with KEY=A,B and a key of {', '.join(WHERE)}, found {condition!r}.")
        found[name] = found.get(name, frozenset()) | frozenset(values.split(","))
    return found


def _watched(
    rows: Iterator[Row], counts: Counts, total: int, clock: Callable[[], float] = time.monotonic
) -> Iterator[Row]:
    """The rows, and now and then a line that says how far it is."""
    said = clock()
    for row in rows:
        if clock() - said >= QUIET_S:
            said = clock()
            err().block(Text(f"{counts.seen} of {total} trials and runs, {counts.rows} rows"))
        yield row


def _to_json(asked: Asked, counts: Counts, redaction: Redaction) -> JsonObject:
    return {
        "file": str(asked.out),
        "to": asked.to,
        "rows": counts.rows,
        "seen": counts.seen,
        "left_out": dict(counts.left_out),
        "untrained_replies": dict(counts.untrained),
        "flags": dict(counts.flags),
        "redacted": redaction.count,
    }


def _show(asked: Asked, counts: Counts, wanted: Wanted) -> None:
    terminal = out()
    terminal.block(Text(f"{counts.rows} rows of {counts.seen} trials and runs are in {neutralise(str(asked.out))}."))
    for head, counted in (("Left out", counts.left_out), ("Replies not learned from", counts.untrained)):
        for reason, count in counted.most_common():
            terminal.block(Text(f"{head}: {count} {reason} ({_words(reason)})"), rest="  ")
    for flag, count in counts.flags.items():
        terminal.block(Text(f"Flagged: {count} {flag}"))
    if wanted.redaction.patterns and not wanted.redaction.count:
        note("Nothing was redacted: no text matches.")
    if not counts.rows:
        note("There is no row. --include REASON takes in what was left out, where that is wanted.")


def _words(reason: str) -> str:
    known: Mapping[str, str] = {**INCLUDABLE, **OTHERS, "redacted": "something was taken out of it"}
    return known[reason]
