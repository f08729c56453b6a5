"""One run watched from the command line, from its recipe to its exit code; new and resumed ones alike.

Deliberately not here: how events look (`event_view`, `event_json`), what is asked (`asking`), and what a run that is
resumed was started with (`recipe`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

from wieldy.agent import Agent
from wieldy.apps.cli.asking import Approver, ask_about_effects, can_ask
from wieldy.apps.cli.download import fetch_embedded
from wieldy.apps.cli.event_json import JsonEvents
from wieldy.apps.cli.event_view import EventView
from wieldy.apps.cli.failures import INTERRUPTED, note
from wieldy.apps.cli.journals import default_journal, open_for_reading
from wieldy.apps.cli.next_commands import NextCommands
from wieldy.apps.cli.recipe import Recipe
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.apps.cli.untrusted import one_line
from wieldy.core.errors import RunError, UsageError
from wieldy.core.events import CallFinished, RunEvent, RunFinished, RunResult, RunStarted
from wieldy.run.executor import first_of
from wieldy.run.policy import allow_all
from wieldy.run.prices import PRICES, price_of
from wieldy.run.state import CallState, fold
from wieldy.tools import Toolset

OF_THE_LOOP = frozenset({"finish", "read_result"})
"""Tools that no file holds."""

Begin = Callable[[Agent], AsyncGenerator[RunEvent]]
"""Begins a run of the agent, or goes on with one."""


class Output(Protocol):
    """Shows one run to somebody."""

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        ...

    def fail(self, error: BaseException, *, run_id: str | None) -> None:
        """Show that the run could not go on; the sentence on standard error is not its business."""
        ...

    def make_room(self) -> None:
        """Let somebody else print."""
        ...

    def close(self) -> None:
        """The last thing that is called, whatever happened."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A run to watch.

    Attributes:
        journal: As `--journal` was given, if it was.
        asks_now: Whether somebody at the terminal is asked; if not, it is as if nobody sat there.
        run_id: The run, if it is not a new one.
        tools_before: The names of the tools that it was shown before.
    """

    recipe: Recipe
    journal: str | None
    asks_now: bool
    json: bool
    instructions: str | None = None
    run_id: str | None = None
    tools_before: tuple[str, ...] = ()

    def watch(self, begin: Begin) -> int:
        """Show the run until it ends or rests, and return the exit code.

        Raises:
            WieldyError: The run could not begin or not go on; a note names the run if there is one.
        """
        watched = _Watched(self._output(), self.run_id)
        try:
            _watch(self._agent(watched.output), begin, watched)
        except KeyboardInterrupt as interrupt:
            watched.output.fail(interrupt, run_id=watched.run_id)
            watched.output.close()
            note(self._interrupted(watched.run_id))
            return INTERRUPTED
        except Exception as error:
            watched.output.fail(error, run_id=watched.run_id)
            if watched.began and watched.run_id is not None:
                error.add_note(self._recorded(watched.run_id))
            raise
        finally:
            watched.output.close()
        self._conclude(watched)
        return 0

    def _output(self) -> Output:
        if self.json:
            return JsonEvents()
        return EventView(out(), asks=not self.recipe.pauses or (self.asks_now and can_ask()))

    def _agent(self, output: Output) -> Agent:
        recipe = self.recipe
        if recipe.model is None:
            raise UsageError("The model of this run is not recorded. Name it with --model.")
        tools = load_tools(recipe.tools_files)
        self._tell_of_missing(tools)
        agent = Agent(
            recipe.model,
            tools=[tools],
            instructions=self.instructions,
            journal=self.journal or default_journal(),
            limits=recipe.limits,
            policy=ask_about_effects if recipe.asks else allow_all,
            approver=Approver(
                asks=self.asks_now,
                pauses=recipe.pauses,
                advice=f"Add {'--yes to let such calls run, or ' if recipe.asks else ''}--pause to decide later.",
                before_question=output.make_room,
            ),
            strategy=recipe.strategy,
            actions=recipe.actions,
            metadata=recipe.to_metadata(),
        )
        _check_price(recipe, agent.model.name)
        # Last, because it may take minutes and everything else that can be wrong is known by then.
        if recipe.model.strip().lower() == "local":
            fetch_embedded()
        return agent

    def _tell_of_missing(self, tools: Toolset) -> None:
        names = {tool.name for tool in tools.tools} | OF_THE_LOOP
        missing = [f"`{name}`" for name in self.tools_before if name not in names]
        if missing:
            note(f"The run had {', '.join(missing)} before, which these files do not hold: a call of it will fail.")

    def _conclude(self, watched: _Watched) -> None:
        if watched.run_id is not None and watched.tool_failed:
            self._tell_of_crashes(watched.run_id)
        if watched.result is not None and watched.result.waiting:
            self._tell_of_waiting(watched.result)

    def _tell_of_crashes(self, run_id: str) -> None:
        """Say where the tracebacks are: neither the model nor who reads along has seen them."""
        journal = open_for_reading(self.journal)
        calls = fold(journal.read(run_id)).calls if journal else ()
        # What a tool says itself is a failure of the tool too, but has no traceback.
        crashed = dict.fromkeys(call.call.name or "" for call in calls if call.detail and _is_of_tool(call))
        if crashed:
            command = self._commands.show(run_id)
            note(f"The code of {', '.join(f'`{name}`' for name in crashed)} crashed; see the traceback: {command}")

    def _tell_of_waiting(self, result: RunResult) -> None:
        lines = ["The run rests until a person has decided:"]
        for request in result.waiting:
            lines.append(f"  {self._commands.approve(request.run_id, request.call_id)}")
            lines.append(f"  {self._commands.deny(request.run_id, request.call_id)}")
        note("\n".join([*lines, f"Then go on with it: {self._commands.resume(result.run_id)}"]))

    def _interrupted(self, run_id: str | None) -> str:
        if run_id is None:
            return "Interrupted before the run began."
        return f"Interrupted run {run_id}. {self._recorded(run_id)}"

    def _recorded(self, run_id: str) -> str:
        return (
            f"What happened up to here is recorded: {self._commands.show(run_id)}\n"
            f"Go on with it: {self._commands.resume(run_id)}"
        )

    @property
    def _commands(self) -> NextCommands:
        return NextCommands(journal=self.journal)


class _Watched:
    """An output that remembers which run it shows, and what became of it."""

    def __init__(self, output: Output, run_id: str | None) -> None:
        self.output = output
        self.run_id = run_id
        self.began = False
        self.tool_failed = False
        self.result: RunResult | None = None

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        self.began = True
        match event:
            case RunStarted():
                self.run_id = event.run_id
            case CallFinished() if event.result.layer == "tool":
                self.tool_failed = True
            case RunFinished():
                self.result = event.result
            case _:
                pass
        self.output.show(event)


def _watch(agent: Agent, begin: Begin, watched: _Watched) -> None:
    try:
        anyio.run(_stream, agent, begin, watched)
    except BaseException as ended:
        cause = first_of(ended)
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from ended
        if isinstance(ended, Exception):
            raise
        # The executor keeps what a tool raises away from the run, but not what a task that the tool started does.
        raise RunError(
            f"A task that a tool started raised {type(cause).__name__} and so ended the whole run. Let the tool catch "
            "what its tasks raise."
        ) from ended


async def _stream(agent: Agent, begin: Begin, watched: _Watched) -> None:
    def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        error = context.get("exception")
        if isinstance(error, Exception):  # anything else has ended the run, and is told there
            watched.output.make_room()
            note(f"Something that a tool left running failed: {type(error).__name__}: {error}")

    # asyncio would print a traceback.
    asyncio.get_running_loop().set_exception_handler(tell)
    async with aclosing(begin(agent)) as events:
        async for event in events:
            watched.show(event)


def _check_price(recipe: Recipe, model_name: str) -> None:
    # A run would refuse as well, but in the words of a program.
    if recipe.limits.cost_usd is not None and price_of(PRICES, model_name) is None:
        raise UsageError(
            f"--cost needs the price of {one_line(model_name, limit=100)}, which is not known. Leave --cost out; a "
            "program can name prices: Agent(prices=...)."
        )


def _is_of_tool(call: CallState) -> bool:
    return call.result is not None and call.result.layer == "tool"
