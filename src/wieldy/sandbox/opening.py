"""Opening a sandbox: the tier that was named or the strongest that works here, never a weaker one than was named."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from wieldy.core.errors import SandboxTierError, UsageError
from wieldy.sandbox.inside.linux.rights import NOBODY
from wieldy.sandbox.inside.settings import Settings
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.outcome import Tier
from wieldy.sandbox.session import Session
from wieldy.sandbox.starting import StartError, start_interpreter
from wieldy.sandbox.tiers import ISOLATES, LEAVES, TIERS, TierName


@asynccontextmanager
async def open_session(
    tier: TierName | None = None,
    *,
    limits: SandboxLimits | None = None,
    packages: Sequence[str] = (),
    python: str | None = None,
    readable: Sequence[str] = (),
) -> AsyncGenerator[Session]:
    """A sandbox, closed at the end with everything in it.

    Args:
        tier: How to isolate code; None takes the strongest that works here, and `Session.tier` says which.
        limits: Of each run.
        packages: Imported once, before code runs, and shared by all runs: `numpy`, `pandas`, `matplotlib`. With any,
            the code can read all packages of the interpreter's environment: give it one of its own.
        python: The interpreter, 3.11 or later; None is the one that runs this program.
        readable: Further files and directories that the code may read.

    Raises:
        SandboxTierError: The tier does not work on this machine, or none does; with the reason.
        UsageError: There is no such tier.
    """
    if tier is not None and tier not in TIERS:
        raise UsageError(f"there is no tier {tier!r}: {', '.join(TIERS)}")
    _check_paths(readable)
    session = await _strongest((tier,) if tier else TIERS, limits or SandboxLimits(), packages, python, readable)
    try:
        yield session
    finally:
        await session.close()


def _check_paths(readable: Sequence[str]) -> None:
    for path in map(Path, readable):
        if not path.is_absolute() or not path.exists() or path.resolve() == Path("/"):
            raise UsageError(f"readable: {str(path)!r} must be the absolute path of something that is there, and not /")


async def _strongest(
    tiers: Sequence[TierName],
    limits: SandboxLimits,
    packages: Sequence[str],
    python: str | None,
    readable: Sequence[str],
) -> Session:
    reasons: dict[str, str] = {}
    for tier in tiers:
        try:
            return await _begin(tier, limits, packages, python, readable)
        except StartError as error:
            reasons[tier] = str(error)
    said = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    raise SandboxTierError(f"code cannot be isolated on this machine as asked. {said}", reasons=reasons)


async def _begin(
    tier: TierName, limits: SandboxLimits, packages: Sequence[str], python: str | None, readable: Sequence[str]
) -> Session:
    if sys.platform != "linux":
        raise StartError(f"it needs Linux, and this is {sys.platform}")
    has_namespaces = tier == "jail-ns"
    processes = start_interpreter(python)
    inputs = None if has_namespaces else _directory_for_inputs()
    settings = Settings(
        has_namespaces=has_namespaces,
        packages=tuple(packages),
        memory_bytes=limits.memory_bytes,
        lifetime_cpu_s=limits.lifetime_cpu_s,
        scratch_bytes=limits.files_bytes,
        scratch_files=limits.files,
        file_bytes=limits.file_bytes,
        readable=tuple(readable) if inputs is None else (*readable, str(inputs)),
        directory=None if inputs is None else str(inputs),
    )
    try:
        await processes.begin(settings)
        notes = (f"Landlock version {processes.facts['landlock']}",)
        found = Tier(name=tier, works=True, isolates=ISOLATES[tier], leaves=LEAVES[tier], notes=notes)
        session = Session(found, processes, limits, inputs=inputs)
        await session.check()
    except BaseException:
        await processes.close()
        if inputs is not None:
            shutil.rmtree(inputs, ignore_errors=True)
        raise
    return session


def _directory_for_inputs() -> Path:
    """Where files for the code are put if it has no file system of its own: it may read there, and nobody else may."""
    directory = Path(tempfile.mkdtemp(prefix="wieldy-sandbox-"))
    if os.geteuid() == 0:
        os.chown(directory, 0, NOBODY)
        directory.chmod(0o750)
    return directory
