"""Where code runs that a model acts by, and how far it may go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    from wieldy.run.actions.code.levels import Level
    from wieldy.run.request import RunRequest
    from wieldy.sandbox import SandboxLimits, TierName


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRules:
    """Where code runs, and how far it may go.

    Attributes:
        tier: How it is isolated; of several, the first that works on this machine, and with None the strongest. A
            run does not start where none works.
        limits: Of each action; None for the defaults of the sandbox.
        packages: That are imported before, such as `pandas`; they must be installed where the code runs.
        python: The interpreter that runs the code; None for the one that runs this program.
        image: Of a container, where `tier` is one; it must be on this machine. None for `python:3-slim`.
        taint: How exactly it is known whose data had a part in what code does. `run`: once it has read something of
            strangers, they had one in all. `handles`: it gets what is untrusted as handles that it can pass on, and
            `reveal` gives the value. `tracked`: the code runs in an interpreter that knows it of every value, where it
            is of the kind that can be tracked; other code as in `run`, and the model is told.

    Raises:
        UsageError: `packages` is one text, `taint` is no level, or the tier is one that lacks what tools need.
    """

    tier: TierName | Sequence[TierName] | None = None
    limits: SandboxLimits | None = None
    packages: tuple[str, ...] = ()
    python: str | None = None
    image: str | None = None
    taint: Level = "run"

    def __post_init__(self) -> None:
        if isinstance(self.packages, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a likely mistake
            raise UsageError(f"Expected packages to be names, as in ('pandas',), found {self.packages!r}.")
        if self.taint not in ("run", "handles", "tracked"):  # pyright: ignore[reportUnnecessaryContains]
            raise UsageError(f"Expected taint to be 'run', 'handles' or 'tracked', found {self.taint!r}.")
        tier: object = self.tier
        if tier is not None and not isinstance(tier, str | list | tuple):
            raise UsageError(f"Expected tier to be a name or a list of names, found {tier!r:.100}.")
        if "monty" in ((self.tier,) if isinstance(self.tier, str) else self.tier or ()):
            raise UsageError(
                "Expected a tier with all of Python, in which tools are functions that return data with attributes; "
                "found 'monty', which has no subclasses. Choose another, or run code there with `wieldy.sandbox`."
            )

    def acting(self, request: RunRequest) -> RunRequest:
        """The request of a run that acts by code, made of that of one whose model would call the tools itself."""
        from wieldy.agent.code import acting_by_code  # noqa: PLC0415 - it brings the sandbox, which most runs do not need

        return acting_by_code(request, self)
