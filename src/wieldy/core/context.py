"""What a tool's code may know about the call that it serves, and say while it runs.

A parameter annotated `Context` receives it and is never shown to the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import UsageError
from wieldy.core.influence import Sources
from wieldy.core.limits import Limits, Usage, usable
from wieldy.core.record import Record

if TYPE_CHECKING:
    from wieldy.core.ports import Journal
    from wieldy.core.principals import Principal

Progress = Callable[[str, float | None], None]
Charge = Callable[[Usage], None]

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def _say_nothing(message: str, fraction: float | None) -> None:
    del message, fraction


def charge_nobody(usage: Usage) -> None:
    """For work that nobody pays for."""
    del usage


class Context(Record, frozen=True, kw_only=True):
    """Given to a tool that asks for it.

    Attributes:
        run_id: The run that this call belongs to.
        call_id: The call, unique within the run.
        tool_name: The name by which the model called the tool.
        idempotency_key: The same for every attempt at this call, in any process; for services that take one.
        attempt: Counts from 1.
        principal: On whose behalf the run acts, if that was said.
        tainted_by: The untrusted sources that may have had a part in this call: those that the model had read when it
            asked for it, or of code those whose data had a part in it.
        journal: Where the run is recorded, for runs that this call starts; None outside a run.
        secrets: By name; none is ever shown to the model or recorded.
        masked: Secrets of the runs around this one; kept out of the record as well, and for no tool to use.
        limits_left: What is left of the run's limits, below 0 where something is overdrawn.
        tree: What runs that this call starts share with the run; for the runtime only.
    """

    run_id: str
    call_id: str
    tool_name: str
    idempotency_key: str
    attempt: int = 1
    principal: Principal | None = None
    tainted_by: Sources = ()
    journal: Journal | None = None
    secrets: Mapping[str, str] = _NONE
    masked: Mapping[str, str] = _NONE
    limits_left: Callable[[], Limits] = Limits
    tree: object = None
    on_progress: Progress = _say_nothing
    on_charge: Charge = charge_nobody

    def __repr__(self) -> str:
        shown = ("run_id", "call_id", "tool_name", "idempotency_key", "attempt", "principal", "is_tainted", "journal")
        return f"Context({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def is_tainted(self) -> bool:
        """Whether an untrusted source may have had a part in this call."""
        return bool(self.tainted_by)

    @property
    def limits(self) -> Limits:
        """What is left of the run's limits at this moment, for work that this call starts."""
        return usable(self.limits_left())

    def progress(self, message: str = "", *, fraction: float | None = None) -> None:
        """Those who watch the run see how far this call is; callable from any thread.

        Args:
            message: For people.
            fraction: From 0 to 1, if it is known.
        """
        self.on_progress(message, fraction)

    def secret(self, name: str) -> str:
        """The secret of that name; where a result contains it, it is masked.

        Raises:
            UsageError: The run was given no such secret.
        """
        if name not in self.secrets:
            known = ", ".join(map(repr, self.secrets)) or "none"
            raise UsageError(f"Expected a secret that the run was given, found {name!r}; it has {known}.")
        return self.secrets[name]

    def charge(self, usage: Usage) -> None:
        """What this call used of a model counts for the run; callable from any thread."""
        self.on_charge(usage)
