"""Where code runs that a model acts by, and how far it may go."""

from __future__ import annotations

import sys
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
        tier: How it is isolated; None for the strongest way that works on this machine. A run does not start where
            the named one, or none, works.
        limits: Of each action; None for the defaults of the sandbox.
        packages: That are imported before, such as `pandas`; they must be installed where the code runs.
        python: The interpreter that runs the code; None for the one that runs this program.
        taint: How exactly it is known whose data had a part in what code does. `run`: once it has read something of
            strangers, they had one in all. `handles`: it gets what is untrusted as handles that it can pass on, and
            `reveal` gives the value. `tracked`: the code runs in an interpreter that knows it of every value, where it
            is of the kind that can be tracked; other code as in `run`, and the model is told.

    Raises:
        UsageError: `packages` is one text, or `taint` is no level.
    """

    tier: TierName | None = None
    limits: SandboxLimits | None = None
    packages: tuple[str, ...] = ()
    python: str | None = None
    taint: Level = "run"

    def __post_init__(self) -> None:
        if isinstance(self.packages, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a likely mistake
            raise UsageError(f"Expected packages to be names, as in ('pandas',), found {self.packages!r}.")
        if self.taint not in ("run", "handles", "tracked"):  # pyright: ignore[reportUnnecessaryContains]
            raise UsageError(f"Expected taint to be 'run', 'handles' or 'tracked', found {self.taint!r}.")

    def acting(self, request: RunRequest) -> RunRequest:
        """The request of a run that acts by code, made of that of one whose model would call the tools itself.

        Raises:
            UsageError: There is no sandbox for this system.
        """
        # Imported here because it brings the sandbox, parts of which not every system has.
        try:
            from wieldy.agent.code import acting_by_code  # noqa: PLC0415
        except ImportError as error:
            raise UsageError(f"Code cannot be isolated on {sys.platform}: {error}.") from error
        return acting_by_code(request, self)
