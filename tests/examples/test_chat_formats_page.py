"""The programs in the how-to about chat formats run, one after the other, and print what the page says."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "chat-formats.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial-chat-formats.md").read_text(encoding="utf-8")
OWN = runpy.run_path(str(ROOT / "examples" / "formats" / "own_format.py"))


def blocks() -> list[tuple[str, str]]:
    """The programs, each with what it prints."""
    found = re.findall(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", PAGE, flags=re.DOTALL | re.MULTILINE)
    return [(code, printed) for code, printed in found if code.strip()]


@pytest.fixture
def names() -> dict[str, object]:
    """What a reader has at hand: the imports of the example, and a model's template."""
    (template,) = re.findall(r"^```jinja\n(.*?)^```$", TUTORIAL, flags=re.DOTALL | re.MULTILINE)
    return {**OWN, "chat_template": template}


def test_the_readme_prints_what_it_says() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(from wieldy.formats .*?)^```$", readme, flags=re.DOTALL | re.MULTILINE)

    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "<README>", "exec"), {})

    assert code.rstrip().endswith(f"# {output.getvalue().rstrip()}")


def test_every_program_runs_and_prints_what_the_page_says(names: dict[str, object]) -> None:
    assert len(blocks()) > 10

    for number, (code, printed) in enumerate(blocks()):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, f"<program {number} of the how-to>", "exec"), names)
        if printed:
            assert output.getvalue() == printed, code
