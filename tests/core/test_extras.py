from __future__ import annotations

from importlib.metadata import metadata

import pytest

from wieldy.core.extras import installing


@pytest.mark.parametrize("extra", ["local", "constrain"])
def test_what_to_type_names_an_extra_that_exists_and_serves_a_clone_too(extra) -> None:
    assert extra in (metadata("wieldy").get_all("Provides-Extra") or [])
    assert installing(extra) == f"pip install 'wieldy[{extra}]', or in a clone: pip install -e '.[{extra}]'"


def test_options_are_given_both_times() -> None:
    assert installing("local", options="--quiet").count("]' --quiet") == 2
