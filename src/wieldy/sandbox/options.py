"""What a sandbox is opened with, and what opening one gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.workers import Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the program asks for, beside the tier.

    Attributes:
        packages: Imported before code runs.
        python: The interpreter; None is the tier's own choice.
        readable: Further files and directories that the code may read.
        image: Of a container; None is the default one.
    """

    limits: SandboxLimits
    packages: tuple[str, ...] = ()
    python: str | None = None
    readable: tuple[str, ...] = ()
    image: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A tier that works.

    Attributes:
        notes: What was found.
        inputs: Where files for the code are put, if it has no file system of its own.
        has_files: Whether code can read files at all.
    """

    workers: Workers
    notes: tuple[str, ...]
    inputs: Path | None = None
    has_files: bool = True
