"""What the tutorial lets its reader do works, and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Result = subprocess.CompletedProcess[str]
TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")

PLAIN, DECLARED, RESERVING, _AGENT, TESTED = re.findall(
    r"^```python\n(.*?)^```$", TUTORIAL, flags=re.DOTALL | re.MULTILINE
)


def test_the_function_gets_the_findings_that_are_printed(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(PLAIN, encoding="utf-8")

    result = wieldy("lint", "library.py", COLUMNS="80")

    assert result.returncode == 1
    assert result.stdout in TUTORIAL


def test_the_tools_have_nothing_to_complain_about_and_one_of_them_is_asked_about(
    wieldy: Callable[..., Result], at_terminal: Callable[..., Any], serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "library.py").write_text(f"{DECLARED}\n\n{RESERVING}", encoding="utf-8")
    assert wieldy("lint", "library.py").returncode == 0

    server = serve([[("opening_hours", {"day": "saturday"})], [("reserve_book", {"title": "Moby Dick"})], "Done."])
    session = at_terminal("run", "Moby Dick", "--model", server.model, "--tools", "library.py")
    session.wait_for("Run it? [y/N] ")
    assert "10:00 to 16:00" in session.output
    session.type("y\n")

    assert session.end() == 0
    assert "'Moby Dick' is reserved until Friday." in session.output


def test_the_test_with_a_scripted_model_passes(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(DECLARED, encoding="utf-8")

    subprocess.run([sys.executable, "-c", TESTED], cwd=tmp_path, check=True, timeout=60)
