"""Code run from the command line, from its file to its exit code. Deliberately not here: the command (`execute`)."""

from __future__ import annotations

import base64
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
from rich.text import Text

from wieldy.agent import CodeRules
from wieldy.agent.execute import Executed, execute
from wieldy.agent.parts import journal_of
from wieldy.apps.cli.asking import Approver, ask_about_effects
from wieldy.apps.cli.failures import FAILED, note, say
from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.services import load_services
from wieldy.apps.cli.terminal import out
from wieldy.apps.cli.tools_file import load_tools
from wieldy.apps.cli.untrusted import neutralise
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.run.actions.code.report import calls_made, why_ended
from wieldy.run.policy import allow_all
from wieldy.run.state import fold
from wieldy.sandbox import SandboxLimits
from wieldy.tools import Toolset
from wieldy.tools.attachments import human_size

if TYPE_CHECKING:
    from wieldy.apps.cli.described import Described
    from wieldy.core.ports import Journal
    from wieldy.run.actions.code.ended import Ended
    from wieldy.sandbox import TierName


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be run.

    Attributes:
        file: The code; `-` for standard input.
        journal: As `--journal` was given; without it nothing is kept.
        asks: Whether a person must consent to calls that change something.
    """

    file: Path
    tools_files: tuple[Path, ...]
    mcp: tuple[str, ...]
    openapi: Described | None
    tier: str | None
    packages: tuple[str, ...]
    journal: str | None
    asks: bool


def carry_out(order: Order, *, json: bool) -> int:
    """Run the code, show what came of it, and return the exit code.

    Raises:
        UsageError: The code or the tools cannot be read, or the sandbox does not work here.
    """
    code = _read(order.file)
    journal = journal_of(order.journal)
    if json:
        with JsonLines() as lines:  # what tools print goes to standard error
            executed = anyio.run(_execute, code, order, journal)
            lines.write(to_json(executed, run_id=None if order.journal is None else executed.result.run_id))
    else:
        executed = anyio.run(_execute, code, order, journal)
        _show(executed, journal)
    return 0 if executed.ended is not None and executed.ended.status == "done" else FAILED


def to_json(executed: Executed, *, run_id: str | None) -> JsonObject:
    """What came of the code; `killed_because` is null unless it was ended, `run_id` if the run is not recorded."""
    ended = executed.ended
    if ended is None:
        return {"status": "killed", "killed_because": executed.result.stop_reason, "run_id": run_id}
    return {
        "status": ended.status,
        "value": ended.value,
        "value_repr": ended.value_repr,
        "stdout": ended.stdout,
        "stderr": ended.stderr,
        "error": ended.error,
        "line": ended.line,
        "artifacts": _artifacts(ended),
        "remarks": list(ended.remarks),
        "killed_because": ended.because,
        "calls": executed.result.usage.calls,
        "run_id": run_id,
    }


def _artifacts(ended: Ended) -> list[JsonValue]:
    return [
        {
            "name": file.name,
            "media_type": file.media_type,
            "size_bytes": file.size_bytes,
            "data": None if file.content is None else base64.b64encode(file.content).decode(),
        }
        for file in ended.artifacts
    ]


def _read(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise UsageError(f"{file}: the file cannot be read: {reason}") from error


async def _execute(code: str, order: Order, journal: Journal) -> Executed:
    approver = Approver(
        asks=True, pauses=False, advice="Add --yes to let such calls run.", before_question=lambda: None
    )
    toolset = Toolset([load_tools(order.tools_files), *load_services(mcp=order.mcp, openapi=order.openapi)])
    return await execute(
        code,
        toolset,
        # A name that is no tier is refused by the sandbox, which knows them.
        CodeRules(tier=cast("TierName | None", order.tier), packages=order.packages),
        journal=journal,
        policy=ask_about_effects if order.asks else allow_all,
        approver=approver,
    )


def _show(executed: Executed, journal: Journal) -> None:
    ended, terminal = executed.ended, out()
    if ended is not None:
        terminal.write(neutralise(ended.stdout))
        if ended.stderr:
            note(ended.stderr.rstrip())
        for remark in ended.remarks:
            note(remark)
    if ended is None or ended.status != "done":
        say("\n".join([_failure(executed), *calls_made(fold(journal.read(executed.result.run_id)).calls)]))
        return
    if ended.value_repr is not None:
        terminal.block(Text(neutralise(ended.value_repr)))
    elif ended.value is not None:
        shown = ended.value if isinstance(ended.value, str) else canonical_json(ended.value)
        terminal.block(Text(neutralise(shown)))
    for file in ended.artifacts:
        where = "; --json has the contents" if file.content is not None else ", too large, or one too many, to be kept"
        note(f"It wrote {file.name} ({file.media_type}, {human_size(file.size_bytes)}){where}.")


def _failure(executed: Executed) -> str:
    ended = executed.ended
    if ended is not None and ended.status == "error":
        return (ended.error or "the code raised an error").removeprefix("Traceback (most recent call last):\n").strip()
    why = executed.result.stop_reason if ended is None else why_ended(ended, SandboxLimits())
    return f"the code was ended: {why}."
