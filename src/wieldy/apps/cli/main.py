"""`wieldy`: assembles the commands.

What a command needs is imported when it runs, so that `wieldy --help` answers at once.
"""

from __future__ import annotations

import os
import signal
from typing import Annotated

import typer

from wieldy.apps.cli import (
    approve,
    doctor,
    eval_plan,
    evaluate,
    execute,
    export,
    formats,
    gateway,
    lint,
    report,
    resume,
    run,
    runs,
    sandbox,
    search,
    serve,
    show,
    skills,
    tools,
    verify,
    view,
)
from wieldy.apps.cli.failures import INTERRUPTED, Commands, JsonCommand, WithDefault, tell
from wieldy.apps.cli.terminal import flush_streams, prepare_streams

app = typer.Typer(
    name="wieldy",
    cls=Commands,
    help="The tool-use layer for language models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - only here, and slow to import

        typer.echo(f"wieldy {version('wieldy')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    debug: Annotated[bool, typer.Option("--debug", metavar="", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", help="Print the version and end.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """The tool-use layer for language models: run a prompt with tools, and see every step of it."""


for command in (run.run, resume.resume):  # end their JSON themselves, with the run's id
    app.command()(command)
for command in (
    approve.approve,
    approve.deny,
    runs.runs,
    show.show,
    verify.verify,
    lint.lint,
    tools.tools,
    search.search,
    gateway.gateway,
    serve.serve,
    doctor.doctor,
    report.report,
    view.view,
    export.export,
):
    app.command(cls=JsonCommand)(command)
app.command("exec", cls=JsonCommand)(execute.execute)
evals = typer.Typer(cls=WithDefault, help="Run tasks and judge what came of them; or plan how many it takes.")
evals.command("run", cls=JsonCommand)(evaluate.evaluate)
evals.command("plan", cls=JsonCommand)(eval_plan.plan)
app.add_typer(evals, name="eval")
app.add_typer(formats.app, name="formats")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(skills.app, name="skills")


def _interrupt(*_: object) -> None:
    """Asked to end, by whomever: the same as by the person at the keyboard, so that the record says so."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell script
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def main() -> None:
    """Run the command that the arguments name and exit."""
    prepare_streams()
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, _interrupt)
    try:
        app(prog_name="wieldy")
    except SystemExit as end:
        if end.code == INTERRUPTED:
            # A tool that runs in a thread cannot be stopped, and the interpreter would wait for it.
            flush_streams()
            os._exit(INTERRUPTED)
        raise
    except OSError as error:  # the help itself cannot be written
        raise SystemExit(tell(error, debug=False)) from None


if __name__ == "__main__":
    main()
