"""Code actions: in which ways code can be isolated on this machine."""

from __future__ import annotations

import sys

from wieldy.apps.cli.checks.records import Check
from wieldy.apps.cli.sandbox import tier_to_json
from wieldy.core.json import JsonObject


def check_sandbox() -> Check:
    """Which tiers work, and why the others do not; each is tried."""
    try:
        from wieldy.sandbox import probe  # noqa: PLC0415 - parts of it are not there on every system
    except ImportError as error:
        return _lacking(f"there is no sandbox for {sys.platform} ({error})", {"tiers": []})
    tiers = probe()
    details: JsonObject = {"tiers": [tier_to_json(tier) for tier in tiers]}
    working = [tier.name for tier in tiers if tier.works]
    reasons = "; ".join(f"{tier.name} does not work: {tier.reason}" for tier in tiers if not tier.works)
    if working:
        found = f"code can be isolated by {', '.join(working)}"
        return Check(name="Sandbox", state="good", found="; ".join(filter(None, (found, reasons))), details=details)
    return _lacking(reasons, details)


def _lacking(reasons: str, details: JsonObject) -> Check:
    return Check(
        name="Sandbox",
        state="note",
        found=f"no code can be isolated: {reasons}",
        details=details,
        advice="Only `--actions code` and `wieldy exec` need it.",
    )
