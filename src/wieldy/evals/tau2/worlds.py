"""An environment of a task, and what agent and user do in it.

Law: the same calls in the same order leave the same databases. Deliberately not here: who calls what (`conversations`),
and what is right (`judging`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from wieldy.core.errors import ToolError
from wieldy.evals.tau2.databases import changes, fresh, shared
from wieldy.tools.from_schema import tool_from_schema

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition
    from wieldy.core.context import Context
    from wieldy.core.json import JsonObject
    from wieldy.evals.tau2.package import Domain
    from wieldy.tools import Tool

Requestor: TypeAlias = Literal["assistant", "user"]


class Done(NamedTuple):
    """A call that was carried out."""

    requestor: Requestor
    name: str
    arguments: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class TauWorld:
    """The environment of one task.

    Attributes:
        environment: The benchmark's own.
    """

    domain: Domain
    task: Any
    environment: Any = field(init=False)

    def __post_init__(self) -> None:
        self.environment = _fresh(self.domain)
        state = self.task.initial_state
        if state is not None:
            said: list[Any] = state.message_history or []
            self.environment.set_state(state.initialization_data, state.initialization_actions, said)

    def carry_out(self, call: Done) -> str:
        """What the call brought, as the benchmark writes it.

        Raises:
            ToolError: The tool says no.
        """
        made = self.domain.messages.ToolCall(
            id="", name=call.name, arguments=dict(call.arguments), requestor=call.requestor
        )
        with self._reading(call):
            answer = self.environment.get_response(made)
        if answer.error:
            raise ToolError(str(answer.content).removeprefix("Error: "))
        return str(answer.content)

    @contextmanager
    def _reading(self, call: Done) -> Generator[None]:
        """What only reads is shown tables that do not copy what is read: searching goes through all of it."""
        kit = self._kit(call.requestor)
        if kit is None or call.name not in kit.tools or kit.tool_type(call.name).value != "read":
            yield
            return
        database, kit.db = kit.db, shared(kit.db)
        try:
            yield
        finally:
            kit.db = database

    def _kit(self, requestor: Requestor) -> Any:
        return self.environment.tools if requestor == "assistant" else self.environment.user_tools

    def carry_out_all(self, calls: Iterable[Done]) -> list[str]:
        """What those that failed said."""
        failed = list[str]()
        for call in calls:
            try:
                self.carry_out(call)
            except ToolError as error:
                failed.append(f"{call.name}: {error}")
        return failed

    def changes(self) -> tuple[str, ...]:
        """How its databases differ from what they were at the beginning, whoever changed them."""
        kits = (self.environment.tools, self.environment.user_tools)
        befores = self.domain.databases.values()
        return tuple(changes(kit.db, before) for kit, before in zip(kits, befores, strict=False))

    def tools(self, requestor: Requestor) -> list[Tool]:
        """What the agent, or the user, may call."""
        kit = self._kit(requestor)
        return [self._tool(kit, each, requestor) for each in self.domain.definitions[requestor].values()]

    def _tool(self, kit: Any, definition: ToolDefinition, requestor: Requestor) -> Tool:
        name = definition.name

        async def carry_out(arguments: JsonObject, context: Context) -> object:
            del context
            return self.carry_out(Done(requestor, name, arguments))

        effect = "unsafe" if kit.tool_type(name).value == "write" else "read"
        return tool_from_schema(definition, carry_out, origin=f"tau2:{self.domain.name}.{name}", effect=effect)


def gold_calls(task: Any) -> list[Done]:
    """What the task says is to be done, in its order."""
    criteria = task.evaluation_criteria
    actions: Sequence[Any] = () if criteria is None else criteria.actions or ()
    return [Done(action.requestor, action.name, action.arguments) for action in actions]


def _fresh(domain: Domain) -> Any:
    """An environment with databases of its own."""
    return domain.module.get_environment(**{name: fresh(database) for name, database in domain.databases.items()})
