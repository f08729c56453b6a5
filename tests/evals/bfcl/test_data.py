"""Data is read from a folder or a wheel, and fetched as data: nothing of a package is run."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest
from bfcl_examples import task, write_data

from wieldy import UsageError
from wieldy.evals.bfcl import fetching
from wieldy.evals.bfcl.categories import CATEGORIES, CONVERSATIONS, MEMORIES, categories_named
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.pool import bfcl_pool
from wieldy.evals.bfcl.suite import bfcl_suite

TASKS = [task(), task("irrelevance"), task("live_parallel"), task("simple_java")]


def test_a_folder_and_a_wheel_give_the_same_tasks(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data", TASKS)
    wheel = tmp_path / "bfcl_eval-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("bfcl_eval/__init__.py", "raise SystemExit('this must not be run')")
        for file in folder.rglob("*.json"):
            archive.write(file, Path("bfcl_eval/data") / file.relative_to(folder))
    own = hashlib.sha256(wheel.read_bytes()).hexdigest()
    for place in (folder, wheel):
        data = BfclData(place, wheel_sha256=own)
        assert [one for category in CATEGORIES.values() for one in data.tasks(category)] == sorted(
            TASKS, key=lambda one: list(CATEGORIES).index(one.category.name)
        )


def test_only_the_pinned_wheel_is_taken_whatever_its_name(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data", TASKS)
    for name in (fetching.WHEEL_NAME, "other.whl"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for file in folder.rglob("*.json"):
                archive.write(file, Path("bfcl_eval/data") / file.relative_to(folder))
        for read in (BfclData, bfcl_pool, lambda place: bfcl_suite(place, categories_named(["simple"]))):
            with pytest.raises(UsageError, match=f"with sha256 {fetching.WHEEL_SHA256}, found"):
                read(tmp_path / name)
    own = hashlib.sha256((tmp_path / "other.whl").read_bytes()).hexdigest()
    assert BfclData(tmp_path / "other.whl", wheel_sha256=own).source["sha256"] == own


def test_of_a_folder_it_is_known_what_was_read(tmp_path: Path) -> None:
    one, same = (write_data(tmp_path / name, TASKS) for name in ("one", "same"))
    assert BfclData(one).source == BfclData(same).source == bfcl_suite(one, categories_named(["simple"])).source
    answers = same / "possible_answer" / "BFCL_v4_simple_java.json"
    answers.write_text(answers.read_text().replace("Aix", "Arles"))
    assert BfclData(one).source["sha256"] != BfclData(same).source["sha256"]


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
    assert categories_named([]) == (*CATEGORIES.values(), *CONVERSATIONS.values(), *MEMORIES.values())
    assert [each.name for each in categories_named(["everything"])][-1] == "format_sensitivity"
    assert categories_named(["single_turn"]) == tuple(CATEGORIES.values())
    assert categories_named(["multi_turn"]) == tuple(CONVERSATIONS.values())
    for name, why in (
        ("web_search_base", "network"),
        ("memory_vector", "embeddings"),
    ):
        with pytest.raises(UsageError, match=why):
            categories_named([name])
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
