"""Progress of studies: nothing is cut on a narrow terminal, and a log gets few lines."""

from __future__ import annotations

import io
import re
from contextlib import ExitStack

import pytest

from wieldy.apps.cli.eval_progress import QUIET_S, Lines, progress_on
from wieldy.apps.cli.terminal import Terminal
from wieldy.evals.cases.results import Trial
from wieldy.evals.studies.running import Progress
from wieldy.evals.verdicts.verdict import PASS

TRIAL = Trial(
    suite="s",
    task="a",
    category="c",
    cluster="a",
    digest="d",
    configuration="m",
    trial=0,
    runs=(),
    verdict=PASS,
    others={},
)


@pytest.mark.parametrize("width", [40, 64, 80, 200])
def test_a_bar_cuts_no_number(width: int) -> None:
    file = io.StringIO()
    terminal = Terminal(file=file, force_terminal=True, width=width, markup=False)
    with ExitStack() as opened:
        show = progress_on(terminal, opened)
        show(Progress(0, 7200, 0, None))
        for ran in range(1, 7201):
            show(Progress(ran, 7200, ran, TRIAL))
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue()).replace("\r", "\n").split("\n")
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    last = [line for line in lines if "passed" in line][-1]
    assert "7200 of 7200 passed" in last
    assert "7200/7200" in last


def test_a_log_gets_a_line_now_and_then_with_the_time_left() -> None:
    now, file = 0.0, io.StringIO()

    def clock() -> float:
        return now

    lines = Lines(Terminal(file=file, width=200, markup=False), clock)
    lines(Progress(20, 100, 0, None))
    for ran in range(1, 81):
        now = ran * QUIET_S / 4
        lines(Progress(20 + ran, 100, ran, TRIAL))
    said = file.getvalue().splitlines()
    assert said[0] == "20 of 100 trials are there already"
    assert said[1] == "24 of 100 trials, about 3 min 10 s left"
    assert said[-1] == "100 of 100 trials"
    assert len(said) == 21
