"""What every test may rely on."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, the event loop that users have."""
    return "asyncio"
