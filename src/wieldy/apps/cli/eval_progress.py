"""How far a study is, on standard error: a bar with the time left on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from wieldy.apps.cli.facts import format_duration
from wieldy.apps.cli.terminal import Terminal
from wieldy.evals.studies.running import Progress

QUIET_S = 10.0
"""Between two lines, in seconds."""
NARROW = 64
"""Columns below which there is no bar."""


def progress_on(terminal: Terminal, opened: ExitStack) -> Callable[[Progress], None]:
    """What takes reports and shows them; `opened` takes the bar away when it closes."""
    if terminal.is_terminal and not terminal.is_dumb_terminal:
        return _bar(terminal, opened)
    return Lines(terminal)


def _bar(terminal: Terminal, opened: ExitStack) -> Callable[[Progress], None]:
    numbers = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeRemainingColumn())
    # Where there is little room, the numbers say more than the bar.
    columns = numbers if terminal.width < NARROW else (numbers[0], BarColumn(), *numbers[1:])
    bar = opened.enter_context(Bar(*columns, console=terminal, transient=True))
    task = bar.add_task("trials", total=None)
    counts = {"pass": 0, "done": 0}

    def show(progress: Progress) -> None:
        if progress.latest is not None:
            counts["done"] += 1
            counts["pass"] += progress.latest.verdict.kind == "pass"
        words = f"{counts['pass']} of {counts['done']} passed" if counts["done"] else "trials"
        bar.update(task, completed=progress.done, total=progress.total, description=words)

    return show


class Lines:
    """A line at the beginning, at the end, and every few seconds between, for logs."""

    def __init__(self, terminal: Terminal, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._began = self._said = clock()

    def __call__(self, progress: Progress) -> None:
        """Say it if it is time to."""
        now = self._clock()
        is_over = progress.done == progress.total
        if progress.ran and not is_over and now - self._said < QUIET_S:
            return
        self._said = now
        words = f"{progress.done} of {progress.total} trials"
        if not progress.ran:
            words += " are there already" if progress.done else ""
        elif not is_over:
            left_s = (now - self._began) / progress.ran * (progress.total - progress.done)
            words += f", about {format_duration(left_s)} left"
        self._terminal.block(Text(words))
