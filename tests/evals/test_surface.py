"""What is importable from `wieldy.evals`."""

from __future__ import annotations

import pytest

import wieldy.evals


def test_every_name_can_be_imported() -> None:
    found = {name: getattr(wieldy.evals, name) for name in wieldy.evals.__all__}
    assert {name: value.__name__ for name, value in found.items()} == {name: name for name in wieldy.evals.__all__}


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Tasks'"):
        wieldy.evals.Tasks  # type: ignore[attr-defined]  # noqa: B018
