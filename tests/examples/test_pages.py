"""The programs of these pages run, one after the other, and print what the pages say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from wieldy.sandbox import probe

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "how-to/actions.md",
    "how-to/dialects.md",
    "how-to/foreign-histories.md",
    "how-to/mcp-server.md",
    "how-to/outputs.md",
    "how-to/serve.md",
    "how-to/tool-search.md",
)
IN_THE_SANDBOX = ("tutorial-code.md", "how-to/code-actions.md", "how-to/skills.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_program_prints_what_the_page_says(page: str) -> None:
    follow(page)


@pytest.mark.parametrize("page", IN_THE_SANDBOX)
def test_every_program_in_the_sandbox_prints_what_the_page_says(page: str) -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))
    follow(page)


def follow(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", text, flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    assert programs
    for number, (code, printed) in enumerate(programs):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, f"<program {number} of {page}>", "exec"), names)
        assert output.getvalue() == printed, code
