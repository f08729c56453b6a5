import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules that these tests share; there are no packages in tests

from crash_trials import Laboratory


@pytest.fixture(scope="session")
def laboratory() -> Iterator[Laboratory]:
    """One for all trials: what it consists of takes a second to start."""
    with Laboratory() as laboratory:
        yield laboratory
