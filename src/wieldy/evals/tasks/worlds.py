"""An environment that is an object of the program's own: a state, tools that act on it, and how it is told as JSON.

What may have changed in the end can be named; whatever else has changed is a side effect that nobody wanted.
Deliberately not here: whether the task was solved, which conditions and checks say of the end state.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from wieldy.evals.tasks.environments import Stage, ToolLike
from wieldy.evals.tasks.identities import identity_of
from wieldy.evals.tasks.parts import check_texts
from wieldy.evals.tasks.pointers import check_pointer, differences, is_within
from wieldy.evals.verdicts.verdict import Verdict, failed
from wieldy.tools import tools_from

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue
    from wieldy.evals.tasks.environments import Environment

State = TypeVar("State")

SIDE_EFFECT: Final = "side-effect"


@dataclass(frozen=True, kw_only=True)  # no slots: with them `World[State](...)` fails before Python 3.12
class World(Generic[State]):
    """A state that tools act on.

    Attributes:
        start: Makes a fresh state, always the same.
        tools: The tools that act on a state.
        look: A state as JSON.
        changes: JSON pointers of what may have changed in the end, `*` for any one step; None: anything may have.
    """

    start: Callable[[], State]
    tools: Callable[[State], Sequence[ToolLike]]
    look: Callable[[State], JsonValue]
    changes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.changes is not None:
            check_texts("World.changes", self.changes)
        for place in self.changes or ():
            check_pointer(place)

    @property
    def identity(self) -> str:
        """A digest of what it begins with, its tools, what may change, and the code of all that."""
        state = self.start()
        look = self.look(state)
        return identity_of(look, tools_from(self.tools(state)).tools, self.changes, self.start, self.tools, self.look)

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[Stage]:
        """A fresh state with its tools."""
        state = self.start()

        async def look() -> JsonValue:
            return self.look(state)

        yield Stage(tools=self.tools(state), look=look)

    def judge(self, end: JsonValue) -> Verdict | None:
        """Which change nobody wanted."""
        unwanted = self._unwanted(end)
        if not unwanted:
            return None
        return failed(f"{SIDE_EFFECT}: {unwanted[0] or 'the whole state'} has changed, and nothing says that it may")

    def measures(self, end: JsonValue) -> Mapping[str, float]:
        """How many places have changed that nobody wanted to change."""
        return {} if self.changes is None else {"effects_named": 1, "side_effects": len(self._unwanted(end))}

    def _unwanted(self, end: JsonValue) -> list[str]:
        changed = () if self.changes is None else differences(self.look(self.start()), end)
        return [pointer for pointer in changed if not any(is_within(pointer, place) for place in self.changes or ())]


def tools_within(environment: Environment | None) -> Sequence[ToolLike] | None:
    """What can be done in the environment; None if it is known only once the environment has begun."""
    if environment is None:
        return ()
    if not isinstance(environment, World):
        return None
    world = cast("World[Any]", environment)
    return world.tools(world.start())
