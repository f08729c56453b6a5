"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.core.json import JsonObject

State: TypeAlias = Literal["good", "note", "lacking"]
"""`lacking`: the main job cannot run without it. `note`: worth knowing; at most something else needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at.

    Attributes:
        found: What is there, for people.
        details: The same for machines.
        advice: What to do about a lack; None if nothing need be done.
    """

    name: str
    state: State
    found: str
    details: JsonObject
    advice: str | None = None


def megabytes(size_bytes: int) -> str:
    """A size as people write sizes of files."""
    return f"{size_bytes / 1e6:,.0f} MB"


def gigabytes(size_bytes: int) -> str:
    """A size as people write sizes of memory and disks."""
    return f"{size_bytes / 1e9:,.1f} GB"
