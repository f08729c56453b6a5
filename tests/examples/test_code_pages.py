"""The programs of the pages about code actions run, and print what the pages say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from wieldy.sandbox import probe

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module", autouse=True)
def sandboxed() -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))


@pytest.mark.parametrize("page", ["tutorial-code.md", "how-to/code-actions.md"])
def test_every_program_runs_and_prints_what_the_page_says(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", text, flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    assert programs
    for number, (code, printed) in enumerate(programs):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, f"<program {number} of {page}>", "exec"), names)
        assert output.getvalue() == printed, code
