"""A recorded run made ready to go on: what it was started with, and what is changed now.

A run that is over is told again, for which neither its model nor its tools are needed. Deliberately not here: watching
it go on (`session`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from wieldy.apps.cli.event_json import result_to_json
from wieldy.apps.cli.facts import STOP_WORDS, used
from wieldy.apps.cli.failures import note, telling_in_json
from wieldy.apps.cli.journals import find_run, open_for_reading
from wieldy.apps.cli.json_lines import print_json
from wieldy.apps.cli.outputs import value_of, wanted_of
from wieldy.apps.cli.recipe import Recipe
from wieldy.apps.cli.session import Session
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.untrusted import neutralise
from wieldy.connect.serving.calls import CLIENT
from wieldy.core.errors import UsageError
from wieldy.core.events import RunResult
from wieldy.run.journal import verify
from wieldy.run.nested import root_of
from wieldy.run.state import RunState, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wieldy.apps.cli.described import Described
    from wieldy.core.ports import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is not as the run was started with.

    Attributes:
        tools_files: In place of all recorded ones; empty for those.
        mcp: As that.
        openapi: As that.
        yes: Nobody is asked before calls that change something.
        pause: Nobody is asked now: such calls wait.
    """

    model: str | None
    tools_files: tuple[Path, ...]
    mcp: tuple[str, ...]
    openapi: Described | None
    yes: bool
    pause: bool


def go_on(run: str, changes: Changes, *, journal: str | None, json: bool) -> int:
    """Resume the run, show it, and return the exit code.

    Raises:
        UsageError: There is no such run, or what it needs is not known or not there.
        RunError: It cannot go on; another process is at work on it, or its record was changed.
    """
    with telling_in_json(if_=json):  # from then on the session does
        entries = _entries(run, journal)
        state = fold(entries)
        if state.status == "finished":
            _tell_again(state, json=json)
            return 0
        session = Session(
            recipe=_recipe(state, changes),
            journal=journal,
            asks_now=not changes.pause,
            json=json,
            run_id=state.run_id,
            tools_before=_tool_names(entries),
            output=wanted_of(state),
        )
    return session.watch(lambda agent: agent.stream_resumed(state.run_id))


def _entries(run: str, journal: str | None) -> Sequence[Entry]:
    """Those of the run that is meant, or of the one that has started it: a nested run goes on with its parent."""
    recorded = open_for_reading(journal)
    run_id = find_run(recorded, run)
    entries = recorded.read(run_id) if recorded else ()
    state = fold(entries)
    root = root_of(recorded, state) if recorded and state.status != "finished" else state
    if recorded and root is not state:
        note(f"Run {run_id} goes on with the one that started it, run {root.run_id}.")
        entries = recorded.read(root.run_id)
    verify(entries)
    return entries


def _recipe(state: RunState, changes: Changes) -> Recipe:
    if state.model == CLIENT:
        raise UsageError(
            f"Run {state.run_id} is a call that a client made, and only the server that it came to can go on with it: "
            "when the client makes the same call again."
        )
    known = Recipe.from_metadata(state.metadata, mcp=changes.mcp, openapi=changes.openapi)
    if known is None and changes.model is None:
        raise UsageError(
            f"Run {state.run_id} was not started by `wieldy run`, so how to reach its model ({state.model}) is not "
            "recorded, nor where its tools are. Name them with --model and --tools."
        )
    known = known or Recipe(model=None)
    if not changes.tools_files:
        _check_files(known.tools_files)
    return replace(
        known,
        model=changes.model or known.model,
        tools_files=changes.tools_files or known.tools_files,
        asks=known.asks and not changes.yes,
        pauses=known.pauses or changes.pause,
    )


def _check_files(files: Iterable[Path]) -> None:
    gone = [str(file) for file in files if not file.is_file()]
    if gone:
        raise UsageError(
            f"The run was started with the tools in {' and '.join(gone)}, where no file is now. Put it back, or name "
            "with --tools all files that hold the run's tools."
        )


def _tool_names(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Which tools the model was shown, as far as the record tells."""
    first = next(iter(entries), None)
    tools = first.data.get("tools") if first is not None else None
    named = [tool.get("name") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return tuple(name for name in named if isinstance(name, str))


def _tell_again(state: RunState, *, json: bool) -> None:
    stop_reason = state.stop_reason or "answered"
    if json:
        result = RunResult(
            run_id=state.run_id,
            text=state.text,
            stop_reason=stop_reason,
            usage=state.usage,
            messages=state.messages,
            output=value_of(state),
            closed_by_budget=state.is_closed_by_budget,
            forced=state.forced,
        )
        print_json(result_to_json(result))
    else:
        facts = [STOP_WORDS[stop_reason], *used(calls=len(state.calls), usage=state.usage), f"run {state.run_id}"]
        if state.text.strip():
            out().block(Text(neutralise(state.text)))
        else:
            out().block(Text("(The model gave no text.)", style="dim"))
        out().print()
        out().block(Text(" · ".join(facts), style="dim"))
    note(f"Run {state.run_id} was finished already; this is its answer again.")
