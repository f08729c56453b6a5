"""What an interpreter that knows whose data is whose says beside what every one says, and is told beside that.

Records of the sandbox with labels: the sources named in them are untrusted ones. `None` stands for "it is not known".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall
from wieldy.core.influence import Influence, Sources
from wieldy.run.policy.paths import render_path
from wieldy.sandbox import Failure, GuestCall, Outcome, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping


class LabelledCall(GuestCall, frozen=True, kw_only=True):
    """A call of code, and who had a part in it.

    Attributes:
        error: Why it cannot be made, where it cannot.
    """

    influence: Influence
    error: str | None = None


class LabelledOutcome(Outcome, frozen=True, kw_only=True):
    """What came of code that has ended.

    Attributes:
        tainted_by: Who had a part in its value, and in what it printed.
    """

    tainted_by: Sources


class LabelledReply(Reply, frozen=True, kw_only=True):
    """What a call brought, and whose words it is."""

    tainted_by: Sources = ()


class LabelledFailure(Failure, frozen=True, kw_only=True):
    """How a call failed, and whose words that is."""

    tainted_by: Sources = ()


def asked(call: GuestCall) -> AnyCall:
    """The call as that of a model."""
    if not isinstance(call, LabelledCall):
        return ToolCall(id=str(call.seq), name=call.name, arguments=call.arguments)
    if call.error is not None:
        return InvalidToolCall(id=str(call.seq), name=call.name, text="", error=call.error, influence=call.influence)
    return ToolCall(id=str(call.seq), name=call.name, arguments=call.arguments, influence=call.influence)


def sources_of(outcome: Outcome) -> Sources | None:
    """Who had a part in what code has returned and printed; None where that is not known."""
    return outcome.tainted_by if isinstance(outcome, LabelledOutcome) else None


def sorted_sources(sources: frozenset[str]) -> Sources:
    """In an order that is the same in every process."""
    return tuple(sorted(sources))


def by_path(parts: Mapping[tuple[str, ...], frozenset[str]]) -> dict[str, Sources]:
    """Who had a part in which argument, as calls say it."""
    return {render_path(path): sorted_sources(sources) for path, sources in parts.items() if sources}
