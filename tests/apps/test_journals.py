from __future__ import annotations

from pathlib import Path

import pytest

from wieldy.apps.cli.journals import find_run, open_for_reading
from wieldy.core.errors import UsageError

RUNS = ("bb22", "bb11", "aa11")


def test_a_run_is_found_by_its_id_by_a_unique_beginning_and_as_the_last_one() -> None:
    assert find_run(RUNS, "bb11") == "bb11"
    assert find_run(RUNS, "a") == "aa11"
    assert find_run(RUNS, "last") == "bb22"


def test_a_whole_id_wins_over_being_the_beginning_of_another() -> None:
    assert find_run(("abc", "ab"), "ab") == "ab"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [("bb", "2 runs begin with 'bb': bb22, bb11"), ("x", "No run's id begins with 'x'"), ("", "3 runs begin with ''")],
)
def test_an_unclear_run_is_refused_with_what_would_be_clear(wanted: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        find_run(RUNS, wanted)


def test_reading_creates_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no journal"):
        open_for_reading(tmp_path / "new" / "runs.db")

    assert not list(tmp_path.iterdir())
