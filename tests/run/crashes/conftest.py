import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules that these tests share; there are no packages in tests

from crash_trials import Laboratory, Workers
from effect_client import RunningEffectServer


@pytest.fixture(scope="session")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """One world outside and one parent of workers for all trials."""
    with RunningEffectServer() as outside, Workers() as workers:
        yield Laboratory(folder=tmp_path_factory.mktemp("crashes"), workers=workers, outside=outside)
