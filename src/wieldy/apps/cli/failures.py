"""Failures in words and exit codes: 0 good, 1 the work failed, 2 wrong usage, 130 interrupted, 141 nobody reads.

Expected errors are sentences and never tracebacks; `--debug` adds the traceback, and a command that was asked for JSON
ends its output with an object that says what went wrong. Deliberately not here: what a run prints about itself when it
fails, which only it knows (`session`).
"""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from wieldy.apps.cli.json_lines import JsonLines
from wieldy.apps.cli.terminal import discard_output, err
from wieldy.apps.cli.untrusted import neutralise
from wieldy.core.errors import SandboxTierError, SkillCheckError, UsageError, WieldyError
from wieldy.core.json import JsonObject

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
NOBODY_READS = 141


_WELL_USED = (SandboxTierError, SkillCheckError)
"""The command was used as it may be, and what it was asked for did not work: here, or as it stands."""


class Commands(TyperGroup):
    """The group of all commands; whatever a command raises ends here."""

    def invoke(self, ctx: Any) -> Any:  # Typer's own context class is private
        """Run the command, and end it with the right exit code."""
        return end_well(lambda: super(Commands, self).invoke(ctx), debug=bool(ctx.params.get("debug")))


class JsonCommand(TyperCommand):
    """A command that was asked for JSON and fails says so in JSON, before anything else is done about it."""

    def invoke(self, ctx: Any) -> Any:  # as above
        """Run the command; programs that read its output find there why it ended, as a last object."""
        with telling_in_json(if_=bool(ctx.params.get("json"))):
            return super().invoke(ctx)


class WithDefault(TyperGroup):
    """A group whose first command runs where none is named: `wieldy eval bfcl` beside `wieldy eval plan`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # as above
        """Names the first command, unless the arguments begin with another one."""
        named = args if args and args[0] in self.commands else [next(iter(self.commands)), *args]
        return super().parse_args(ctx, named)


@contextmanager
def telling_in_json(*, if_: bool) -> Generator[None]:
    """What fails inside is told as one object of JSON as well, if that was asked for."""
    try:
        yield
    except (typer.Exit, typer.Abort, TyperException, BrokenPipeError):
        raise
    except (Exception, KeyboardInterrupt) as error:
        if if_:
            with JsonLines() as lines:
                lines.write(failure_to_json(error))
        raise


def failure_to_json(error: BaseException) -> JsonObject:
    """What went wrong, as one JSON object."""
    name, message = type(error).__name__, str(error)
    if isinstance(error, KeyboardInterrupt):
        name, message = "Interrupted", "The command was interrupted."
    return {"type": "error", "error": name, "message": message}


def end_well(command: Callable[[], Any], *, debug: bool) -> Any:
    """Run a command and turn what it raises into a sentence on standard error and an exit code."""
    try:
        return _and_flush(command)
    except (typer.Exit, typer.Abort, TyperException):
        raise
    except BrokenPipeError:
        discard_output()
        raise typer.Exit(NOBODY_READS) from None
    except KeyboardInterrupt:
        note("Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:  # the outermost edge: no traceback that nobody asked for
        raise typer.Exit(tell(error, debug=debug)) from None


def _and_flush(command: Callable[[], Any]) -> Any:
    """Nothing stays in a buffer, where the interpreter would meet a broken pipe or a full disk too late to be heard."""
    try:
        return command()
    finally:
        if not sys.stdout.closed:  # a tool may have closed it
            sys.stdout.flush()


def tell(error: Exception, *, debug: bool) -> int:
    """Print what went wrong, with the traceback if `debug`, and return the exit code."""
    if debug:
        err().write(neutralise("".join(traceback.format_exception(error))))
    if isinstance(error, WieldyError):
        say(str(error))
        _tell_notes(error)
        is_wrong_usage = isinstance(error, UsageError) and not isinstance(error, _WELL_USED)
        return WRONG_USAGE if is_wrong_usage else FAILED
    if isinstance(error, OSError):
        advice = ". Make room, and run it again" if error.errno == errno.ENOSPC else ""
        say(f"the system refused: {error}{advice}")
        discard_output()
        return FAILED
    hint = "" if debug else "\nRun `wieldy --debug ...` to see where, and please report it."
    say(f"this is a fault in wieldy: {type(error).__name__}: {error}{hint}")
    _tell_notes(error)
    return FAILED


def _tell_notes(error: Exception) -> None:
    for remark in getattr(error, "__notes__", ()):
        note(remark)


def say(message: str) -> None:
    """Print an error on standard error."""
    err().block_of_words(Text(neutralise(message)), first=Text("Error: ", style="bold red"))


def note(message: str) -> None:
    """Print something worth knowing on standard error."""
    err().block_of_words(Text(neutralise(message), style="yellow"))
