"""The example of recovery: killed twice, everything happens once, and the model says what it cannot know."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "recovery" / "resume.py"


def test_a_run_that_is_killed_twice_ends_and_does_everything_once() -> None:
    finished = subprocess.run(
        [sys.executable, str(FILE)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )

    assert finished.returncode == 0, finished.stderr
    killed, report, happened = finished.stdout.strip().split("\n\n")
    assert killed.count("(Its exit code: -9)") == 2
    assert "- Invoice A is paid.\n- Invoice B is paid.\n- `post_letter` was started at " in report
    assert "outcome unknown" in report
    assert happened == "What really happened: invoice A paid, invoice B paid, letter to Ada posted."


def test_the_page_about_recovery_shows_what_the_example_prints() -> None:
    page = (ROOT / "docs" / "how-to" / "recovery.md").read_text(encoding="utf-8")
    printed = subprocess.run(
        [sys.executable, str(FILE)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=True
    ).stdout
    (shown,) = re.findall(r"^```text\n(A process was killed.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)

    assert without_times(shown) == without_times(printed)


def without_times(printed: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "T", printed)
