"""What every test may rely on."""

import gc
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from wieldy.connect.models.weights import SMALLEST, find
from wieldy.grammar import Tokenizer

from .evals.browser import Browser
from .sandbox.tiers.container_images import Podman, prepared, remove

# A deadline would be a wall clock in every law, and whatever else runs on the machine would break it.
settings.register_profile("wieldy", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("wieldy"), max_examples=1000)  # --hypothesis-profile=long
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
def podman() -> Iterator[Podman]:
    """A store with an image, and the environment set so that podman uses it; skipped, with the reason, without."""
    directory = Path(tempfile.mkdtemp(prefix="wieldy-"))  # pytest's own is too long a path for podman, with xdist
    try:
        found = prepared(directory)
        if found.reason is not None:
            pytest.skip(f"podman: {found.reason}")
        with pytest.MonkeyPatch.context() as environment:
            for name, value in found.environment.items():
                environment.setenv(name, value)
            yield found
    finally:
        remove(directory)


@pytest.fixture(scope="session")
def forked_wieldy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """The command line as `python -W error -m wieldy.apps.cli.main` starts it, without importing it anew each time."""
    if not hasattr(os, "pidfd_open"):  # nothing can wait for a process and for a caller who goes away
        yield sys.executable, "-W", "error", "-m", "wieldy.apps.cli.main"
        return
    folder, place = Path(__file__).parent / "commands", str(tmp_path_factory.mktemp("wieldy") / "socket")
    locale = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
    command = [sys.executable, "-W", "error", str(folder / "forking.py"), place]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=locale) as forking:
        assert forking.stdout is not None
        assert forking.stdout.readline() == b"listening\n"
        yield sys.executable, "-I", "-S", str(folder / "launch.py"), place
        forking.terminate()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server of this session's own; the test is skipped, with the reason, where none can be started."""
    services = _script("services")
    reason = services.why_no_postgres()
    if reason is not None:
        pytest.skip(reason)
    with services.running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser of this module's own; the test is skipped, with the reason, where there is none."""
    services = _script("services")
    program = services.browser_program()
    if program is None or services.why_no_browser() is not None:
        pytest.skip(services.why_no_browser())
    browser = Browser(program)
    try:
        yield browser
    finally:
        browser.close()


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


@pytest.fixture(scope="session")
def npm_server() -> Callable[..., dict[str, Any]]:
    """What a configuration says of an MCP server that others wrote for Node.js; skipped where it was not fetched."""
    fetched = _script("fetch_npm_servers")

    def entry(name: str, *arguments: str, **environment: str) -> dict[str, Any]:
        command = fetched.find(name)
        if command is None:
            reason = "there is no Node.js" if fetched.node() is None else f"{fetched.SERVERS[name]} was not fetched"
            pytest.skip(f"{reason}: python scripts/fetch_npm_servers.py")
        return {"command": command[0], "args": [*command[1:], *arguments], "env": environment}

    return entry


def _script(name: str) -> ModuleType:
    path = Path(__file__).parent.parent / "scripts" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays until the end: looking through it for garbage takes a third of the time of collecting."""
    gc.disable()
    result = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a fifth of the suite's time is waiting, for limits to be reached and servers."""
    return (os.cpu_count() or 1) + 1


def pytest_runtest_setup(item: pytest.Item) -> None:
    """So is every other test that is marked `model`."""
    if item.get_closest_marker("model") and find(SMALLEST) is None:
        pytest.skip(NO_MODEL)
