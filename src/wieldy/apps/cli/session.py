"""One run watched from the command line, from its recipe to its exit code; new and resumed ones alike.

Deliberately not here: the events (`watching`), how they look (`event_view`, `event_json`), what is asked (`asking`),
and what a run that is resumed was started with (`recipe`).
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from wieldy.agent import Agent
from wieldy.apps.cli.asking import Approver, ask_about_effects, can_ask
from wieldy.apps.cli.download import fetch_embedded
from wieldy.apps.cli.event_json import JsonEvents
from wieldy.apps.cli.event_view import EventView
from wieldy.apps.cli.failures import INTERRUPTED, note
from wieldy.apps.cli.journals import default_journal, open_for_reading
from wieldy.apps.cli.next_commands import NextCommands
from wieldy.apps.cli.recipe import Recipe
from wieldy.apps.cli.services import load_services
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.apps.cli.untrusted import one_line
from wieldy.apps.cli.watching import Begin, View, Watched, watch
from wieldy.core.errors import SkillNotOfferedWarning, UsageError
from wieldy.core.events import RunResult
from wieldy.core.outputs import Incomplete, Output
from wieldy.run.policy import allow_all
from wieldy.run.prices import PRICES, price_of
from wieldy.run.state import CallState, fold
from wieldy.tools import Toolset

OF_THE_LOOP = frozenset({"finish", "read_result", "python"})
"""Tools that no file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A run to watch.

    Attributes:
        journal: As `--journal` was given, if it was.
        asks_now: Whether somebody at the terminal is asked; if not, it is as if nobody sat there.
        run_id: The run, if it is not a new one.
        tools_before: The names of the tools that it was shown before.
        output: What the answer must be; None for any text.
    """

    recipe: Recipe
    journal: str | None
    asks_now: bool
    json: bool
    instructions: str | None = None
    run_id: str | None = None
    tools_before: tuple[str, ...] = ()
    output: Output | None = None

    def watch(self, begin: Begin) -> int:
        """Show the run until it ends or rests, and return the exit code.

        Raises:
            WieldyError: The run could not begin or not go on; a note names the run if there is one.
        """
        watched = Watched(self._view(), self.run_id)
        try:
            with _telling_of_skills():
                watch(self._agent(watched.output), begin, watched)
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
        return self._exit_code(watched)

    def _exit_code(self, watched: Watched) -> int:
        refused = None if watched.result is None else watched.result.output
        if not isinstance(refused, Incomplete):
            return 0
        note(f"The answer is not what it must be. {refused.error}")
        return 1

    def _view(self) -> View:
        if self.json:
            return JsonEvents()
        return EventView(out(), asks=not self.recipe.pauses or (self.asks_now and can_ask()))

    def _agent(self, view: View) -> Agent:
        recipe = self.recipe
        if recipe.model is None:
            raise UsageError("The model of this run is not recorded. Name it with --model.")
        tools, services = (
            load_tools(recipe.tools_files),
            load_services(mcp=recipe.mcp, openapi=recipe.openapi, asks=not recipe.pauses, before_note=view.make_room),
        )
        if not services:  # what those offer is known once they are reached
            self._tell_of_missing(tools)
        agent = Agent(
            recipe.model,
            tools=[tools, *services],
            instructions=self.instructions,
            journal=self.journal or default_journal(),
            limits=recipe.limits,
            policy=ask_about_effects if recipe.asks else allow_all,
            approver=Approver(
                asks=self.asks_now,
                pauses=recipe.pauses,
                advice=f"Add {'--yes to let such calls run, or ' if recipe.asks else ''}--pause to decide later.",
                before_question=view.make_room,
            ),
            strategy=recipe.strategy,
            actions=recipe.actions,
            skills=recipe.skills,
            output=self.output,
            metadata=recipe.to_metadata(),
        )
        _check_price(recipe, agent.model.name)
        # Last, because it may take minutes and everything else that can be wrong is known by then.
        if recipe.model.strip().lower() == "local":
            fetch_embedded()
        return agent

    def _tell_of_missing(self, tools: Toolset) -> None:
        names = {tool.name for tool in tools.tools} | OF_THE_LOOP | self._skill_names()
        missing = [f"`{name}`" for name in self.tools_before if name not in names]
        if missing:
            note(f"The run had {', '.join(missing)} before, which these files do not hold: a call of it will fail.")

    def _skill_names(self) -> set[str]:
        if self.recipe.skills is None:
            return set()
        # Imported here because only a run with skills needs the sandbox.
        from wieldy.run.actions.code.skills.store import SkillStore  # noqa: PLC0415

        return {skill.name for skill in SkillStore(self.recipe.skills).kept().newest}

    def _conclude(self, watched: Watched) -> None:
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
        return f"Interrupted run {run_id}; it is recorded.\n{self._recorded(run_id)}"

    def _recorded(self, run_id: str) -> str:
        return f"See what happened: {self._commands.show(run_id)}\nGo on with it: {self._commands.resume(run_id)}"

    @property
    def _commands(self) -> NextCommands:
        return NextCommands(journal=self.journal)


@contextmanager
def _telling_of_skills() -> Generator[None]:
    """Why a skill is not offered is said to who started the run, in words, as often as it is so."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", SkillNotOfferedWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, SkillNotOfferedWarning):
                note(str(message))
            else:
                others(message, category, *rest)

        warnings.showwarning = show
        yield


def _check_price(recipe: Recipe, model_name: str) -> None:
    # A run would refuse as well, but in the words of a program.
    if recipe.limits.cost_usd is not None and price_of(PRICES, model_name) is None:
        raise UsageError(
            f"--cost needs the price of {one_line(model_name, limit=100)}, which is not known. Leave --cost out; a "
            "program can name prices: Agent(prices=...)."
        )


def _is_of_tool(call: CallState) -> bool:
    return call.result is not None and call.result.layer == "tool"
