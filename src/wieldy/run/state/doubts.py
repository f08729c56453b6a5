"""Calls of which nobody knows whether their effect took place: those of a run, and those that runs within it left.

A call is in doubt when it ended without an outcome (its process died, it gave no answer in time), until the model has
been told of its outcome, or a repeat of it has succeeded. Deliberately not here: which call is a repeat (`run.repeats`)
and what the runs around one do not know (`run.tree`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.run.state.records import CallState


class Doubt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call of which nobody knows whether its effect took place.

    Attributes:
        ref: The run's id and the call's, with a `/` between them.
        names: The tool that was at work, then the one that the model asked for; each after the tools whose calls
            started the runs around it, with a `/` behind each.
        origins: Where the code that was started comes from, the last one last.
        arguments: As validated.
        idempotency_key: Under which the tool was at work.
        started: When, in seconds since the epoch.
        came_late: Whether it has ended since, without the model knowing.
    """

    ref: str
    names: tuple[str, ...]
    origins: tuple[str, ...]
    arguments: dict[str, Any]
    idempotency_key: str
    started: float = 0.0
    came_late: bool = False

    @property
    def run_id(self) -> str:
        """The run that it is a call of."""
        return self.ref.rpartition("/")[0]

    @property
    def call_id(self) -> str:
        """The call, within its run."""
        return self.ref.rpartition("/")[2]

    def seen_from(self, run_id: str) -> str:
        """How this run calls it: by the call's id if it is its own, else by both."""
        return self.call_id if self.run_id == run_id else self.ref


class Doubts:
    """Those of one run, in the order in which they came to be.

    Attributes:
        open: By their references.
        settled: Those of runs around this one that are known since, because of a call in this run or within it.
    """

    def __init__(self) -> None:
        self.settled: list[str] = []
        self.open: dict[str, Doubt] = {}

    def __iter__(self) -> Iterator[Doubt]:
        return iter(self.open.values())

    def add(self, doubt: Doubt) -> None:
        """Nobody knows how this call ended."""
        self.open[doubt.ref] = doubt

    def came_late(self, ref: str) -> None:
        """The call has ended, and the model does not know yet."""
        if ref in self.open:
            self.open[ref] = replace(self.open[ref], came_late=True)

    def settle(self, refs: Iterable[str], *, run_id: str) -> None:
        """It is known how these ended, as far as they were in doubt."""
        for ref in refs:
            if self.open.pop(ref, None) is None and ref.rpartition("/")[0] != run_id and ref not in self.settled:
                self.settled.append(ref)

    def take(self, left: dict[str, Any], *, run_id: str) -> None:
        """What a run within this one left, as an entry holds it.

        Raises:
            KeyError, ValueError: It is something else.
        """
        try:
            doubts, settled = convert(left["doubts"], list[Doubt]), convert(left["settled"], list[str])
        except ValidationError as error:
            raise ValueError(str(error)) from error
        self.settle(settled, run_id=run_id)
        for doubt in doubts:
            self.add(doubt)


def left_to_json(doubts: Iterable[Doubt], settled: Iterable[str]) -> JsonObject:
    """What a run leaves to the one around it, as an entry holds it."""
    return {"doubts": to_builtins(list(doubts)), "settled": list(settled)}


def reference(call_id: str, run_id: str) -> str:
    """A call, named so that every run knows which it is; what is named so already is left as it is."""
    return call_id if "/" in call_id else f"{run_id}/{call_id}"


def doubt_about(call: CallState, run_id: str) -> Doubt:
    """The doubt about a call of this run whose code was started."""
    worked, asked = call.tool_name or "", call.call.name or ""
    return Doubt(
        ref=reference(call.call.id, run_id),
        names=(worked,) if worked == asked else (worked, asked),
        origins=call.origins,
        arguments=call.arguments or {},
        idempotency_key=call.idempotency_key or "",
        started=call.started or 0.0,
    )
