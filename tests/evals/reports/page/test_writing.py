from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from studies import HOSTILE, faulty_study, hostile_study

from wieldy import UsageError
from wieldy.evals.reports.page import Redaction, merged, read_study_results, write_page
from wieldy.evals.reports.page.document import QUANTILES, spread_of
from wieldy.evals.reports.page.writing import shell
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows

DATA = re.compile(r'<script type="application/gzip" id="([\w-]+)">([A-Za-z0-9+/=]*)</script>')


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faulty")
    faulty_study(folder)
    return folder


def written(file: Path, *folders: Path, redact: tuple[str, ...] = ()) -> list[str]:
    studies = merged([read_study_results(folder) for folder in folders])
    return write_page(file, studies, report_rows, Redaction(redact), clock=lambda: 1e9)


def data_in(file: Path) -> dict[str, Any]:
    return {
        name: json.loads(gzip.decompress(base64.b64decode(packed))) for name, packed in DATA.findall(file.read_text())
    }


def test_the_file_holds_every_trial_with_its_verdict_and_its_runs(faulty: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert written(file, faulty) == []
    data = data_in(file)
    index, trials = data["index"], read_study_results(faulty).trials
    assert len(index["trials"]) == len(trials) == 108
    recorded = {(trial.task, trial.configuration, trial.trial): trial for trial in trials}
    for shown in index["trials"]:
        key = (index["tasks"][shown["task"]]["id"], index["configurations"][shown["configuration"]], shown["trial"])
        trial = recorded.pop(key)
        assert shown["verdict"] == json.loads(json.dumps(trial.to_json()))["verdict"]
        runs = [data[f"chunk-{shown['chunk']}"]["runs"][number] for number in shown["runs"]]
        assert [run["id"] for run in runs] == list(trial.runs)
        judges = [data[f"chunk-{shown['chunk']}"]["runs"][number]["id"] for number in shown["judges"]]
        assert judges == list(trial.judges)
    assert not recorded
    assert index["rows"] == json.loads(json.dumps(report_rows(trials)))
    assert index["text"] == "\n".join(report_lines(report_rows(trials)))
    assert any(trial["judges"] for trial in index["trials"])
    assert index["tasks"][0]["prompt"] == "Do it."


def test_the_same_results_give_the_same_file(faulty: Path, tmp_path: Path) -> None:
    written(tmp_path / "one.html", faulty)
    written(tmp_path / "other.html", faulty)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_the_page_itself_is_small_and_allows_nothing_but_its_own_script_and_style() -> None:
    page = "".join(shell())
    assert len(page.encode()) <= 400_000
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    for element, rule in (("style", "style-src"), ("script", "script-src")):
        text = re.search(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "//" not in re.sub(r"(?m)//.*$|http://www.w3.org/2000/svg", "", page), "no address of anywhere"


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


def test_no_text_of_anybody_is_markup(tmp_path: Path) -> None:
    hostile_study(tmp_path / "study")
    file = tmp_path / "report.html"
    written(file, tmp_path / "study")
    page, data = file.read_text(), data_in(file)
    reader = Elements()
    reader.feed(page)
    of_shell = Elements()
    of_shell.feed("".join(shell()))
    assert sorted(reader.found) == sorted([*of_shell.found, *["script"] * len(data)])
    assert "owned" not in DATA.sub("", page)
    assert data["index"]["tasks"][0]["id"] == HOSTILE
    assert len(page) < 600_000, "ten million characters are packed"


def test_folders_are_compared_and_configurations_of_one_name_are_told_apart(faulty: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    faulty_study(other, trials=1)
    file = tmp_path / "report.html"
    written(file, faulty, other)
    index = data_in(file)["index"]
    assert index["configurations"] == [
        f"{name} [{folder}]" for folder in (faulty, other) for name in ("script:oracle", "script:faulty")
    ]
    assert len(index["trials"]) == 108 + 54
    assert len(index["tasks"]) == 27
    hostile_study(tmp_path / "hostile")
    with pytest.raises(UsageError, match="one set of tasks"):
        written(file, faulty, tmp_path / "hostile")
    of_it, name = read_study_results(faulty), tmp_path / "renamed"
    renamed = [structs.replace(each, suite="another file's name") for each in of_it.trials]
    assert len(merged([of_it, dataclasses.replace(of_it, folder=name, trials=tuple(renamed))])) == 2
    changed = [structs.replace(each, digest="changed") for each in of_it.trials]
    with pytest.raises(UsageError, match="no task that another folder has unchanged"):
        merged([of_it, dataclasses.replace(of_it, folder=name, trials=tuple(changed))])
    with pytest.raises(UsageError, match="twice"):
        written(file, faulty, faulty)


def test_without_a_journal_there_is_still_a_report_and_it_says_what_is_missing(faulty: Path, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    for name in ("results.jsonl", "study.json"):
        (folder / name).write_bytes((faulty / name).read_bytes())
    notes = written(tmp_path / "report.html", folder)
    assert notes == [f"{folder / 'runs.db'} is not there: the runs of its trials cannot be shown."]
    (folder / "runs.db").write_bytes(b"no database")
    (note,) = written(tmp_path / "report.html", folder)
    assert "cannot be read" in note
    index = data_in(tmp_path / "report.html")["index"]
    assert {trial["chunk"] for trial in index["trials"]} == {-1}
    assert index["notes"] == [note]


def test_a_file_is_replaced_whole_or_not_at_all(faulty: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    written(file, faulty)
    before = file.read_text()

    def fail(trials: object) -> list[Any]:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        write_page(file, [read_study_results(faulty)], fail, Redaction())
    assert file.read_text() == before
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(UsageError, match="cannot be written here"):
        written(tmp_path / "missing" / "report.html", faulty)


def test_what_is_redacted_is_nowhere_in_the_file(faulty: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    written(file, faulty, redact=("no add tod.y", "flak[y]"))
    data = data_in(file)
    everything = json.dumps(data)
    assert "no add today" not in everything
    assert "flaky" not in everything
    assert data["index"]["redaction"]["patterns"] == 2
    assert data["index"]["redaction"]["count"] > 0
    written(file, faulty, redact=("pass", "call"))
    kinds = {trial["verdict"]["kind"] for trial in data_in(file)["index"]["trials"]}
    assert "pass" in kinds, "our own words stay, so that the page can be shown"


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=50))
def test_quantiles_are_those_of_numpy(values: list[float]) -> None:
    expected = np.quantile(np.array(values), np.array(QUANTILES) / 100)
    assert spread_of(values) == pytest.approx(list(expected), rel=1e-9, abs=1e-9)
