"""What the main job needs on this machine: each thing is looked at, and every lack says what to do about it.

The main job is a prompt answered by the embedded model. No check changes anything, and none shows a secret.
Deliberately not here: how findings look (`doctor`).
"""

from __future__ import annotations

from collections.abc import Iterator

from wieldy.apps.cli.checks.code import check_sandbox
from wieldy.apps.cli.checks.constraints import check_constraints, check_transformers
from wieldy.apps.cli.checks.local_model import check_embedded_model, check_runtime
from wieldy.apps.cli.checks.machine import check_memory, check_platform, check_python
from wieldy.apps.cli.checks.records import Check, State
from wieldy.apps.cli.checks.settings import check_journal, check_keys, check_postgres

__all__ = ["Check", "State", "all_checks"]


def all_checks() -> Iterator[Check]:
    """Every check, one after the other; some take seconds."""
    yield check_python()
    yield check_platform()
    yield check_memory()
    yield check_runtime()
    yield check_constraints()
    yield from check_embedded_model()
    yield check_keys()
    yield check_journal()
    yield check_postgres()
    yield check_sandbox()
    yield check_transformers()
