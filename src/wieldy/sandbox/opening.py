"""Opening a sandbox: the tier that was named or the strongest that works here, never a weaker one than was named."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from wieldy.core.errors import SandboxTierError, UsageError
from wieldy.sandbox.containers import open_container
from wieldy.sandbox.limits import SandboxLimits
from wieldy.sandbox.monty import open_monty
from wieldy.sandbox.options import Opened, Options
from wieldy.sandbox.outcome import Tier
from wieldy.sandbox.session import Session
from wieldy.sandbox.tiers import BY_KERNEL, ISOLATES, LEAVES, TIERS, StartError, TierName


@asynccontextmanager
async def open_session(
    tier: TierName | Sequence[TierName] | None = None,
    *,
    limits: SandboxLimits | None = None,
    packages: Sequence[str] = (),
    python: str | None = None,
    readable: Sequence[str] = (),
    image: str | None = None,
) -> AsyncGenerator[Session]:
    """A sandbox, closed at the end with everything in it.

    Args:
        tier: How to isolate code; of several, the first that works here. None takes the strongest in which a kernel
            isolates. `Session.tier` says which it is.
        limits: Of each run.
        packages: Imported once, before code runs, and shared by all runs: `numpy`, `pandas`, `matplotlib`. With any,
            the code can read all packages of the interpreter's environment: give it one of its own.
        python: The interpreter, 3.11 or later; None is the one that runs this program, and in a container `python3`.
        readable: Further files and directories that the code may read.
        image: Of a container, which must be here already; None is `python:3-slim`.

    Raises:
        SandboxTierError: The tier does not work on this machine, or none does; with the reason.
        UsageError: There is no such tier, it does not have what is asked for, or an argument is none of what it may be.
    """
    tiers = _tiers_of(tier)
    _check_names(packages=packages, readable=readable)
    _check_texts(python=python, image=image)
    _check_paths(readable)
    if limits is not None and not isinstance(limits, SandboxLimits):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"limits: expected SandboxLimits, found {limits!r:.100}")
    options = Options(
        limits=limits or SandboxLimits(),
        packages=tuple(packages),
        python=None if python is None else str(python),
        readable=tuple(map(str, readable)),
        image=image,
    )
    session = await _first_of(tiers, options)
    try:
        yield session
    finally:
        await session.close()


def _tiers_of(tier: TierName | Sequence[TierName] | None) -> tuple[TierName, ...]:
    if tier is None:
        return BY_KERNEL
    given: object = (tier,) if isinstance(tier, str) else tier  # what is written may be anything
    is_list = isinstance(given, Sequence)  # pyright: ignore[reportUnnecessaryIsInstance]
    named = tuple(cast("Sequence[TierName]", given)) if is_list else ()
    if not named or not all(each in TIERS for each in named):
        raise UsageError(f"expected a tier or several of {', '.join(TIERS)}, found {tier!r}")
    return named


def _check_names(**given: object) -> None:
    for name, value in given.items():
        is_list = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        if not is_list or not all(isinstance(each, str | Path) for each in cast("Sequence[object]", value)):
            raise UsageError(f"{name}: expected a list of texts, found {value!r:.100}")


def _check_texts(**given: object) -> None:
    for name, value in given.items():
        if value is not None and not isinstance(value, str | Path):
            raise UsageError(f"{name}: expected a text, found {value!r:.100}")


def _check_paths(readable: Sequence[str]) -> None:
    for path in map(Path, readable):
        if not path.is_absolute() or not path.exists() or path.resolve() == Path("/"):
            raise UsageError(f"readable: {str(path)!r} must be the absolute path of something that is there, and not /")


async def _first_of(tiers: Sequence[TierName], options: Options) -> Session:
    reasons: dict[str, str] = {}
    for tier in tiers:
        try:
            return await _begin(tier, options)
        except StartError as error:
            reasons[tier] = str(error)
    said = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    raise SandboxTierError(f"code cannot be isolated on this machine as asked. {said}", reasons=reasons)


async def _begin(tier: TierName, options: Options) -> Session:
    opened = await _opened(tier, options)
    found = Tier(name=tier, works=True, isolates=ISOLATES[tier], leaves=LEAVES[tier], notes=opened.notes)
    session = Session(found, opened, options.limits)
    try:
        await session.check()
    except BaseException:
        await session.close()
        raise
    return session


async def _opened(tier: TierName, options: Options) -> Opened:
    if tier == "monty":
        return await open_monty(options)
    if tier in ("podman", "docker"):
        return await open_container(tier, options)
    if sys.platform != "linux":
        raise StartError(f"it needs Linux, and this is {sys.platform}")
    try:
        from wieldy.sandbox.jail import open_jail  # noqa: PLC0415 - parts of it are not there on every system
    except ImportError as error:
        raise StartError(f"this Python lacks what it needs: {error}") from None
    return await open_jail(tier, options)
