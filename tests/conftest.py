"""What every test may rely on."""

from pathlib import Path

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


def pytest_runtest_setup(item: pytest.Item) -> None:
    """So is every other test that is marked `model`."""
    if item.get_closest_marker("model") and find(SMALLEST) is None:
        pytest.skip(NO_MODEL)
