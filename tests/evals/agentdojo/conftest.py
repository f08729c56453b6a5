"""A small benchmark in the shape of AgentDojo's package, which hides an installed one as long as it is used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parent / "sample"


@pytest.fixture
def sample() -> Iterator[Path]:
    modules = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "agentdojo"}
    paths = [*sys.path]
    yield SAMPLE
    for name in [name for name in sys.modules if name.partition(".")[0] == "agentdojo"]:
        del sys.modules[name]
    sys.modules.update(modules)
    sys.path[:] = paths
