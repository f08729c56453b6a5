"""The public conformance suite for parsers of calls, run on our formats as its own runner runs any engine."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "conformance" / "canitoolcall" / "run.py"


@pytest.mark.skipif(importlib.util.find_spec("canitoolcall") is None, reason="canitoolcall is not installed")
def test_every_fixture_that_is_not_disputed_passes_strictly_in_every_cut() -> None:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=300, check=False, encoding="utf-8"
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "469 fixtures" in ran.stdout
