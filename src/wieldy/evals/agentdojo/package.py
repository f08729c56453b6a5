"""The benchmark's own package: its suites, imported without what it needs to talk to models.

It is installed by whoever wants it, without its dependencies, which are a hundred packages for providers' clients; its
suites need three (the extra `agentdojo`). Nothing is fetched here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from wieldy.core.errors import UsageError

VERSION: Final = "0.1.35"
BENCHMARK: Final = "v1.2.2"
"""The newest edition of the tasks in that version of the package."""

_HOW: Final = f'`pip install --no-deps agentdojo=={VERSION}` and `pip install "wieldy[agentdojo]"` bring it.'
_PIPELINE: Final = "agentdojo.agent_pipeline"
_GROUND_TRUTH: Final = f"{_PIPELINE}.ground_truth_pipeline"


def load_suites(place: Path | None = None) -> Mapping[str, Any]:
    """The benchmark's suites by name. They are its own objects, of whose types nothing is known here.

    Args:
        place: A folder in which the package lies, if it is not installed.

    Raises:
        UsageError: It is not there, or something that it needs is not.
    """
    if place is not None and str(place) not in sys.path:
        sys.path.insert(0, str(place))
    spec = importlib.util.find_spec("agentdojo")
    # Any folder of that name on the path is found as well, but has no origin.
    folders = list(spec.submodule_search_locations or ()) if spec is not None and spec.origin is not None else []
    if not folders:
        where = "installed" if place is None else f"in {place}"
        raise UsageError(f"Expected AgentDojo's package `agentdojo` {where}, found none. {_HOW}")
    with _Without(Path(folders[0])):
        try:
            found = importlib.import_module("agentdojo.task_suite.load_suites")
        except ImportError as error:
            raise UsageError(f"AgentDojo's suites cannot be imported: {error}. {_HOW}") from error
    return found.get_suites(BENCHMARK)


def installed_version() -> str:
    """The version of the package; empty where it lies in a folder that does not say."""
    try:
        return version("agentdojo")
    except PackageNotFoundError:
        return ""


class _Without:
    """While the suites are imported, modules stand in for the two that would import every provider's client."""

    def __init__(self, folder: Path) -> None:
        pipeline, ground_truth = ModuleType(_PIPELINE), ModuleType(_GROUND_TRUTH)
        pipeline.__path__ = [str(folder / "agent_pipeline")]
        ground_truth.__dict__["GroundTruthPipeline"] = None  # only their own check of a suite uses it
        self._modules = {_PIPELINE: pipeline, _GROUND_TRUTH: ground_truth}

    def __enter__(self) -> None:
        for name, module in self._modules.items():
            sys.modules.setdefault(name, module)

    def __exit__(self, *_: object) -> None:
        for name, module in self._modules.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
