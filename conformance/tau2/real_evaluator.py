"""The benchmark's own evaluator, imported from its wheel beside the environments, with stubs for what talks to models.

For comparison only, in a process of its own. Assertions in words need a judge and are left out, as in ours.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from wieldy.evals.tau2.databases import fresh

PARTS = (("DB", "database"), ("ENV_ASSERTION", "assertion"), ("COMMUNICATE", "not-told"), ("ACTION", "missing-call"))
"""What the reward is a product of, in the order in which our verdicts name the first that fails."""

CRASH = "the evaluator ends with an exception"


class RealEvaluator:
    """The evaluator for one domain, whose environments have been imported.

    Attributes:
        environments: Makes one, with the databases as they were read.
    """

    def __init__(self, wheel: Path, folder: Path, domain: Any) -> None:
        with zipfile.ZipFile(wheel) as archive:
            names = [each for each in archive.namelist() if each.startswith(("tau2/evaluator/", "tau2/config.py"))]
            archive.extractall(folder, names)
        databases = domain.databases.items()
        self.environments = lambda **_: domain.module.get_environment(**{name: fresh(each) for name, each in databases})
        stubs = {
            "loguru": {"logger": _Silent("logger")},
            "pandas": {"DataFrame": None},
            "tau2.registry": {"registry": None},
            "tau2.utils.llm_utils": {"generate": None},
        }
        for name, members in stubs.items():
            module = ModuleType(name)
            module.__dict__.update(members)
            sys.modules[name] = module
        package: Any = import_module("tau2")
        package.__path__ = [*package.__path__, str(folder / "tau2")]
        self._evaluator: Any = import_module("tau2.evaluator.evaluator")
        self._evaluator.registry = SimpleNamespace(get_env_constructor=lambda _: self.environments)
        self._ended: Any = import_module("tau2.data_model.simulation").TerminationReason.USER_STOP
        self._domain = domain

    def verdict(self, task: Any, messages: Sequence[Any]) -> str:
        """What is wrong with a conversation that the customer ended, as our verdicts name it; empty if nothing is."""
        simulation = SimpleNamespace(termination_reason=self._ended, messages=list(messages))
        kinds = self._evaluator.EvaluationType
        try:
            said = self._evaluator.evaluate_simulation(simulation, task, kinds.ALL, False, self._domain.name)
        except Exception:
            return CRASH
        rewards = {each.value: reward for each, reward in (said.reward_breakdown or {}).items()}
        wrong = next((name for part, name in PARTS if rewards.get(part, 1.0) == 0.0), "")
        assert bool(wrong) == (said.reward == 0.0), said
        return wrong


class _Silent(ModuleType):
    """A logger that is told much."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None
