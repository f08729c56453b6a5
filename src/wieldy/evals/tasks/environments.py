"""What tasks act on besides text: an environment that begins afresh for each trial and is looked at in its end.

The look is recorded as a run of its own, of one call, behind the model's. So the end state is in the journal like
everything else that a verdict rests on, and nothing has to be carried out again to judge. Law: a look counts for no
measure and no cost of the trial. Deliberately not here: environments (`worlds`, `workspaces`, `sites`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, cast

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.evals.cases.case import PLAIN
from wieldy.evals.cases.recorded import recorded
from wieldy.evals.verdicts.calls_seen import seen
from wieldy.run.policy import allow_all
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools.from_schema import tool_from_schema
from wieldy.tools.present import Presented

if TYPE_CHECKING:
    from wieldy.core.context import Context
    from wieldy.core.json import JsonValue
    from wieldy.core.ports import Entry, Model
    from wieldy.evals.cases.case import Attempt
    from wieldy.evals.verdicts.verdict import Verdict
    from wieldy.tools import Tool, Toolset

LOOK: Final = "end_state"
"""The tool of a run that looks at the end state."""

BESIDE: Final = "beside"
"""The member of a run's metadata by which one is known that is none of the model's doing; its value says whose."""

_DEFINITION: Final = ToolDefinition(
    name=LOOK, description="What the environment is now.", input_schema={"type": "object", "properties": {}}
)

ToolLike: TypeAlias = "Tool | Toolset | Callable[..., object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """An environment at work, for one trial.

    Attributes:
        tools: What the model may do there.
        look: What it is now, as JSON.
    """

    tools: Sequence[ToolLike]
    look: Callable[[], Awaitable[JsonValue]]


class MissingProgramError(UsageError):
    """An environment needs a program that is not on this machine, or does not work here; nothing has begun."""


class Environment(Protocol):
    """What a task acts on."""

    @property
    def identity(self) -> str:
        """A digest of everything that makes it what it is: with another one it is another task."""
        ...

    def begin(self) -> AbstractAsyncContextManager[Stage]:
        """A fresh one, for one trial; it ends with the block."""
        ...

    def judge(self, end: JsonValue) -> Verdict | str | None:
        """What is wrong with what it was in the end: a code, a colon and words; None for nothing."""
        ...

    def measures(self, end: JsonValue) -> Mapping[str, float]:
        """What can be counted of it."""
        ...


class EndState(NamedTuple):
    """What a look found.

    Attributes:
        problem: Why there is none, in words; None where `value` is what was found.
        entries: Of the look, the numbers of those that tell of it.
    """

    value: JsonValue
    problem: str | None = None
    entries: tuple[int, ...] = ()


async def look_at(stage: Stage, attempt: Attempt) -> str:
    """The id of the run that has what was found.

    Raises:
        JournalError: It could not be recorded.
    """
    metadata = {**attempt.metadata, BESIDE: LOOK}
    looking = replace(attempt, model=looking_model(), metadata=metadata, configuration=PLAIN, policy=allow_all)
    return await recorded(looking.agent([look_tool(stage.look)]), LOOKING)


LOOKING: Final = "What is the end state?"
"""What a run is asked that looks."""


def looking_model() -> Model:
    """Looks at the end state, once."""
    return ScriptedModel([[call(LOOK)], [text("That is the end state.")]], name="script:look")


def look_tool(look: Callable[[], Awaitable[JsonValue]]) -> Tool:
    """The tool whose result is what was found; `end_state` reads it from the run's entries."""

    async def carry_out(arguments: JsonObject, context: Context) -> object:
        del arguments, context
        return Presented(text="It is recorded.", structured={"value": await look()})

    return tool_from_schema(_DEFINITION, carry_out, origin="wieldy:end-state", effect="read", retries=0)


def is_beside(entries: Sequence[Entry]) -> bool:
    """Whether these entries are of a run that is none of the model's doing, such as a look."""
    metadata = entries[0].data.get("metadata") if entries else None
    return isinstance(metadata, dict) and BESIDE in metadata


def end_state(entries: Sequence[Entry]) -> EndState:
    """What the look that these entries are of has found."""
    looked = next((made for made in seen(entries).calls.values() if made.result is not None), None)
    if looked is None or looked.result is None:
        return EndState(None, "it was not looked at to the end", tuple(entry.sequence for entry in entries[-1:]))
    if looked.result.get("is_error") is True:
        return EndState(None, str(looked.result.get("content")), looked.entries)
    found = cast("dict[str, Any]", looked.result.get("structured_content") or {})
    return EndState(found.get("value"), entries=looked.entries)
