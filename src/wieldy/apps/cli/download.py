"""The embedded model's weights are here before a run begins; while they are fetched or checked, standard error says so.

Deliberately not here: where weights come from and whether they are right (`wieldy.connect.models.weights`).
"""

from __future__ import annotations

from contextlib import ExitStack

from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TimeRemainingColumn
from rich.text import Text

from wieldy.apps.cli.terminal import Terminal, err
from wieldy.apps.cli.untrusted import neutralise
from wieldy.connect.models.weights import EMBEDDED, fetch


def fetch_embedded() -> None:
    """Fetch the embedded model unless it is here; a bar appears only if that takes doing.

    Raises:
        ModelNotAvailableError: It is not here and cannot be had; the text says what to do.
    """
    terminal = err()
    with ExitStack() as stack:
        if terminal.is_terminal and not terminal.is_dumb_terminal:
            fetch(EMBEDDED, progress=Bar(terminal, stack=stack))
        else:
            fetch(EMBEDDED, progress=Lines(terminal))


class Bar:
    """A bar on a terminal; it appears with the first report, and what is going on stands on a line above it."""

    def __init__(self, terminal: Terminal, *, stack: ExitStack) -> None:
        self._terminal = terminal
        self._stack = stack
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._words = ""

    def __call__(self, bytes_done: int, bytes_total: int, words: str, /) -> None:
        """Move the bar; a new source begins a new one."""
        progress = self._progress or self._begin()
        if words != self._words:
            if self._words:
                progress.remove_task(self._task)
            self._words = words
            self._terminal.block(Text(neutralise(words)))
            self._task = progress.add_task("", total=bytes_total)
        progress.update(self._task, completed=bytes_done)

    def _begin(self) -> Progress:
        self._terminal.block(Text(f"The embedded model, {EMBEDDED.name}, is made ready; this is done once."))
        columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=self._terminal, transient=True)
        return self._stack.enter_context(self._progress)


class Lines:
    """A line for each new thing and each further quarter, for logs."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._said = ("", -1)

    def __call__(self, bytes_done: int, bytes_total: int, words: str, /) -> None:
        """Say it if it is news."""
        quarter = 4 * bytes_done // max(1, bytes_total)
        if (words, quarter) == self._said:
            return
        self._said = (words, quarter)
        of_all = f"{bytes_done / 1e6:,.0f} of {bytes_total / 1e6:,.0f} MB"
        self._terminal.block(Text(neutralise(f"{EMBEDDED.name}: {words}, {of_all}")))
