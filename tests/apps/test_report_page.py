"""`wieldy report --html`, from the outside; what is in the file is tested where it is made."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Result = subprocess.CompletedProcess[str]
Wieldy = Callable[..., Result]


@pytest.fixture
def study(wieldy: Wieldy, tmp_path: Path) -> Path:
    tasks = tmp_path / "tasks.jsonl"
    assert wieldy("eval", "--template", tasks).returncode == 0
    ran = wieldy("eval", tasks, "--model", "script:oracle", "--out", tmp_path / "study")
    assert ran.returncode == 0, ran.stderr
    return tmp_path / "study"


def test_a_page_is_written_and_said_to_be(wieldy: Wieldy, study: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    result = wieldy("report", study, "--html", file)
    assert result.returncode == 0, result.stderr
    assert f"The report is in {file}" in " ".join(result.stdout.split())
    assert file.read_text().startswith("<!doctype html>")
    told = json.loads(wieldy("report", study, "--html", file, "--json", "--redact", "shipped").stdout)
    assert told == {"file": str(file), "size_bytes": file.stat().st_size, "redacted": True, "notes": []}


def test_what_cannot_be_meant_is_said(wieldy: Wieldy, study: Path, tmp_path: Path) -> None:
    for arguments, words in (
        (("--html", tmp_path), "with the name of a file, found the folder"),
        (("--html", tmp_path / "no" / "report.html"), "cannot be written here"),
        (("--redact", "x"), "there is none"),
        (("--html", tmp_path / "report.html", "--redact", "("), "regular expression"),
        ((study, "--html", tmp_path / "report.html"), "one of them twice"),
        ((tmp_path / "empty",), "there are no results here"),
    ):
        result = wieldy("report", study, *arguments)
        assert result.returncode == 2, arguments
        assert words in " ".join(result.stderr.split()), arguments
    assert not (tmp_path / "report.html").exists()
    nothing = wieldy("report", study, "--html", tmp_path / "report.html", "--redact", "no such text")
    assert nothing.returncode == 0
    assert "Nothing was redacted" in nothing.stderr


def test_several_folders_are_compared(wieldy: Wieldy, study: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    ran = wieldy("eval", tmp_path / "tasks.jsonl", "--model", "script:oracle", "--out", other)
    assert ran.returncode == 0, ran.stderr
    rows = [json.loads(line) for line in wieldy("report", study, other, "--json").stdout.splitlines()]
    names = [f"script:oracle [{folder}]" for folder in (other, study)]
    assert [row["configuration"] for row in rows if row["type"] == "configuration"] == names
    (difference,) = [row for row in rows if row["type"] == "comparison"]
    assert difference["difference"] == 0


def test_nothing_but_a_page_is_replaced_by_a_page(wieldy: Wieldy, study: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.html"
    other.write_text("<!doctype html>\n<title>Somebody's own</title>\n")
    for record in (*sorted(study.iterdir()), tmp_path / "tasks.jsonl", other):
        before = record.read_bytes()
        result = wieldy("report", study, "--html", record)
        assert result.returncode == 2, record
        assert "is left as it is" in " ".join(result.stderr.split())
        assert record.read_bytes() == before
    page = tmp_path / "report.html"
    page.touch()
    for _ in range(2):  # an empty file, as tools that make names leave one, and a page
        assert wieldy("report", study, "--html", page).returncode == 0
