"""Data is read from a folder or a wheel, and fetched as data: nothing of a package is run."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest
from bfcl_examples import task, write_data

from wieldy import UsageError
from wieldy.evals.bfcl import fetching
from wieldy.evals.bfcl.categories import CATEGORIES, categories_named
from wieldy.evals.bfcl.data import BfclData

TASKS = [task(), task("irrelevance"), task("live_parallel"), task("simple_java")]


def test_a_folder_and_a_wheel_give_the_same_tasks(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data", TASKS)
    wheel = tmp_path / "bfcl_eval-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("bfcl_eval/__init__.py", "raise SystemExit('this must not be run')")
        for file in folder.rglob("*.json"):
            archive.write(file, Path("bfcl_eval/data") / file.relative_to(folder))
    for place in (folder, wheel):
        data = BfclData(place)
        assert [one for category in CATEGORIES.values() for one in data.tasks(category)] == sorted(
            TASKS, key=lambda one: list(CATEGORIES).index(one.category.name)
        )


def test_what_is_no_data_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected BFCL's file"):
        BfclData(tmp_path).tasks(CATEGORIES["multiple"])
    file = tmp_path / "file.whl"
    file.write_text("no wheel")
    with pytest.raises(UsageError, match="expected a bfcl_eval wheel"):
        BfclData(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("other/file", "")
    with pytest.raises(UsageError, match="found none in it"):
        BfclData(file)
    folder = write_data(tmp_path / "data", TASKS)
    (folder / "BFCL_v4_multiple.json").write_text('{"id": 1}\n')
    with pytest.raises(UsageError, match="found something else"):
        BfclData(folder).tasks(CATEGORIES["multiple"])


def test_categories_have_names_and_groups_and_those_that_cannot_be_run_say_why() -> None:
    assert [category.name for category in categories_named(["simple", "simple_java"])] == [
        "simple_python",
        "simple_java",
        "simple_javascript",
    ]
    assert len(categories_named([])) == len(CATEGORIES)
    with pytest.raises(UsageError, match="simulators"):
        categories_named(["multi_turn_base"])
    with pytest.raises(UsageError, match="Expected categories of"):
        categories_named(["simpel"])


def test_an_installed_package_is_found_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "bfcl_eval"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('this must not be run')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert fetching.find(cache_folder=tmp_path / "empty") is None
    write_data(package / "data", TASKS)
    assert fetching.fetch(cache_folder=tmp_path / "empty") == package / "data"
    assert "bfcl_eval" not in sys.modules


def test_a_wheel_that_is_not_the_pinned_one_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / fetching.WHEEL_NAME).write_bytes(b"x" * fetching.WHEEL_BYTES)
    assert fetching.find(cache_folder=tmp_path) is None
