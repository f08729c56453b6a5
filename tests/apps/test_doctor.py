from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wieldy.connect.models.weights import EMBEDDED

Result = subprocess.CompletedProcess[str]
SECRET = "sk-very-secret-value"


def checks_of(result: Result) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def cache_of(result: Result) -> Path:
    return Path(checks_of(result)["Embedded model"]["details"]["path"])


def test_without_model_and_network_it_ends_with_1_and_says_what_to_do(wieldy: Callable[..., Result]) -> None:
    result = wieldy("doctor", "--json")

    checks = checks_of(result)
    assert result.returncode == 1
    assert json.loads(result.stdout)["ok"] is False
    assert checks["Embedded model"]["state"] == "lacking"
    assert EMBEDDED.sha256 in checks["Embedded model"]["advice"]
    assert checks["Model hub"]["details"]["reachable"] is False
    assert checks["Python"]["details"]["version"] == ".".join(map(str, sys.version_info[:3]))


def test_with_a_model_in_its_place_it_looks_whether_that_was_verified(wieldy: Callable[..., Result]) -> None:
    weights = cache_of(wieldy("doctor", "--json"))
    weights.parent.mkdir(parents=True)
    with weights.open("wb") as file:
        file.truncate(EMBEDDED.size_bytes)  # as large as the model, but all holes

    checks = checks_of(wieldy("doctor", "--json"))

    assert checks["Embedded model"]["state"] == "good"
    assert checks["Embedded model"]["details"] == {
        "path": str(weights),
        "size_bytes": EMBEDDED.size_bytes,
        "present": True,
        "verified": False,
    }


def test_a_file_that_is_in_the_way_of_the_model_is_named(wieldy: Callable[..., Result]) -> None:
    weights = cache_of(wieldy("doctor", "--json"))
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"something else")

    result = wieldy("doctor", "--json")

    assert result.returncode == 1
    assert checks_of(result)["Embedded model"]["advice"].startswith(f"Move {weights} away")


def assert_says_that_nothing_can_be_written(result: Result) -> None:
    model = checks_of(result)["Embedded model"]
    assert result.returncode == 1
    assert model["state"] == "lacking"
    assert "whose folder cannot be made in " in model["found"]
    assert "XDG_CACHE_HOME" in model["advice"]
    assert "first run" not in result.stdout
    assert checks_of(result)["Journal"]["state"] == "lacking"


def test_where_the_home_is_no_folder_nothing_is_promised(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    assert_says_that_nothing_can_be_written(wieldy("doctor", "--json", HOME=str(tmp_path / "file")))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_where_the_home_cannot_be_written_nothing_is_promised(
    wieldy: Callable[..., Result], environment: dict[str, str], mode: int
) -> None:
    home = Path(environment["HOME"])
    home.chmod(mode)
    try:
        assert_says_that_nothing_can_be_written(wieldy("doctor", "--json"))
    finally:
        home.chmod(0o700)


def test_keys_are_found_and_never_shown(wieldy: Callable[..., Result]) -> None:
    result = wieldy("doctor", OPENAI_API_KEY=SECRET, ANTHROPIC_API_KEY="")

    assert "OPENAI_API_KEY set" in result.stdout
    assert SECRET not in result.stdout + result.stderr


def test_the_journal_is_named_and_one_that_cannot_be_used_is_a_lack(
    wieldy: Callable[..., Result], environment: dict[str, str]
) -> None:
    before = checks_of(wieldy("doctor", "--json"))["Journal"]
    assert before["state"] == "good"
    assert before["details"]["exists"] is False
    assert before["details"]["durability"] == "process"
    assert "survives the death of the process" in before["found"]
    file = Path(before["details"]["path"])
    assert file.is_relative_to(environment["HOME"])
    assert not file.exists()  # looking creates nothing

    file.parent.mkdir(parents=True)
    file.write_text("no journal", encoding="utf-8")

    result = wieldy("doctor", "--json")
    after = checks_of(result)["Journal"]
    assert result.returncode == 1
    assert after["state"] == "lacking"
    assert "is not a journal" in after["found"]


def test_it_says_whether_a_journal_can_be_in_a_database(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    (first / "psycopg.py").write_text("raise ImportError('no libpq here')", encoding="utf-8")

    here = checks_of(wieldy("doctor", "--json"))["PostgreSQL"]
    lacking = checks_of(wieldy("doctor", "--json", PYTHONPATH=str(first)))["PostgreSQL"]

    assert (here["state"], here["details"]["installed"]) == ("good", True)
    assert (lacking["state"], lacking["details"]["installed"]) == ("note", False)
    assert "no libpq here" in lacking["found"]
    assert "wieldy[postgres]" in lacking["advice"]


def test_it_says_whether_constraints_work(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    (first / "llguidance.py").write_text("raise ImportError('not for this machine')", encoding="utf-8")

    here = checks_of(wieldy("doctor", "--json"))["Constraints"]
    lacking = checks_of(wieldy("doctor", "--json", PYTHONPATH=str(first)))["Constraints"]

    assert (here["state"], here["details"]["works"]) == ("good", True)
    assert (lacking["state"], lacking["details"]["works"]) == ("lacking", False)
    assert "wieldy[constrain]" in lacking["advice"]


def test_it_says_whether_models_of_the_transformers_library_can_be_used(wieldy: Callable[..., Result]) -> None:
    check = checks_of(wieldy("doctor", "--json"))["Transformers"]

    assert check["state"] == ("good" if check["details"]["installed"] else "note")
    assert ("wieldy[transformers]" in (check["advice"] or "")) != check["details"]["installed"]
    assert all(check["details"][package] for package in ("transformers", "torch")) == check["details"]["installed"]


@pytest.mark.parametrize("columns", [60, 120])
def test_for_people_it_fits_the_terminal_but_keeps_paths_whole(wieldy: Callable[..., Result], columns: int) -> None:
    result = wieldy("doctor", COLUMNS=str(columns))

    assert "✗ Embedded model" in result.stdout
    assert str(EMBEDDED.file_name) in result.stdout
    assert all(len(line) <= columns or " " not in line[18:].strip() for line in result.stdout.splitlines())
    assert result.stderr == ""
