"""Where the command line prints: on standard output what was asked for, on standard error all about getting it.

No escape codes go into a pipe, and nothing is wrapped or cut there either, so that `grep` finds whole lines.
Deliberately not here: what is printed (`event_view`, `run_view`), JSON (`json_lines`), making text safe (`untrusted`).
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import IO

from rich.console import Console
from rich.text import Text

from wieldy.apps.cli.wrapping import WordWrap

PIPE_WIDTH = 1_000
"""Columns of an output that is no terminal: wide enough that no table cuts a value."""

ASCII_GLYPHS = {"→": "->", "←": "<-", "·": "-", "…": "...", "✓": "+", "✗": "x", "↻": "~"}
"""What our own signs become where the encoding lacks them."""


class Terminal(Console):
    """A console whose blocks keep their indent when they wrap, and that lets a broken pipe end the command."""

    def on_broken_pipe(self) -> None:
        """Rich would exit with 1 here, which means that the work failed; `failures` decides instead."""
        raise BrokenPipeError

    @property
    def wraps(self) -> bool:
        """Whether lines are fitted to a width: on terminals, and where COLUMNS asks for it."""
        return self.width != PIPE_WIDTH

    def block(self, text: Text, *, first: str | Text = "", rest: str = "") -> None:
        """Print text with `first` before its first line and `rest` before all others."""
        text.expand_tabs(4)
        lines = text.wrap(self, self._room(rest)) if self.wraps else text.split("\n", allow_blank=True)
        self._print_lines(lines, first=first, rest=rest)

    def block_of_words(self, text: Text, *, first: str | Text = "", rest: str = "") -> None:
        """As `block`, for text of one style whose longest words, such as paths, must stay whole to be copied."""
        wrap = WordWrap(self._room(rest) if self.wraps else None)
        plain = wrap.feed(text.plain) + wrap.close()
        self._print_lines([Text(line, style=text.style) for line in plain.split("\n")], first=first, rest=rest)

    def _room(self, rest: str) -> int:
        return max(20, self.width - len(rest))

    def _print_lines(self, lines: Iterable[Text], *, first: str | Text, rest: str) -> None:
        for number, line in enumerate(lines):
            whole = Text.assemble(first if number == 0 else rest, line)
            whole.rstrip()
            self.print(whole, soft_wrap=True)

    def write(self, text: str) -> None:
        """Write safe text at once; only the terminal itself may wrap it."""
        self.file.write(text)
        self.file.flush()


def out() -> Terminal:
    """Standard output."""
    return _terminal(sys.stdout, stderr=False)


def err() -> Terminal:
    """Standard error."""
    return _terminal(sys.stderr, stderr=True)


def _terminal(file: IO[str], *, stderr: bool) -> Terminal:
    fitted = file.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Terminal(stderr=stderr, width=None if fitted else PIPE_WIDTH, markup=False, highlight=False, emoji=False)


def prepare_streams() -> None:
    """Make the standard streams take any text: what their encoding lacks is replaced, never raised."""
    codecs.register_error("wieldy", _replace)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller, as in `wieldy runs >&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="wieldy")


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] in ASCII_GLYPHS:
        return ASCII_GLYPHS[error.object[error.start]], error.start + 1
    return codecs.backslashreplace_errors(error)


def flush_streams() -> None:
    """Write what is still buffered, if anybody takes it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def discard_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush meets no broken pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
