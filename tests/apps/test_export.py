"""`wieldy export`, from the outside; what is in the rows is tested where they are made."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Wieldy = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def study(wieldy: Wieldy, tmp_path: Path) -> Path:
    tasks = tmp_path / "tasks.jsonl"
    assert wieldy("eval", "--template", tasks).returncode == 0
    ran = wieldy("eval", tasks, "--model", "script:faulty", "--out", tmp_path / "study")
    assert ran.returncode == 0, ran.stderr
    return tmp_path / "study"


def test_rows_are_written_and_what_is_left_out_is_told(wieldy: Wieldy, study: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    result = wieldy("export", study, "--to", "sft", "--out", file)
    assert result.returncode == 0, result.stderr
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {tuple(row) for row in rows} == {("id", "messages", "tools", "train", "split")}
    assert f"{len(rows)} rows of" in result.stdout
    assert "invalid_call (a call could not be read" in " ".join(result.stdout.split())
    again = wieldy("export", study, "--to", "sft", "--out", file)
    assert again.returncode == 2
    assert "is left as it is" in " ".join(again.stderr.split())
    told = json.loads(wieldy("export", study, "--to", "trl", "--out", tmp_path / "trl.jsonl", "--json").stdout)
    assert told["rows"] + sum(told["left_out"].values()) == told["seen"]
    assert told["left_out"]["mask"] > 0


def test_what_cannot_be_meant_is_said(wieldy: Wieldy, study: Path, tmp_path: Path) -> None:
    for arguments, words in (
        ((study, "--to", "other"), "--to with one of rows"),
        ((study, "--include", "other"), "--include with one of"),
        ((study, "--where", "verdict"), "--where with KEY"),
        ((study, "--to", "sft", "--advantage", "trl"), "does not write"),
        ((study, "--tokenizer", study / "results.jsonl"), "--format and --tokenizer together"),
        ((study, "--to", "verl", "--format", "hermes", "--tokenizer", study), "writes no tokens"),
        ((), "found neither"),
        ((tmp_path / "empty",), "there are no results here"),
    ):
        result = wieldy("export", *arguments, "--out", tmp_path / "rows.jsonl")
        assert result.returncode == 2, arguments
        assert words in " ".join(result.stderr.split()), arguments
    assert not (tmp_path / "rows.jsonl").exists()
