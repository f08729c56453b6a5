"""The programs in the how-tos about acting in text, foreign histories and outputs run, and print what the pages say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.mark.parametrize("page", ["actions.md", "foreign-histories.md", "outputs.md"])
def test_every_program_runs_and_prints_what_the_page_says(page: str) -> None:
    text = (HOW_TO / page).read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", text, flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    assert programs
    for number, (code, printed) in enumerate(programs):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, f"<program {number} of {page}>", "exec"), names)
        assert output.getvalue() == printed, code
