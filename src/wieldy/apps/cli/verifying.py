"""The journal's chain of digests, checked and told run by run.

Deliberately not here: what the chain is and what it cannot show (`wieldy.run.journal`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.apps.cli.approvals_view import DIGEST_LENGTH
from wieldy.apps.cli.journals import find_run, open_for_reading
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.terminal import Terminal, out
from wieldy.apps.cli.untrusted import neutralise, one_line
from wieldy.core.errors import JournalError, UsageError
from wieldy.run.journal import verify, verify_all

if TYPE_CHECKING:
    from wieldy.core.ports import Entry, Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRun:
    """What was found of one run.

    Attributes:
        digest: Of its last entry; None if the run cannot be read.
        findings: What is wrong with it.
    """

    run_id: str
    entries: int
    digest: str | None
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found.

    Attributes:
        runs: The newest first.
        findings: What is wrong with none of them in particular.
        head: Of the whole journal, if all of it was checked.
    """

    runs: tuple[CheckedRun, ...] = ()
    findings: tuple[str, ...] = ()
    head: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings and not any(run.findings for run in self.runs)


def check_journal(journal: str | None, *, head: str | None, json: bool) -> bool:
    """Check and tell of all runs; whether nothing was found.

    Raises:
        UsageError: There is no such journal.
        JournalError: It cannot be read at all.
    """
    recorded = open_for_reading(journal)
    if recorded is None and head is not None:
        raise UsageError("There is no journal yet, so it cannot hold the entry that --head names.")
    return _tell(Checked() if recorded is None else _checked(recorded, head=head), json=json)


def check_run(run: str, journal: str | None, *, head: str | None, json: bool) -> bool:
    """Check and tell of one run; whether nothing was found.

    Raises:
        UsageError: There is no such run or journal.
        JournalError: The journal cannot be read at all.
    """
    if head is not None:
        raise UsageError("--head names an entry of the whole journal: leave RUN out.")
    recorded = open_for_reading(journal)
    run_id = find_run(recorded, run)
    findings: tuple[str, ...] = ()
    entries: Sequence[Entry] = ()
    try:
        entries = recorded.read(run_id) if recorded else ()
        verify(entries)
    except JournalError as error:
        findings = (str(error),)
    return _tell(Checked(runs=(_run(run_id, entries, findings),)), json=json)


def _checked(journal: Journal, *, head: str | None) -> Checked:
    runs: dict[str, CheckedRun] = {}

    def read() -> Iterator[Sequence[Entry]]:  # once, for the check and for what is told
        for run_id in journal.run_ids():
            try:
                entries = journal.read(run_id)
            except JournalError as error:
                runs[run_id] = _run(run_id, (), (str(error),))
            else:
                runs[run_id] = _run(run_id, entries, ())
                yield entries

    others = list[str]()
    for run_id, message in verify_all(read(), head=head):
        if run_id in runs:
            runs[run_id] = replace(runs[run_id], findings=(*runs[run_id].findings, message))
        else:
            others.append(message)
    return Checked(runs=tuple(runs.values()), findings=tuple(others), head=journal.head())


def _run(run_id: str, entries: Sequence[Entry], findings: tuple[str, ...]) -> CheckedRun:
    return CheckedRun(
        run_id=run_id, entries=len(entries), digest=entries[-1].digest if entries else None, findings=findings
    )


def _tell(checked: Checked, *, json: bool) -> bool:
    if json:
        print_json({"ok": checked.is_whole, **asdict(checked)})
    else:
        _show(out(), checked)
    return checked.is_whole


def _show(terminal: Terminal, checked: Checked) -> None:
    for run in checked.runs:
        _show_run(terminal, run)
    for finding in checked.findings:
        _show_finding(terminal, finding, first="✗ ")
    if checked.runs:
        terminal.print()
    words, style = ("Nothing was changed.", "green") if checked.is_whole else ("Something was changed.", "bold red")
    terminal.block(Text.assemble((words if checked.runs else "No run is recorded yet.", style)))
    if checked.head is not None and checked.is_whole:
        terminal.block(Text(f"The journal's head, for --head at a later time: {checked.head}", style="dim"))


def _show_run(terminal: Terminal, run: CheckedRun) -> None:
    sign = Text("✗ ", style="bold red") if run.findings else Text("✓ ", style="green")
    digest = "" if run.digest is None else f"  {run.digest[:DIGEST_LENGTH]}"
    entries = f"{run.entries:,} {'entry' if run.entries == 1 else 'entries'}"
    facts = f"{one_line(run.run_id, limit=100)}  {entries}{digest}"
    terminal.block(Text(facts), first=sign, rest="  ")
    for finding in run.findings:
        _show_finding(terminal, finding, first="  ")


def _show_finding(terminal: Terminal, finding: str, *, first: str) -> None:
    terminal.block_of_words(Text(neutralise(finding), style="red"), first=first, rest="  ")
