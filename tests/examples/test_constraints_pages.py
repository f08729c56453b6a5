"""The programs of the pages about constraints print what the pages say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for written_in, block in found if written_in == language]


def printed(program: str, folder: Path) -> str:
    (folder / "program.py").write_text(program, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_tutorial_prints_what_it_says(tmp_path: Path) -> None:
    said = [block.removeprefix("$ python dice.py\n") for block in blocks("tutorial-constraints.md", "")]

    assert printed("".join(blocks("tutorial-constraints.md", "python")), tmp_path) == "".join(said)


def test_the_how_to_prints_what_it_says(tmp_path: Path) -> None:
    said = [block for block in blocks("how-to/constraints.md", "text") if not block.startswith("row =")]

    assert printed("".join(blocks("how-to/constraints.md", "python")), tmp_path) == "".join(said)


@pytest.mark.parametrize("page", ["tutorial-constraints.md", "how-to/constraints.md"])
def test_the_pages_have_programs(page: str) -> None:
    assert len(blocks(page, "python")) >= 4
