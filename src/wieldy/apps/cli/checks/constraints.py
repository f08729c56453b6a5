"""Constraints: what holds local models to schemas and budgets, and models of the transformers library."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from wieldy.apps.cli.checks.records import Check
from wieldy.core.errors import BudgetError, WieldyError
from wieldy.core.extras import installing
from wieldy.grammar import Guard, Tokenizer, choice


def check_constraints() -> Check:
    """Whether constraints and their budgets work: a small one is made and refused where it cannot fit."""
    found = _version("llguidance")
    try:
        # Found out by doing it: the engine may be there and not of this machine.
        Guard(choice(["yes"]), Tokenizer.of_bytes(), max_tokens=1)
    except BudgetError:
        return Check(
            name="Constraints",
            state="good",
            found=f"schemas, grammars and budgets hold local models (llguidance {found})",
            details={"engine": "llguidance", "version": found, "works": True},
        )
    except WieldyError as error:
        reason = str(error)
    else:
        reason = "a budget that is too small was not refused"
    return Check(
        name="Constraints",
        state="lacking",
        found=f"nothing can hold a local model to a schema: {' '.join(reason.split())}",
        details={"engine": "llguidance", "version": found, "works": False},
        advice=f"Install it: {installing('constrain')}",
    )


def check_transformers() -> Check:
    """Whether models of the transformers library can be used; they are not loaded, which takes seconds."""
    versions = {package: _version(package) for package in ("transformers", "torch")}
    missing = [package for package, found in versions.items() if found is None or find_spec(package) is None]
    if missing:
        return Check(
            name="Transformers",
            state="note",
            found=f"no model named hf:... can be used: {' and '.join(missing)} not installed",
            details={"installed": False, **versions},
            advice=f"Only `--model hf:NAME` needs it: {installing('transformers')}",
        )
    found = ", ".join(f"{package} {number}" for package, number in versions.items())
    return Check(
        name="Transformers",
        state="good",
        found=f"--model hf:NAME can be used ({found})",
        details={"installed": True, **versions},
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
