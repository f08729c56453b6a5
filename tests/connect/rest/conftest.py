"""A server on this machine that records what it is sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules that these tests share; there are no packages in tests
from rest_recorder import Recorder, recording


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with recording() as running:
        yield running
