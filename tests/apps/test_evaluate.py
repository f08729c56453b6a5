"""`wieldy eval` and `wieldy report`, from the outside."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Result = subprocess.CompletedProcess[str]
Wieldy = Callable[..., Result]


@pytest.fixture
def tasks(wieldy: Wieldy, tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    result = wieldy("eval", "--template", path)
    assert result.returncode == 0, result.stderr
    return path


def rows_of(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_template_is_run_and_reported(wieldy: Wieldy, tasks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = wieldy("eval", tasks, "--model", "script:oracle", "--out", out)
    assert result.returncode == 0, result.stderr
    assert "all: 11/11 = 100.0%" in result.stdout
    assert "tool error: 2/2" in result.stdout
    assert "0 of 11 trials" in result.stderr

    again = wieldy("eval", tasks, "--model", "script:oracle", "--out", out, "--trials", "2", "--json")
    assert again.returncode == 0, again.stderr
    assert "11 of 22 trials are there already" in again.stderr
    rows = rows_of(again)
    assert [row["type"] for row in rows].count("trial") == 11
    assert rows[11]["type"] == "configuration"
    assert rows[11]["passed"] == 22

    report = wieldy("report", out, "--json")
    assert rows_of(report) == rows[11:]
    assert "k=2: pass@k 100.0%" in wieldy("report", out).stdout


def test_templates_are_not_written_over_anything(wieldy: Wieldy, tasks: Path) -> None:
    result = wieldy("eval", "--template", tasks)
    assert result.returncode == 2
    assert "exists already, and is left as it is" in result.stderr
    assert wieldy("eval", "--template", tasks.with_suffix(".txt")).returncode == 2


def test_tools_that_change_something_are_denied_unless_that_is_wanted(wieldy: Wieldy, tmp_path: Path) -> None:
    path = tmp_path / "tasks.py"
    path.write_text(
        """
from pathlib import Path
from wieldy import tool
from wieldy.evals.tasks import ExpectedCall, Task

@tool(effect="unsafe")
def write() -> str:
    "Write a file."
    Path(__file__).with_name("written").touch()
    return "done"

TASKS = [Task(id="write", prompt="Write.", tools=[write], calls=(ExpectedCall(name="write"),))]
"""
    )
    denied = wieldy("eval", path, "--model", "script:oracle", "--out", tmp_path / "one")
    assert denied.returncode == 1
    assert "1 unscored (policy 1)" in denied.stdout
    assert "Nothing could be scored" in denied.stderr
    assert not (tmp_path / "written").exists()
    allowed = wieldy("eval", path, "--model", "script:oracle", "--out", tmp_path / "two", "--yes")
    assert allowed.returncode == 0, allowed.stderr
    assert (tmp_path / "written").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Expected the NAME"),
        (["agentdojo"], "cannot be run yet"),
        (["tasks.txt"], "Expected 'bfcl' or a file of tasks"),
        (["bfcl", "--categories", "multi_turn_base"], "simulators"),
        (["bfcl", "--data", "nowhere.whl"], "nowhere.whl"),
        (["none.jsonl"], "none.jsonl"),
    ],
)
def test_what_cannot_be_run_is_told_in_words(wieldy: Wieldy, arguments: list[str], words: str) -> None:
    result = wieldy("eval", *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_scripted_models_that_are_not_there_yet_are_told_of(wieldy: Wieldy, tasks: Path, tmp_path: Path) -> None:
    result = wieldy("eval", tasks, "--model", "script:robust", "--out", tmp_path / "out", "--json")
    assert result.returncode == 2
    assert rows_of(result)[0]["type"] == "error"
    result = wieldy("run", "Hello", "--model", "script:oracle")
    assert result.returncode == 2
    assert "wieldy eval" in result.stderr


def test_a_folder_without_results_is_told_of(wieldy: Wieldy, tmp_path: Path) -> None:
    result = wieldy("report", tmp_path)
    assert result.returncode == 2
    assert "there are no results here" in result.stderr
    result = wieldy("report")
    assert result.returncode == 2
    assert "There are no results in evals/" in result.stderr


def test_the_newest_results_are_reported_where_no_folder_is_named(wieldy: Wieldy, tasks: Path) -> None:
    assert wieldy("eval", tasks.name, "--model", "script:oracle", "--limit", "1").returncode == 0
    assert (tasks.parent / "evals" / "tasks-jsonl" / "results.jsonl").exists()
    result = wieldy("report")
    assert result.returncode == 0, result.stderr
    assert "all: 5/5" in result.stdout
