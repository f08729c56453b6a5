"""What every test may rely on."""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from wieldy.connect.models.weights import SMALLEST, find
from wieldy.grammar import Tokenizer

# A deadline would be a wall clock in every law, and whatever else runs on the machine would break it.
settings.register_profile("wieldy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wieldy")

# Lines are fitted to it where it is set, and whatever runs the tests may set it.
os.environ.pop("COLUMNS", None)

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
    services = _script("services")
    reason = services.why_no_postgres()
    if reason is not None:
        pytest.skip(reason)
    with services.running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def vocabulary_of() -> Callable[[str], Tokenizer]:
    """A model family's real vocabulary by its name; the test is skipped, with the reason, where it was not fetched."""
    fetched, known = _script("fetch_tokenizers"), dict[str, Tokenizer]()

    def vocabulary(name: str) -> Tokenizer:
        if name not in known:
            path = fetched.find(name)
            if path is None:
                pytest.skip(f"the vocabulary {name} is not on this machine: python scripts/fetch_tokenizers.py {name}")
            ends = fetched.VOCABULARIES[name].end_tokens
            known[name] = Tokenizer.of_json(path.read_text(encoding="utf-8"), end_token=ends)
        return known[name]

    return vocabulary


def _script(name: str) -> ModuleType:
    path = Path(__file__).parent.parent / "scripts" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module


def pytest_runtest_setup(item: pytest.Item) -> None:
    """So is every other test that is marked `model`."""
    if item.get_closest_marker("model") and find(SMALLEST) is None:
        pytest.skip(NO_MODEL)
