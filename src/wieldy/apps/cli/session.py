"""One run from the command line, from its options to its exit code.

Deliberately not here: how events look (`event_view`, `event_json`) and what is allowed (`asking`).
"""

from __future__ import annotations

import asyncio
import shlex
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import anyio

from wieldy.agent import Agent
from wieldy.apps.cli.asking import AskingPolicy
from wieldy.apps.cli.download import fetch_embedded
from wieldy.apps.cli.event_json import JsonEvents
from wieldy.apps.cli.event_view import EventView
from wieldy.apps.cli.failures import INTERRUPTED, note
from wieldy.apps.cli.journals import default_journal, open_for_reading
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.core.errors import RunError, UsageError
from wieldy.core.events import CallFinished, RunEvent, RunStarted
from wieldy.core.limits import Limits
from wieldy.run.executor import first_of
from wieldy.run.policy import allow_all
from wieldy.run.state import CallState, fold


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What `wieldy run` was asked to do."""

    prompt: str
    model: str
    tools_files: tuple[Path, ...]
    journal: Path | None
    strategy: Literal["guided", "native"] | None
    turns: int | None
    ask: bool
    json: bool
    instructions: str | None


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


class Watched:
    """An output that remembers which run it shows, and whether a tool failed in it."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.run_id: str | None = None
        self.tool_failed = False

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        if isinstance(event, RunStarted):
            self.run_id = event.run_id
        if isinstance(event, CallFinished) and event.result.layer == "tool":
            self.tool_failed = True
        self.output.show(event)


def answer(session: Session) -> int:
    """Run the prompt, show it, and return the exit code.

    Raises:
        WieldyError: The run could not begin or not go on; a note names the run if there is one.
    """
    watched = Watched(JsonEvents() if session.json else EventView(out()))
    try:
        _watch(_agent(session, watched.output), session.prompt, watched)
    except KeyboardInterrupt as interrupt:
        watched.output.fail(interrupt, run_id=watched.run_id)
        watched.output.close()
        note(_interrupted(session, watched.run_id))
        return INTERRUPTED
    except Exception as error:
        watched.output.fail(error, run_id=watched.run_id)
        if watched.run_id is not None:
            error.add_note(f"What happened up to here is recorded: {_show_command(session, watched.run_id)}")
        raise
    finally:
        watched.output.close()
    if watched.run_id is not None and watched.tool_failed:
        _tell_of_crashes(session, watched.run_id)
    return 0


def _agent(session: Session, output: Output) -> Agent:
    if not session.prompt.strip():
        raise UsageError("PROMPT is empty. Write what the model shall do.")
    agent = Agent(
        session.model,
        tools=[load_tools(session.tools_files)],
        instructions=session.instructions,
        journal=session.journal or default_journal(),
        limits=Limits() if session.turns is None else Limits(turns=session.turns),
        policy=AskingPolicy(before_question=output.make_room) if session.ask else allow_all,
        strategy=session.strategy,
    )
    # Last, because it may take minutes and everything else that can be wrong is known by then.
    if session.model.strip().lower() == "local":
        fetch_embedded()
    return agent


def _watch(agent: Agent, prompt: str, watched: Watched) -> None:
    try:
        anyio.run(_stream, agent, prompt, watched)
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


async def _stream(agent: Agent, prompt: str, watched: Watched) -> None:
    def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        error = context.get("exception")
        if isinstance(error, Exception):  # anything else has ended the run, and is told there
            watched.output.make_room()
            note(f"Something that a tool left running failed: {type(error).__name__}: {error}")

    # asyncio would print a traceback.
    asyncio.get_running_loop().set_exception_handler(tell)
    async with aclosing(agent.stream(prompt)) as events:
        async for event in events:
            watched.show(event)


def _tell_of_crashes(session: Session, run_id: str) -> None:
    """Say where the tracebacks are: neither the model nor who reads along has seen them."""
    journal = open_for_reading(session.journal)
    calls = fold(journal.read(run_id)).calls if journal else ()
    # What a tool says itself is a failure of the tool too, but has no traceback.
    crashed = dict.fromkeys(call.call.name or "" for call in calls if call.detail and _is_of_tool(call))
    if crashed:
        command = _show_command(session, run_id)
        note(f"The code of {', '.join(f'`{name}`' for name in crashed)} crashed; see the traceback: {command}")


def _is_of_tool(call: CallState) -> bool:
    return call.result is not None and call.result.layer == "tool"


def _interrupted(session: Session, run_id: str | None) -> str:
    if run_id is None:
        return "Interrupted before the run began."
    return f"Interrupted run {run_id}. What happened up to here is recorded: {_show_command(session, run_id)}"


def _show_command(session: Session, run_id: str) -> str:
    journal = "" if session.journal is None else f" --journal {shlex.quote(str(session.journal))}"
    return f"wieldy show {run_id}{journal}"
