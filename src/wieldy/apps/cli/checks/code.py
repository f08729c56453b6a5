"""Code actions: in which ways code can be isolated on this machine."""

from __future__ import annotations

from wieldy.apps.cli.checks.records import Check
from wieldy.apps.cli.sandbox import isolates_by_default, tier_to_json
from wieldy.core.json import JsonObject


def check_sandbox() -> Check:
    """Which tiers work, and why the others do not; each is tried."""
    from wieldy.sandbox import probe  # noqa: PLC0415 - only this check needs it

    tiers = probe()
    details: JsonObject = {"tiers": [tier_to_json(tier) for tier in tiers]}
    working = ", ".join(tier.name for tier in tiers if tier.works)
    reasons = "; ".join(f"{tier.name} does not work: {tier.reason}" for tier in tiers if not tier.works)
    if isolates_by_default(tiers):
        found = f"code can be isolated by {working}"
        return Check(name="Sandbox", state="good", found="; ".join(filter(None, (found, reasons))), details=details)
    found = f"no kernel isolates code here{f', and of the others {working} works' if working else ''}: {reasons}"
    advice = "Only `--actions code` and `wieldy exec` need it."
    return Check(name="Sandbox", state="note", found=found, details=details, advice=advice)
