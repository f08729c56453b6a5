from __future__ import annotations

import io
from contextlib import ExitStack

from wieldy.apps.cli.download import Bar, Lines
from wieldy.apps.cli.terminal import PIPE_WIDTH, Terminal

TOTAL = 1_000_000_000


def test_a_log_gets_a_line_for_each_source_and_each_quarter() -> None:
    file = io.StringIO()
    lines = Lines(Terminal(file=file, width=PIPE_WIDTH))

    for done in range(0, TOTAL + 1, TOTAL // 100):
        lines(done, TOTAL, "package index")
    lines(0, TOTAL, "checking")
    lines(0, 0, "waiting")

    shown = [line.partition(": ")[2] for line in file.getvalue().splitlines()]
    assert shown == [
        *(f"package index, {megabytes} of 1,000 MB" for megabytes in ("0", "250", "500", "750", "1,000")),
        "checking, 0 of 1,000 MB",
        "waiting, 0 of 0 MB",
    ]


def test_a_terminal_gets_one_bar_at_a_time_and_is_clean_afterwards() -> None:
    file = io.StringIO()
    with ExitStack() as stack:
        bar = Bar(Terminal(file=file, width=80, force_terminal=True, color_system=None), stack=stack)
        bar(0, TOTAL, "official repository on the hub")
        bar(TOTAL // 2, TOTAL, "package index (the hub: \x1b refused)")
        bar(TOTAL - 1, TOTAL, "package index (the hub: \x1b refused)")
        bar(TOTAL, TOTAL, "checking")

    shown = file.getvalue()
    assert "is made ready; this is" in shown
    assert "0.0/1.0 GB" in shown
    assert shown.count("package index (the hub: \\x1b refused)") == 1
    assert shown.endswith("\x1b[2K")  # the last line, where the bar was, is erased
