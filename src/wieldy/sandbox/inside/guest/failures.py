"""Exceptions and warnings of the code: what, and where in the code, without our own frames and the machine's paths."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from .values import shortened

CODE = "<code"
"""How the filenames of code begin."""

_MESSAGE_CHARACTERS, _TRACEBACK_CHARACTERS, _FRAMES = 4000, 16000, 40


def failure_of(error: BaseException) -> dict[str, Any]:
    """What the host is told; never fails, whatever the exception's own code does."""
    places = list(_places(error.__traceback__))
    line = places[-1][1] if places else None
    if isinstance(error, SyntaxError) and str(error.filename).startswith(CODE):
        line = error.lineno
        places.append((str(error.filename), line or 0, "<module>"))
    name, message = type(error).__name__, _message(error)
    shown = "".join(_shown(*place) for place in places[-_FRAMES:])
    traceback = f"Traceback (most recent call last):\n{shown}{name}: {message}" if places else f"{name}: {message}"
    return {
        "type": shortened(name, 200),
        "message": message,
        "line": line if isinstance(line, int) else None,
        "traceback": shortened(traceback, _TRACEBACK_CHARACTERS),
    }


def warning_to_text(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """As `warnings.formatwarning`, with a place in the code or none."""
    if not filename.startswith(CODE):
        return f"{category.__name__}: {message}\n"
    shown = shortened((line or linecache.getline(filename, lineno)).strip(), 200)
    return f"{filename}:{lineno}: {category.__name__}: {message}\n" + (f"  {shown}\n" if shown else "")


def _message(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        return shortened(text, _MESSAGE_CHARACTERS)
    except BaseException:  # the exception's own code
        return "(no message: asking for it failed)"


def _places(traceback: TracebackType | None) -> Iterator[tuple[str, int, str]]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename.startswith(CODE):
            yield code.co_filename, traceback.tb_lineno, code.co_name
        traceback = traceback.tb_next


def _shown(filename: str, line: int, function: str) -> str:
    text = linecache.getline(filename, line).strip()
    place = f'  File "{filename}", line {line}, in {function}\n'
    return f"{place}    {shortened(text, 200)}\n" if text else place
