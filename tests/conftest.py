"""What every test may rely on."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from wieldy.connect.models.weights import SMALLEST, find

NO_MODEL = f"{SMALLEST.name} is not on this machine; `make test` fetches it, or says why it cannot"


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, the event loop that users have."""
    return "asyncio"


@pytest.fixture
def smallest_model() -> Path:
    """The weights of the smallest model; the test is skipped, with the reason, where they cannot be had."""
    path = find(SMALLEST)
    if path is None:
        pytest.skip(NO_MODEL)
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of this session's own; the test is skipped, with the reason, where none can be started."""
    services = _services()
    reason = services.why_no_postgres()
    if reason is not None:
        pytest.skip(reason)
    with services.running_postgres() as server:
        yield server


def _services() -> ModuleType:
    path = Path(__file__).parent.parent / "scripts" / "services.py"
    specification = importlib.util.spec_from_file_location("services", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def pytest_runtest_setup(item: pytest.Item) -> None:
    """So is every other test that is marked `model`."""
    if item.get_closest_marker("model") and find(SMALLEST) is None:
        pytest.skip(NO_MODEL)
